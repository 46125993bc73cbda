//! The features of a regression: rows f_i = (a φ_i, 1, b z_i/β), φ those of [`Pivots`], and what becomes of their weights at any z.

use super::regression::{MeanWeights, RegressionHyperparameters};
use crate::Points;
use crate::linalg::products::{combine_rows, transpose};
use crate::solver::{Features, Pivots};

/// The curved part by pivots, the constant and the slopes.
pub struct RegressionFeatures {
    hyperparameters: RegressionHyperparameters,
    pivots: Pivots,
    /// Of the pivots, row after row.
    to_features: Vec<f64>,
    /// The process they make.
    pub process: Features,
}

impl RegressionFeatures {
    /// `None` where the features cannot be factored. `noise` are the variances N_i.
    pub fn new(pivots: Pivots, z: &Points, noise: Vec<f64>, hyperparameters: &RegressionHyperparameters) -> Option<Self> {
        let (r, dimension) = (pivots.rank(), z.columns());
        let size = r + 1 + dimension;
        let slopes = hyperparameters.slopes();
        let mut rows = Vec::with_capacity(z.rows() * size);
        for (i, z) in z.iter().enumerate() {
            rows.extend(pivots.factor[i * r..(i + 1) * r].iter().map(|phi| hyperparameters.curved * phi));
            rows.push(1.0);
            rows.extend(z.iter().zip(&slopes).map(|(z, slope)| slope * z));
        }
        let process = Features::new(rows, size, noise)?;
        Some(Self { hyperparameters: hyperparameters.clone(), to_features: pivots.to_features(), pivots, process })
    }

    /// Weights of features as weights of kernel values with the pivots, of 1 and of z.
    pub fn mean_weights(&self, weights: &[f64]) -> MeanWeights {
        let r = self.pivots.rank();
        let curved: Vec<f64> = weights[..r].iter().map(|w| self.hyperparameters.curved * w).collect();
        let mut linear = vec![weights[r]];
        linear.extend(weights[r + 1..].iter().zip(self.hyperparameters.slopes()).map(|(w, slope)| w * slope));
        MeanWeights { curved: combine_rows(&curved, &self.to_features, r.max(1)), linear }
    }

    /// W of Var[mean(z)] = a² ℓ(z,z) + gᵀ W g, g = (kernel values with the pivots, 1, z):
    /// a² (ℓ(z,z) - |φ|²) + fᵀ S f, so what the pivots miss counts as unknown.
    pub fn variance_form(&self) -> Vec<f64> {
        let (r, size) = (self.pivots.rank(), self.process.size());
        let mut covariance = self.process.covariance();
        (0..r).for_each(|k| covariance[k * size + k] -= 1.0);
        // f = B g, B = diag(a L⁻¹, 1, b/β).
        let to_features = &self.to_features;
        let mut b_matrix = vec![0.0; size * size];
        for i in 0..r {
            for j in 0..=i {
                b_matrix[i * size + j] = self.hyperparameters.curved * to_features[i * r + j];
            }
        }
        b_matrix[r * size + r] = 1.0;
        for (d, slope) in self.hyperparameters.slopes().into_iter().enumerate() {
            b_matrix[(r + 1 + d) * size + r + 1 + d] = slope;
        }
        combine_rows(&transpose(&b_matrix, size), &combine_rows(&covariance, &b_matrix, size), size)
    }
}
