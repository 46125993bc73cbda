//! What every surrogate likelihood offers: posterior and samples are written against this and nothing else.

use crate::kernel::Kernel;
use crate::posterior::checks::Check;
use crate::posterior::mixture::SignedMixture;
use crate::{Error, Points, Prior};
use std::fmt::Debug;

/// A surrogate q(y|θ) of the likelihood at one observation. It is not a density and may be negative.
///
/// Values are relative: divided by exp([`Surrogate::ln_scale`]), so that a far observation does not underflow.
pub trait Surrogate: Debug + Send + Sync {
    /// The prior it is combined with.
    fn prior(&self) -> &Prior;

    /// ln of what relative values are to be multiplied with.
    fn ln_scale(&self) -> f64;

    /// q(y|θ) / exp(ln_scale) at points in z coordinates.
    fn relative_values(&self, z: &Points) -> Vec<f64>;

    /// The gradient of the relative value in z.
    fn relative_gradient(&self, z: &[f64]) -> Vec<f64>;

    /// q(y) / exp(ln_scale); may be zero or negative.
    fn relative_evidence(&self) -> f64;

    /// Points in z coordinates near which the posterior may be large, best first: where to start looking for the mode.
    fn promising(&self, count: usize) -> Points;

    /// The posterior in z coordinates as a signed Gaussian mixture, where that is exact.
    fn signed_mixture(&self) -> Option<SignedMixture> {
        None
    }

    /// The embedding ∫ ℓ'(θ, θ*) q(θ|y) dθ at queries in z coordinates, where it has a direct form; ℓ' = the model's kernel if `None`.
    fn embedding(&self, _kernel: Option<&Kernel>, _queries: &Points) -> Option<Vec<f64>> {
        None
    }

    /// The kernel samples are herded with unless another is given.
    fn herding_kernel(&self) -> Kernel;

    /// Posterior mean of an output f recorded with every simulation.
    fn predictive(&self, recorded: &[f64]) -> Result<f64, Error>;

    /// What this surrogate knows about its own health.
    fn checks(&self) -> Vec<Check>;
}
