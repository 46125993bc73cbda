//! What chains draw from: a likelihood times a prior in z coordinates.

use crate::Points;
use crate::prior::LatentPrior;

/// A density up to a factor, the likelihood times the prior.
pub trait Target: Sync {
    /// The prior in z coordinates.
    fn latent(&self) -> LatentPrior;

    /// ln of the likelihood, up to a constant, at points in z coordinates; -∞ where it vanishes.
    fn ln_likelihoods(&self, z: &Points) -> Vec<f64>;

    /// Points in z coordinates near which the density may be large, best first.
    fn most_promising(&self, count: usize) -> Points;

    /// [`Target::ln_likelihoods`] with their gradients, one a row; `None` where there is no closed form.
    fn ln_gradients(&self, _z: &Points) -> Option<(Vec<f64>, Points)> {
        None
    }
}

/// ln of the likelihood times the prior's density in z.
pub fn ln_target<T: Target + ?Sized>(target: &T, latent: &LatentPrior, z: &Points) -> Vec<f64> {
    let likelihood = target.ln_likelihoods(z);
    likelihood.into_iter().zip(z.iter()).map(|(q, z)| q + latent.ln_density(z).unwrap_or(f64::NEG_INFINITY)).collect()
}

/// ln of the likelihood times the prior's density in z, with gradients; `None` where there is no closed form.
pub fn ln_target_gradients<T: Target + ?Sized>(target: &T, latent: &LatentPrior, z: &Points) -> Option<(Vec<f64>, Points)> {
    let (mut values, mut gradients) = target.ln_gradients(z)?;
    for (q, z) in z.iter().enumerate() {
        values[q] += latent.ln_density(z)?;
        gradients.row_mut(q).iter_mut().zip(latent.ln_gradient(z)?).for_each(|(g, p)| *g += p);
    }
    Some((values, gradients))
}
