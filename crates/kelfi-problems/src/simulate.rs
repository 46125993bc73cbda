//! Many calls of a simulator: in parallel, and the same bits for any number of threads.

use crate::problem::{BenchmarkProblem, SimulationFailure};
use kelfi::random::{Purpose, stream};
use kelfi::{Error, Points};
use rayon::prelude::*;

/// Pairs (θ, x) with the failures marked.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// Parameters, one call a row.
    pub theta: Points,
    /// Statistics, row for row; a failed call is a row of NaN.
    pub x: Points,
    /// Row and reason of every failed call, in order.
    pub failures: Vec<(usize, SimulationFailure)>,
}

impl Simulated {
    /// The pairs whose call succeeded.
    pub fn successes(&self) -> (Points, Points) {
        let kept: Vec<usize> = (0..self.x.rows()).filter(|&row| self.x.row(row).iter().all(|value| value.is_finite())).collect();
        (self.theta.select(&kept), self.x.select(&kept))
    }
}

/// `count` draws from the prior and a call of the simulator at each. Call j depends on (seed, j) only.
pub fn simulate_many(problem: &dyn BenchmarkProblem, count: usize, seed: u64) -> Simulated {
    let theta = problem.prior().draw(count, seed);
    simulate_at(problem, theta, seed)
}

/// One call of the simulator at each row of `theta`. Call j depends on (θ_j, seed, j) only.
pub fn simulate_at(problem: &dyn BenchmarkProblem, theta: Points, seed: u64) -> Simulated {
    simulate_from(problem, theta, seed, 0)
}

/// The same for calls that follow `first` others: row k is call `first + k`.
pub fn simulate_from(problem: &dyn BenchmarkProblem, theta: Points, seed: u64, first: u64) -> Simulated {
    let calls: Vec<_> = (0..theta.rows())
        .into_par_iter()
        .map(|row| problem.simulate(theta.row(row), &mut stream(seed, Purpose::Simulator, first + row as u64)))
        .collect();
    let columns = problem.statistic_names().len();
    let mut x = Points::zeros(theta.rows(), columns);
    let mut failures = Vec::new();
    for (row, call) in calls.into_iter().enumerate() {
        match call {
            Ok(statistics) => x.row_mut(row).copy_from_slice(&statistics),
            Err(failure) => {
                x.row_mut(row).fill(f64::NAN);
                failures.push((row, failure));
            }
        }
    }
    Simulated { theta, x, failures }
}

/// `count` calls of the simulator at one θ.
pub fn replicate(problem: &dyn BenchmarkProblem, theta: &[f64], count: usize, seed: u64) -> Simulated {
    let theta = Points::new(theta.repeat(count), count, theta.len()).expect("`repeat` gives count × length values");
    simulate_at(problem, theta, seed)
}

/// A data set of the problem's own making: θ from the prior, then y from the simulator at θ.
/// A failed call is redrawn, so θ comes from the prior restricted to calls that succeed.
pub fn data_set(problem: &dyn BenchmarkProblem, seed: u64) -> Result<(Vec<f64>, Vec<f64>), Error> {
    const ATTEMPTS: usize = 1_000;
    // Neither the parameters nor the simulator's streams of `simulate_many` with the same seed:
    // a data set must not reappear among the simulations that are to explain it.
    const APART: u64 = 0x9E37_79B9_7F4A_7C15;
    let candidates = problem.prior().draw(ATTEMPTS, seed ^ APART);
    for (attempt, theta) in candidates.iter().enumerate() {
        let mut rng = stream(seed, Purpose::Experiment, attempt as u64);
        if let Ok(y) = problem.simulate(theta, &mut rng) {
            return Ok((theta.to_vec(), y));
        }
    }
    Err(Error::AllFailed { count: ATTEMPTS })
}
