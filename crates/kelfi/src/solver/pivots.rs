//! A few points that stand for all: pivoted Cholesky of a kernel matrix, G ≈ L Lᵀ.

use super::KernelMatrix;
use crate::linalg::vector::dot;

/// The points chosen and the factor that goes with them.
#[derive(Debug, Clone)]
pub struct Pivots {
    /// Indices of the chosen points, in the order they were chosen.
    pub chosen: Vec<usize>,
    /// L, one row of `chosen.len()` values per point.
    pub factor: Vec<f64>,
    /// Whether they stand for all points within the tolerance.
    pub complete: bool,
}

impl Pivots {
    /// Chooses the point that is explained worst, again and again, until no diagonal entry of G - L Lᵀ exceeds `tolerance`
    /// or `most` points are chosen. Costs O(m most²). Ties go to the lower index.
    pub fn new(matrix: &impl KernelMatrix, tolerance: f64, most: usize) -> Self {
        let mut left = matrix.diagonal();
        let m = left.len();
        let most = most.min(m);
        let mut rows = vec![0.0; m * most];
        let mut chosen = Vec::with_capacity(most);
        let mut column = vec![0.0; m];
        let mut complete = most == m;
        while chosen.len() < most {
            let (worst, value) =
                left.iter().enumerate().fold((0, f64::NEG_INFINITY), |best, (i, &v)| if v > best.1 { (i, v) } else { best });
            if value <= tolerance {
                complete = true;
                break;
            }
            let k = chosen.len();
            matrix.row(worst, &mut column);
            let own = rows[worst * most..worst * most + k].to_vec();
            let root = value.sqrt();
            for i in 0..m {
                let row = &mut rows[i * most..i * most + k + 1];
                row[k] = (column[i] - dot(&row[..k], &own)) / root;
                left[i] -= row[k] * row[k];
            }
            left[worst] = f64::NEG_INFINITY;
            chosen.push(worst);
        }
        let rank = chosen.len();
        let factor = rows.chunks(most.max(1)).flat_map(|row| row[..rank].to_vec()).collect();
        Self { chosen, factor, complete }
    }

    /// The first of them that explain the diagonal of G to this tolerance: all where that is never reached.
    pub fn within(&self, diagonal: &[f64], tolerance: f64) -> Self {
        let (r, mut left) = (self.rank(), diagonal.to_vec());
        let explain = |k: &usize| {
            let reached = left.iter().all(|&v| v <= tolerance);
            left.iter_mut().zip(self.factor.chunks(r)).for_each(|(left, row)| *left -= row[*k] * row[*k]);
            reached
        };
        let enough = (0..r).find(explain).unwrap_or(r);
        let factor = self.factor.chunks(r.max(1)).flat_map(|row| row[..enough].iter().copied()).collect();
        Self { chosen: self.chosen[..enough].to_vec(), factor, complete: self.complete || enough < r }
    }

    /// No points: a kernel that plays no part.
    pub fn none() -> Self {
        Self { chosen: vec![], factor: vec![], complete: true }
    }

    /// Number of points chosen.
    pub fn rank(&self) -> usize {
        self.chosen.len()
    }

    /// The inverse of the lower triangular factor of the chosen points, row after row:
    /// features of a new point are this times its kernel values with the chosen points.
    pub fn to_features(&self) -> Vec<f64> {
        let r = self.rank();
        let mut inverse = vec![0.0; r * r];
        for i in 0..r {
            let row = &self.factor[self.chosen[i] * r..self.chosen[i] * r + i + 1];
            for j in 0..=i {
                let sum: f64 = (j..i).map(|k| row[k] * inverse[k * r + j]).sum();
                inverse[i * r + j] = (f64::from(u8::from(i == j)) - sum) / row[i];
            }
        }
        inverse
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Points;
    use crate::model::location_scale::curve::{Bend, Curve};

    #[test]
    fn the_factor_reproduces_the_kernel_matrix_and_features_reproduce_its_rows() {
        let rows: Vec<Vec<f64>> = (0..60).map(|i| vec![(i as f64 * 0.7).sin() * 2.0, (i as f64 * 0.3).cos()]).collect();
        let points = Points::from_rows(&rows).unwrap();
        for form in [Bend::Bumps, Bend::Sigmoids] {
            let curve = Curve::new(form, &[3.0, 4.0]);
            let points = curve.points(&points);
            let gram = curve.matrices(&points).gram;
            let pivots = Pivots::new(&curve.between(&points), 1e-10, 60);
            let r = pivots.rank();
            assert!(r > 5 && r < 60, "{r}");
            let to_features = pivots.to_features();
            for i in 0..60 {
                let row = &pivots.factor[i * r..(i + 1) * r];
                for j in 0..60 {
                    let found = dot(row, &pivots.factor[j * r..(j + 1) * r]);
                    assert!((found - gram[i * 60 + j]).abs() < 1e-8);
                }
                let values: Vec<f64> = pivots.chosen.iter().map(|&p| gram[i * 60 + p]).collect();
                for (k, expected) in row.iter().enumerate() {
                    assert!((dot(&to_features[k * r..(k + 1) * r], &values) - expected).abs() < 1e-4);
                }
            }
        }
    }

    #[test]
    fn the_first_within_a_tolerance_are_those_found_with_it() {
        let rows: Vec<Vec<f64>> = (0..80).map(|i| vec![(i as f64 * 0.7).sin() * 2.0, (i as f64 * 0.3).cos()]).collect();
        let curve = Curve::new(Bend::Bumps, &[1.0, 2.0]);
        let points = curve.points(&Points::from_rows(&rows).unwrap());
        let find = |tolerance: f64, most: usize| Pivots::new(&curve.between(&points), tolerance, most);
        let (all, diagonal) = (find(1e-9, 80), vec![1.0; 80]);
        for tolerance in [1e-1, 1e-3, 1e-6, 2.0] {
            let (first, found) = (all.within(&diagonal, tolerance), find(tolerance, 80));
            assert_eq!((first.chosen, first.factor, first.complete), (found.chosen, found.factor, true));
        }
        assert_eq!(all.within(&diagonal, 0.0).rank(), all.rank());
    }

    #[test]
    fn one_far_point_needs_its_own_pivot() {
        let curve = Curve::new(Bend::Bumps, &[1.0]);
        let points = curve.points(&Points::from_column(vec![0.0, 1e-9, 50.0]));
        let pivots = Pivots::new(&curve.between(&points), 1e-6, 3);
        assert_eq!(pivots.chosen, vec![0, 2]);
    }
}
