//! The pilot: location and scale of the statistics over prior runs that finish.

use crate::moments::{mean, variance};
use crate::problem::BenchmarkProblem;
use crate::simulate::simulate_many;
use kelfi::Error;

const PUBLISHED: &str = include_str!("../../data/lotka_volterra_pilot.csv");

/// Mean and standard deviation of each statistic.
#[derive(Debug, Clone, PartialEq)]
pub struct Pilot {
    /// Means.
    pub mean: Vec<f64>,
    /// Standard deviations (n − 1).
    pub std: Vec<f64>,
}

impl Pilot {
    /// The pilot published with the authors' code (1,000 runs).
    pub fn published() -> Self {
        Self { mean: column(2), std: column(3) }
    }

    /// From the first `accepted` prior runs of `problem` that finish; the others are thrown away and not counted.
    pub fn simulate(problem: &dyn BenchmarkProblem, accepted: usize, seed: u64) -> Result<Self, Error> {
        if accepted < 2 {
            return Err(Error::invalid("pilot runs", accepted as f64, "a standard deviation needs at least two"));
        }
        let mut calls = accepted;
        // Run j depends on (seed, j) only, so a longer batch begins with the shorter one.
        loop {
            let (_, x) = simulate_many(problem, calls, seed).successes();
            if x.rows() >= accepted {
                let kept = x.select(&(0..accepted).collect::<Vec<_>>());
                let columns: Vec<Vec<f64>> = (0..kept.columns()).map(|k| kept.column(k)).collect();
                return Ok(Self {
                    mean: columns.iter().map(|values| mean(values)).collect(),
                    std: columns.iter().map(|values| variance(values).sqrt()).collect(),
                });
            }
            if calls > 100 * accepted {
                return Err(Error::AllFailed { count: calls });
            }
            calls = 2 * calls - x.rows();
        }
    }

    /// (x − mean) / std.
    pub fn normalise(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.mean).zip(&self.std).map(|((x, mean), std)| (x - mean) / std).collect()
    }

    /// mean + std · x.
    pub fn denormalise(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.mean).zip(&self.std).map(|((x, mean), std)| mean + std * x).collect()
    }
}

/// The published observation, not normalised.
pub fn published_observation() -> Vec<f64> {
    column(1)
}

fn column(index: usize) -> Vec<f64> {
    PUBLISHED.lines().skip(1).filter_map(|line| line.split(',').nth(index)?.parse().ok()).collect()
}
