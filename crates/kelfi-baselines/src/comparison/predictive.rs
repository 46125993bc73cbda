//! The posterior predictive error: how far simulations at posterior samples lie from the observation.

use kelfi::method::calls::Simulator;
use kelfi::random::{Purpose, stream};
use kelfi::simulations::scales::{median, statistic_scales};
use kelfi::{Points, Simulations};
use rayon::prelude::*;

/// Simulations at samples of one answer, beyond its budget.
pub const CALLS: usize = 20;

/// Median over simulations at posterior samples of the root mean square over statistics of (x − y) in units of their spread over the prior.
/// `None` where every one of them failed.
pub fn error(samples: &Points, observation: &[f64], simulator: &Simulator<'_>, from_prior: &Simulations, seed: u64) -> Option<f64> {
    let scales = statistic_scales(from_prior);
    let active: Vec<usize> = (0..scales.len()).filter(|&i| scales[i].dropped.is_none()).collect();
    let distance = |x: Vec<f64>| {
        let squares: f64 = active.iter().map(|&i| ((x[i] - observation[i]) / scales[i].scale).powi(2)).sum();
        (squares / active.len().max(1) as f64).sqrt()
    };
    let rows = samples.rows().min(CALLS);
    // Samples are independent, so the first are as good as any.
    let one = |s: usize| simulator(samples.row(s), &mut stream(seed, Purpose::Predicted, s as u64)).map(distance);
    let found: Vec<Option<f64>> = (0..rows).into_par_iter().map(one).collect();
    median(found.into_iter().flatten().filter(|d| d.is_finite()).collect())
}
