//! What the paper calls (ε, β, λ).

use crate::Error;
use crate::kernel::{Family, Kernel};
use crate::solver::SolverChoice;
use serde::{Deserialize, Serialize};

/// What the paper calls (ε, β, λ), and the kernel's shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hyperparameters {
    /// Tolerances in the units of the statistics: one for all, or one each.
    pub epsilon: Vec<f64>,
    /// Length scales in prior standard deviations: one for all, or one per parameter.
    pub length_scale: Vec<f64>,
    /// λ; the ridge is mλ.
    pub regularization: f64,
    /// Shape of the kernel on parameters.
    #[serde(default)]
    pub family: Family,
    /// How L + mλI is solved.
    #[serde(default, skip_serializing_if = "SolverChoice::is_auto")]
    pub solver: SolverChoice,
}

impl Hyperparameters {
    /// One tolerance, one length scale, Gaussian kernel.
    pub fn isotropic(epsilon: f64, length_scale: f64, regularization: f64) -> Self {
        Self {
            epsilon: vec![epsilon],
            length_scale: vec![length_scale],
            regularization,
            family: Family::Gaussian,
            solver: SolverChoice::Auto,
        }
    }

    /// The kernel on `dimension` parameters.
    pub fn kernel(&self, dimension: usize) -> Result<Kernel, Error> {
        let scales = if self.length_scale.len() == 1 { vec![self.length_scale[0]; dimension] } else { self.length_scale.clone() };
        Kernel::new(self.family, scales)
    }
}
