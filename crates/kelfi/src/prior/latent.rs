//! The prior as seen from z coordinates: a mixture of axis-aligned Gaussians, or draws.

use crate::Points;
use serde::{Deserialize, Serialize};

/// The prior in z coordinates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum LatentPrior {
    /// Σ_k weight_k N(z | mean_k, diag std_k²): closed forms exist. Weights are positive and sum to one.
    /// A prior with a Gaussian transform is the single component N(0, I).
    Gaussians(Vec<GaussianComponent>),
    /// Equally weighted draws: sample forms.
    Draws(Points),
}

/// One axis-aligned Gaussian of a mixture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GaussianComponent {
    /// Its share of the prior.
    pub weight: f64,
    /// Mean in each dimension.
    pub mean: Vec<f64>,
    /// Standard deviation in each dimension.
    pub std: Vec<f64>,
}

impl LatentPrior {
    /// N(0, I) in `dimension` coordinates.
    pub fn standard_normal(dimension: usize) -> Self {
        Self::Gaussians(vec![GaussianComponent { weight: 1.0, mean: vec![0.0; dimension], std: vec![1.0; dimension] }])
    }
}
