//! The squared maximum mean discrepancy between two iid data sets: a distance that needs no summary statistics.

use crate::kernel::Kernel;
use crate::{Error, Points};

/// The Gaussian kernel that compares points of data sets.
#[derive(Debug, Clone)]
pub struct DataKernel(Kernel);

impl DataKernel {
    /// With a length scale for each column.
    pub fn new(length_scales: &[f64]) -> Result<Self, Error> {
        length_scales.iter().try_for_each(|&alpha| Error::require_positive("the length scale of the data kernel", alpha).map(drop))?;
        Ok(Self(Kernel::gaussian(length_scales.to_vec())?))
    }

    /// Mean of k(a, b) over all pairs. Costs O(|A| |B| D).
    pub fn mean(&self, a: &Points, b: &Points) -> f64 {
        self.0.means(&self.0.scale(a), b).iter().sum::<f64>() / b.rows() as f64
    }
}

/// ‖μ̂_A - μ̂_B‖² = mean k(a,a') + mean k(b,b') - 2 mean k(a,b) with a Gaussian k of length scale `alpha` (the biased, non-negative form).
/// Costs O((|A| + |B|)² D).
pub fn mmd_squared(a: &Points, b: &Points, alpha: f64) -> Result<f64, Error> {
    if a.is_empty() || b.is_empty() {
        return Err(Error::Empty { what: "a data set".into(), advice: "each needs at least one point".into() });
    }
    if a.columns() != b.columns() {
        return Err(Error::Shape {
            left: "a simulated data set".into(),
            left_rows: a.rows(),
            left_columns: a.columns(),
            right: "the observed one".into(),
            right_rows: b.rows(),
            right_columns: b.columns(),
            advice: "both need the same number of coordinates per point".into(),
        });
    }
    let kernel = DataKernel::new(&vec![alpha; a.columns()])?;
    Ok((kernel.mean(a, a) + kernel.mean(b, b) - 2.0 * kernel.mean(a, b)).max(0.0))
}

/// The median distance between different points of a data set (at most its first 500): a usual length scale for [`mmd_squared`].
/// `None` when all points coincide.
pub fn median_distance(points: &Points) -> Option<f64> {
    const LARGEST: usize = 500;
    let m = points.rows().min(LARGEST);
    let mut distances = Vec::with_capacity(m * m / 2);
    for i in 0..m {
        for j in 0..i {
            let squared: f64 = points.row(i).iter().zip(points.row(j)).map(|(a, b)| (a - b).powi(2)).sum();
            distances.push(squared.sqrt());
        }
    }
    distances.retain(|&distance| distance > 0.0);
    distances.sort_by(f64::total_cmp);
    distances.get(distances.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discrepancy_of_two_points_by_hand() {
        let a = Points::from_column(vec![0.0]);
        let b = Points::from_column(vec![1.5]);
        let expected = 2.0 - 2.0 * (-0.5 * 1.5_f64.powi(2) / 4.0).exp();
        assert!((mmd_squared(&a, &b, 2.0).unwrap() - expected).abs() < 1e-15);
        assert_eq!(mmd_squared(&a, &a, 2.0).unwrap(), 0.0);
    }

    #[test]
    fn order_of_points_does_not_matter() {
        let a = Points::from_column(vec![0.0, 1.0, 2.5]);
        let b = Points::from_column(vec![2.5, 0.0, 1.0]);
        assert!(mmd_squared(&a, &b, 0.7).unwrap() < 1e-15);
    }

    #[test]
    fn median_distance_skips_repeated_points() {
        assert_eq!(median_distance(&Points::from_column(vec![1.0, 1.0, 4.0])), Some(3.0));
        assert_eq!(median_distance(&Points::from_column(vec![2.0; 5])), None);
    }
}
