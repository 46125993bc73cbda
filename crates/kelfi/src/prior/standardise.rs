//! z = (θ − mean)/std per dimension: the coordinates of priors that have no Gaussian transform.

use crate::{Error, Points};

/// A shift and a stretch per dimension.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standardise {
    pub mean: Vec<f64>,
    pub std: Vec<f64>,
}

impl Standardise {
    /// The mean and standard deviation of each column.
    pub fn of_draws(names: &[String], draws: &Points) -> Result<Self, Error> {
        let count = draws.rows() as f64;
        let mut result = Self { mean: Vec::new(), std: Vec::new() };
        for (d, name) in names.iter().enumerate() {
            let column = draws.column(d);
            let mean = column.iter().map(|value| value / count).sum::<f64>();
            // Scaled by the largest deviation: squares of very large or small values neither overflow nor vanish.
            let largest = column.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
            if largest == 0.0 || !largest.is_finite() {
                return Err(Error::invalid(
                    format!("spread of the draws of {name}"),
                    largest,
                    "the draws of a prior must differ, by a finite amount",
                ));
            }
            let variance = column.iter().map(|value| ((value - mean) / largest).powi(2)).sum::<f64>() / count;
            result.mean.push(mean);
            result.std.push(largest * variance.sqrt());
        }
        Ok(result)
    }

    /// z of θ.
    pub fn to_latent(&self, theta: &[f64]) -> Vec<f64> {
        (0..theta.len()).map(|d| (theta[d] - self.mean[d]) / self.std[d]).collect()
    }

    /// θ of z.
    pub fn from_latent(&self, z: &[f64]) -> Vec<f64> {
        (0..z.len()).map(|d| self.mean[d] + self.std[d] * z[d]).collect()
    }
}
