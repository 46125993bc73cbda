//! Draws of the prior and of where chains jump, with what each weighs for the prior: importance sampling of prior × likelihood.

use crate::chains::slice_chains::Chains;
use crate::random::{Purpose, stream};
use crate::{Error, Points, Surrogate};
use rayon::prelude::*;

/// Share that comes from the prior: weights are at most 5 q, wherever chains have been.
const FROM_PRIOR: f64 = 0.2;

/// z, and ln [q p / proposal] at each up to the constant of [`Surrogate::ln_relative_values`], proposal = 0.2 prior + 0.8 jumps.
pub(super) struct Proposals {
    pub z: Points,
    /// ln p / proposal.
    pub ln_importances: Vec<f64>,
    /// ln q p / proposal; the largest is finite.
    pub ln_weights: Vec<f64>,
    /// The largest of these.
    pub largest: f64,
}

impl Proposals {
    /// `count` of them; the i-th depends on (seed, i) only. An error where none has a positive likelihood.
    pub fn new(surrogate: &dyn Surrogate, chains: &Chains, count: usize, seed: u64) -> Result<Self, Error> {
        let latent = surrogate.prior().latent();
        let mut rows = Vec::with_capacity(count);
        for i in 0..count {
            let mut rng = stream(seed, Purpose::Integration, i as u64);
            let from_prior = (i as f64) < FROM_PRIOR * count as f64;
            rows.push(if from_prior { latent.draw_with(&mut rng) } else { chains.jumps().draw(&mut rng) });
        }
        let z = Points::from_rows(&rows)?;
        let ln_importance = |z: &[f64]| {
            let ln_prior = latent.ln_density(z).unwrap_or(f64::NEG_INFINITY);
            let proposal = FROM_PRIOR * ln_prior.exp() + (1.0 - FROM_PRIOR) * chains.jumps().ln_density(z).exp();
            if proposal > 0.0 { ln_prior - proposal.ln() } else { f64::NEG_INFINITY }
        };
        let ln_importances: Vec<f64> = (0..z.rows()).into_par_iter().map(|i| ln_importance(z.row(i))).collect();
        let ln_weights: Vec<f64> = surrogate.ln_relative_values(&z).iter().zip(&ln_importances).map(|(ln_q, ln_w)| ln_q + ln_w).collect();
        let largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !largest.is_finite() {
            return Err(Error::EvidenceNotPositive { value: largest.exp(), simulations: surrogate.promising(usize::MAX).rows() });
        }
        Ok(Self { z, ln_importances, ln_weights, largest })
    }

    /// Weights relative to the largest.
    pub fn weights(&self) -> Vec<f64> {
        self.ln_weights.iter().map(|ln| (ln - self.largest).exp()).collect()
    }
}
