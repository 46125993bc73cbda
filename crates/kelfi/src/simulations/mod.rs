//! Pairs (θ, x): what the simulator has given so far, failed runs included.

/// Raw iid data sets.
pub mod data_sets;
/// Squared differences to an observation, and the ε-kernel of them.
pub mod discrepancies;
mod exchangeable;
/// Values on a lattice.
pub mod lattice;
/// Simulations that play the observation.
pub mod local_set;
/// What one simulation gives.
pub mod outputs;
/// Were the simulated parameters drawn from the prior?
pub mod prior_draws;
/// What was recorded of every simulation, and what was observed.
pub mod recorded;
/// Outputs that are independent repeats of the same statistics.
pub mod repeats;
/// Simulations at the same θ.
pub mod same_theta;
/// Scales of the statistics.
pub mod scales;

pub use data_sets::DataSets;
pub use discrepancies::Discrepancies;
pub use outputs::Outputs;
pub use prior_draws::PriorDraws;
pub use recorded::{Observation, Recorded};

use crate::{Error, Points};
use serde::{Deserialize, Serialize};

/// m parameter vectors, each with one output or several replicates.
/// A failed run keeps its place: it says that the simulator does not work there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedSimulations")]
pub struct Simulations {
    theta: Points,
    outputs: Points,
    #[serde(skip)]
    failed: Vec<bool>,
    /// Outputs of simulation j are rows `offsets[j]..offsets[j + 1]`.
    offsets: Vec<usize>,
    /// Every output is so many independent repeats of the same statistics, one after the other; `None` where nobody said.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<usize>,
}

/// Simulations as they are read: the parts may not fit each other.
#[derive(Deserialize)]
struct SavedSimulations {
    theta: Points,
    outputs: Points,
    offsets: Vec<usize>,
    #[serde(default)]
    repeats: Option<usize>,
}

impl TryFrom<SavedSimulations> for Simulations {
    type Error = Error;

    fn try_from(saved: SavedSimulations) -> Result<Self, Error> {
        let counts: Vec<usize> = saved.offsets.windows(2).map(|range| range[1].saturating_sub(range[0])).collect();
        let read = Self::with_replicates(saved.theta, saved.outputs, &counts)?.with_told_repeats(saved.repeats)?;
        if read.offsets != saved.offsets {
            return Err(Error::Format { reason: "the offsets of the replicates do not start at 0 or do not rise".into() });
        }
        Ok(read)
    }
}

impl Simulations {
    /// One output per parameter vector. A row of `x` with a value that is not finite is a failed simulation.
    pub fn new(theta: Points, x: Points) -> Result<Self, Error> {
        let counts = vec![1; theta.rows()];
        if theta.rows() != x.rows() {
            return Err(Error::Shape {
                left: "theta".into(),
                left_rows: theta.rows(),
                left_columns: theta.columns(),
                right: "x".into(),
                right_rows: x.rows(),
                right_columns: x.columns(),
                advice: "theta and x need one row per simulation".into(),
            });
        }
        Self::with_replicates(theta, x, &counts)
    }

