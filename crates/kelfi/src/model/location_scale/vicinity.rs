//! The simulations that say how statistics move where the posterior is.
//!
//! One kernel with one set of length scales serves all of the prior, but a mean that is wild in one corner may be smooth in another.
//! Half of the simulations that length scales are learned from are therefore those whose parameters explain the observation best.

use super::constants::vicinity::{NEAR, OTHERS};
use super::repeats_of;
use super::statistic::Statistic;
use crate::Points;

/// Rows of `z`, those at which the predicted statistics come closest to the observation first: by ln Π_k N(y_k | ĝ_k(θ), σ_k(θ)²), so that
/// the outputs of a simulation do not decide whether it is chosen.
pub fn around(statistics: &[Statistic], z: &Points, observation: &[f64]) -> Vec<usize> {
    let mut ln_likelihoods = vec![0.0; z.rows()];
    for statistic in statistics {
        let h = statistic.hyperparameters();
        let observed: Vec<f64> =
            repeats_of(observation, h.index, statistic.repeats()).map(|value| h.transform.scale.apply(value)).collect();
        let (residuals, ln_deviations) = statistic.residual_at(z, &observed);
        for (ln, (r, d)) in ln_likelihoods.iter_mut().zip(residuals.chunks(observed.len()).zip(&ln_deviations)) {
            *ln -= r.iter().map(|r| 0.5 * r * r).sum::<f64>() + d;
        }
    }
    let mut order: Vec<usize> = (0..z.rows()).collect();
    order.sort_by(|&i, &j| ln_likelihoods[j].total_cmp(&ln_likelihoods[i]).then(i.cmp(&j)));
    let near = NEAR.min(z.rows());
    // The others as they were simulated: any of them.
    order[near..].sort_unstable();
    order.truncate(near + OTHERS);
    order
}
