//! Priors in the user's units, and the coordinates z in which all kernel algebra happens (method: §1).

/// The prior in z coordinates: what the closed forms need.
pub mod latent;

pub use latent::{GaussianComponent, LatentPrior};

use crate::Error;

/// What is believed about the parameters before any data.
#[derive(Debug, Clone)]
pub enum Prior {}

impl Prior {
    /// Names of the parameters, in order.
    pub fn names(&self) -> &[String] {
        match *self {}
    }
    /// Number of parameters D.
    pub fn dimension(&self) -> usize {
        self.names().len()
    }
    /// ln p(θ); −∞ outside the support.
    pub fn ln_density(&self, _theta: &[f64]) -> Result<f64, Error> {
        match *self {}
    }
}