    /// `counts[j]` outputs for parameter vector j, standing one after the other in `x`.
    pub fn with_replicates(theta: Points, x: Points, counts: &[usize]) -> Result<Self, Error> {
        if theta.is_empty() {
            return Err(Error::Empty { what: "the table of simulations".into(), advice: "give at least one simulation".into() });
        }
        if theta.columns() == 0 || x.columns() == 0 {
            return Err(Error::Empty {
                what: if theta.columns() == 0 { "theta" } else { "x" }.into(),
                advice: "give at least one parameter and one statistic".into(),
            });
        }
        theta.require_finite("theta")?;
        let total = counts.iter().fold(0_usize, |total, &count| total.saturating_add(count));
        if counts.len() != theta.rows() || total != x.rows() {
            return Err(Error::Shape {
                left: "theta with its counts of replicates".into(),
                left_rows: counts.len().min(theta.rows()),
                left_columns: total,
                right: "x".into(),
                right_rows: theta.rows(),
                right_columns: x.rows(),
                advice: "one count per row of theta, and counts that add up to the rows of x".into(),
            });
        }
        if let Some(j) = counts.iter().position(|&count| count == 0) {
            return Err(Error::invalid(format!("number of replicates of simulation {j}"), 0.0, "it must be at least 1"));
        }
        let failed: Vec<bool> = x.iter().map(|row| row.iter().any(|value| !value.is_finite())).collect();
        let mut offsets = vec![0];
        for count in counts {
            offsets.push(offsets[offsets.len() - 1] + count);
        }
        if failed.iter().all(|&f| f) {
            return Err(Error::AllFailed { count: failed.len() });
        }
        Ok(Self { theta, outputs: x, failed, offsets, repeats: None })
    }

    /// Simulations of which none succeeded: nothing can be learned from them alone, but they say where the simulator fails.
    pub fn all_failed(theta: Points, statistics: usize) -> Self {
        let (rows, nothing) = (theta.rows(), vec![f64::NAN; theta.rows() * statistics]);
        let outputs = Points::new(nothing, rows, statistics).expect("a row for every parameter vector");
        Self { theta, outputs, failed: vec![true; rows], offsets: (0..=rows).collect(), repeats: None }
    }

    /// Number of parameter vectors m.
    pub fn len(&self) -> usize {
        self.theta.rows()
    }

    /// Never: there is at least one simulation.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The parameter vectors.
    pub fn theta(&self) -> &Points {
        &self.theta
    }

    /// All outputs, replicates one after the other.
    pub fn outputs(&self) -> &Points {
        &self.outputs
    }

    /// Number of statistics n.
    pub fn statistics(&self) -> usize {
        self.outputs.columns()
    }

    /// Whether each output failed.
    pub fn failed(&self) -> &[bool] {
        &self.failed
    }

    /// Outputs of simulation j are rows `offsets[j]..offsets[j + 1]`.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// How many outputs failed.
    pub fn failures(&self) -> usize {
        self.failed.iter().filter(|&&f| f).count()
    }

    /// Row of the first output of simulation `i` that succeeded.
    pub fn first_success(&self, i: usize) -> Option<usize> {
        (self.offsets[i]..self.offsets[i + 1]).find(|&row| !self.failed[row])
    }

    /// Rows of the outputs that succeeded.
    pub fn successful_rows(&self) -> Vec<usize> {
        (0..self.failed.len()).filter(|&row| !self.failed[row]).collect()
    }

    /// Values of statistic `i` over the outputs that succeeded.
    pub fn successful_values(&self, i: usize) -> Vec<f64> {
        self.outputs.iter().zip(&self.failed).filter(|(_, failed)| !**failed).map(|(row, _)| row[i]).collect()
    }

    /// The same with more outputs counted as failures; those that were failures stay so.
    pub(crate) fn with_failures(&self, more: &[bool]) -> Self {
        let failed = self.failed.iter().zip(more).map(|(&failed, &more)| failed || more).collect();
        Self { failed, ..self.clone() }
    }

    /// The simulations with these indices, in that order.
    pub fn select(&self, indices: &[usize]) -> Result<Self, Error> {
        let counts: Vec<usize> = indices.iter().map(|&j| self.offsets[j + 1] - self.offsets[j]).collect();
        let rows: Vec<usize> = indices.iter().flat_map(|&j| self.offsets[j]..self.offsets[j + 1]).collect();
        if self.failed.iter().all(|failed| *failed) {
            return Self::all_failed(self.theta.select(indices), self.statistics()).with_told_repeats(self.repeats);
        }
        Self::with_replicates(self.theta.select(indices), self.outputs.select(&rows), &counts)?.with_told_repeats(self.repeats)
    }
}
