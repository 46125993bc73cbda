//! What a regression has its mean from: weights of kernel values and of a plane, in standardised targets.

use super::regression::RegressionHyperparameters;
use crate::Points;

/// What the targets were divided by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standard {
    /// Mean of the targets.
    pub centre: f64,
    /// Standard deviation of the targets, 1 if they are constant.
    pub scale: f64,
}

impl Standard {
    /// Of these targets.
    pub fn of(targets: &[f64]) -> Self {
        let count = targets.len() as f64;
        let centre = targets.iter().sum::<f64>() / count;
        let variance = targets.iter().map(|t| (t - centre).powi(2)).sum::<f64>() / count;
        Self { centre, scale: if variance > 0.0 && variance.is_finite() { variance.sqrt() } else { 1.0 } }
    }

    /// The standardised targets.
    pub fn apply(&self, targets: &[f64]) -> Vec<f64> {
        targets.iter().map(|t| (t - self.centre) / self.scale).collect()
    }
}

/// What the mean at z is made with.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanWeights {
    /// Of kernel values with the regression's points; a² α where these are all simulations.
    pub curved: Vec<f64>,
    /// Of 1 and z; Σ_j α_j (1, b² z_j/β²).
    pub linear: Vec<f64>,
}

impl MeanWeights {
    /// From α of all simulations; `order` says which of them kernel values are taken with.
    pub fn new(alpha: &[f64], z: &Points, order: &[usize], hyperparameters: &RegressionHyperparameters) -> Self {
        let slopes = hyperparameters.slopes();
        let mut linear = vec![alpha.iter().sum::<f64>()];
        linear.extend((0..z.columns()).map(|d| slopes[d].powi(2) * alpha.iter().zip(z.iter()).map(|(a, z)| a * z[d]).sum::<f64>()));
        Self { curved: order.iter().map(|&j| hyperparameters.curved.powi(2) * alpha[j]).collect(), linear }
    }

    /// These less `factor` times others.
    pub fn less(&self, factor: f64, others: &Self) -> Self {
        let less = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - factor * b).collect();
        Self { curved: less(&self.curved, &others.curved), linear: less(&self.linear, &others.linear) }
    }
}
