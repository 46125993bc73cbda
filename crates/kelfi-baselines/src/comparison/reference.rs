//! Samples of the exact posterior given any observation, where the problem knows it.

use kelfi::Points;
use kelfi_problems::{BenchmarkProblem, GridDensity, Reference};

/// Cells an axis of the grid on which a density is sampled.
const CELLS: usize = 300;

/// Whether the exact posterior can be sampled for any observation.
pub fn is_known(problem: &dyn BenchmarkProblem) -> bool {
    match problem.reference() {
        Reference::Sampler => true,
        Reference::Density => problem.prior().dimension() <= 2,
        _ => false,
    }
}

/// `count` samples of p(θ | y); `None` where they cannot be had. A density alone is sampled on a grid, for at most two parameters.
pub fn samples(problem: &dyn BenchmarkProblem, y: &[f64], count: usize, seed: u64) -> Option<Points> {
    match problem.reference() {
        Reference::Sampler => problem.reference_samples(y, count, seed).ok(),
        _ if is_known(problem) => GridDensity::posterior(problem, y, CELLS).ok().map(|grid| grid.sample(count, seed)),
        _ => None,
    }
}
