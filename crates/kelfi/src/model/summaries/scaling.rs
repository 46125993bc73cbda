//! Statistics as a regression of the parameters on them wants them, of unit variance and without long tails:
//! asinh((x_i - median_i) / scale_i), less its mean and over its standard deviation.

use crate::Points;
use crate::simulations::scales::{median, robust_scale};

/// What turns statistics into such coordinates.
#[derive(Debug, Clone)]
pub struct Scaling {
    /// Of every statistic that varies: which one, its median and scale, and the mean and standard deviation of the asinh.
    kept: Vec<(usize, [f64; 4])>,
}

impl Scaling {
    /// From outputs, one a row; statistics that do not vary are left out.
    pub fn of(x: &Points) -> Self {
        let of_statistic = |i: usize| {
            let column = x.column(i);
            let (centre, scale) = (median(column.clone())?, robust_scale(&column)?);
            let bent: Vec<f64> = column.iter().map(|x| ((x - centre) / scale).asinh()).collect();
            let mean = bent.iter().sum::<f64>() / bent.len() as f64;
            let deviation = (bent.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / bent.len() as f64).sqrt();
            (deviation > 0.0 && deviation.is_finite()).then_some((i, [centre, scale, mean, deviation]))
        };
        Self { kept: (0..x.columns()).filter_map(of_statistic).collect() }
    }

    /// Outputs, one a row, in these coordinates.
    pub fn apply(&self, x: &Points) -> Points {
        let one = |x: &[f64]| {
            let of = |(i, [centre, scale, mean, deviation]): &(usize, [f64; 4])| (((x[*i] - centre) / scale).asinh() - mean) / deviation;
            self.kept.iter().map(of).collect()
        };
        x.map_rows(self.kept.len(), one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};

    #[test]
    fn coordinates_have_unit_variance_and_do_not_depend_on_units() {
        let mut rng = stream(1, Purpose::Experiment, 0);
        let mut one = || {
            let (a, b) = (standard_normal(&mut rng), standard_normal(&mut rng));
            vec![a, a + 0.1 * b, 7.0, a.exp()]
        };
        let x = Points::from_rows(&(0..500).map(|_| one()).collect::<Vec<_>>()).unwrap();
        let other = x.map_rows(4, |x| vec![1e4 * x[0] - 3.0, x[1] / 50.0, x[2], 1e-3 * x[3]]);
        let (found, again) = (Scaling::of(&x).apply(&x), Scaling::of(&other).apply(&other));
        assert_eq!(found.columns(), 3, "the constant is left out");
        for k in 0..3 {
            let square = found.column(k).iter().map(|w| w * w).sum::<f64>() / 500.0;
            assert!((square - 1.0).abs() < 1e-9, "{k}: {square}");
            assert!(found.column(k).iter().zip(again.column(k)).all(|(a, b)| (a - b).abs() < 1e-6), "{k}");
        }
    }
}
