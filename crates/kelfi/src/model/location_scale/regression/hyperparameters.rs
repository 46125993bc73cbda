//! What is learned of a regression, and the covariance that follows from it.

use crate::Points;
use crate::linalg::products::rows_dot_rows;
use crate::model::location_scale::constants::regression::{JITTER, STRAIGHT};
use crate::model::location_scale::curve::{Bend, Curve};
use serde::{Deserialize, Serialize};

/// The kernel, a, b, s and β.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegressionHyperparameters {
    /// How the mean bends.
    pub form: Bend,
    /// a: standard deviation of the curved part, of standardised targets.
    pub curved: f64,
    /// b: standard deviation of the slope per length scale.
    pub linear: f64,
    /// s: standard deviation of the noise.
    pub noise: f64,
    /// β: length scales of the curved part in prior standard deviations.
    pub length_scales: Vec<f64>,
}

impl RegressionHyperparameters {
    /// The kernel with its length scales.
    pub fn curve(&self) -> Curve {
        Curve::new(self.form, &self.length_scales)
    }

    /// b/β: standard deviation of the slope along each parameter.
    pub fn slopes(&self) -> Vec<f64> {
        self.length_scales.iter().map(|beta| self.linear / beta).collect()
    }

    /// How the mean moves with θ, as a word: a curved part below a hundredth of the targets' standard deviation is no bend.
    pub fn bend(&self) -> &'static str {
        match self.form {
            _ if self.curved < STRAIGHT => "straight",
            Bend::Bumps => "bumps",
            Bend::Sigmoids => "sigmoids",
        }
    }

    /// Noise variance of a target with relative variance w.
    pub fn noise_variance(&self, w: f64) -> f64 {
        let slopes: f64 = self.length_scales.iter().map(|b| b.powi(-2)).sum();
        let signal = self.curved.powi(2) + 1.0 + self.linear.powi(2) * slopes;
        self.noise.powi(2) * w + JITTER * signal
    }
}

/// The covariance matrix A, column after column.
pub fn covariance(hyperparameters: &RegressionHyperparameters, gram: &[f64], z: &Points, relative_noise: &[f64]) -> Vec<f64> {
    let m = z.rows();
    let a2 = hyperparameters.curved.powi(2);
    let slopes = hyperparameters.slopes();
    let tilted = z.map_rows(z.columns(), |z| z.iter().zip(&slopes).map(|(z, s)| z * s).collect());
    let mut values = rows_dot_rows(tilted.values(), tilted.values(), z.columns());
    values.iter_mut().zip(gram).for_each(|(value, g)| *value += a2 * g + 1.0);
    for (j, w) in relative_noise.iter().enumerate() {
        values[j * m + j] += hyperparameters.noise_variance(*w);
    }
    values
}
