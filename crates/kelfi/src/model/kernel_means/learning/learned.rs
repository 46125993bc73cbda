//! What learning found, and how it explains itself.

use crate::Error;
use crate::model::kernel_means::learning::choices::Objective;
use crate::model::{Hyperparameters, OnProgress, Progress, StatisticReport};
use crate::optimise::Stopped;
use serde::{Deserialize, Serialize};

/// A local optimum of the objective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocalOptimum {
    /// Where.
    pub hyperparameters: Hyperparameters,
    /// The objective's value there.
    pub objective: f64,
}

/// The chosen hyperparameters and everything there is to say about the choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// The choice.
    pub hyperparameters: Hyperparameters,
    /// By which objective.
    pub objective: Objective,
    /// The leave-one-out posterior score in nats per observation; `None` with fewer than three successful simulations.
    pub score: Option<f64>,
    /// Its standard error.
    pub score_standard_error: Option<f64>,
    /// ln q(y); `None` where q(y) ≤ 0.
    pub log_marginal_likelihood: Option<f64>,
    /// Hyperparameters that ended on a bound of their search.
    pub at_bound: Vec<String>,
    /// Every statistic, in order.
    pub statistics: Vec<StatisticReport>,
    /// All local optima met, best first.
    pub optima: Vec<LocalOptimum>,
    /// Why the last search ended.
    pub stopped: Stopped,
    /// How many matrices were factored.
    pub factorisations: usize,
    /// How many times the objective was evaluated.
    pub evaluations: usize,
}

impl Learned {
    /// Indices of the statistics, most relevant first.
    pub fn ranking(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.statistics.len()).collect();
        order.sort_by(|&i, &j| self.statistics[j].relevance.total_cmp(&self.statistics[i].relevance));
        order
    }
}

/// Counts factorisations, reports progress and ends the search when asked to.
pub struct Counter<'a> {
    on_progress: OnProgress<'a>,
    /// Matrices factored so far.
    pub factorisations: usize,
    /// Objective evaluations so far.
    pub evaluations: usize,
    /// Steps expected in all.
    pub expected: usize,
    /// Best objective so far.
    pub best: f64,
}

impl<'a> Counter<'a> {
    /// Nothing done yet.
    pub fn new(on_progress: OnProgress<'a>, expected: usize) -> Self {
        Self { on_progress, factorisations: 0, evaluations: 0, expected, best: f64::NEG_INFINITY }
    }

    /// One more factorisation; an error when the caller wants to stop.
    pub fn factored(&mut self) -> Result<(), Error> {
        self.factorisations += 1;
        let expected = self.expected.max(self.factorisations);
        if (self.on_progress)(Progress { done: self.factorisations, expected, best: self.best }) { Ok(()) } else { Err(Error::Interrupted) }
    }
}
