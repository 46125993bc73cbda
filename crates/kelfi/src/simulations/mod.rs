//! Pairs (θ, x): what the simulator has given so far, failed runs included.

/// Squared differences to an observation, and the ε-kernel of them.
pub mod discrepancies;
/// Values on a lattice.
pub mod lattice;
/// Simulations that play the observation.
pub mod local_set;
/// Were the simulated parameters drawn from the prior?
pub mod prior_draws;
/// Simulations at the same θ.
pub mod same_theta;
/// Scales of the statistics.
pub mod scales;

pub use discrepancies::Discrepancies;
pub use prior_draws::PriorDraws;

use crate::{Error, Points};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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
}

/// Simulations as they are read: the parts may not fit each other.
#[derive(Deserialize)]
struct SavedSimulations {
    theta: Points,
    outputs: Points,
    offsets: Vec<usize>,
}

impl TryFrom<SavedSimulations> for Simulations {
    type Error = Error;

    fn try_from(saved: SavedSimulations) -> Result<Self, Error> {
        let counts: Vec<usize> = saved.offsets.windows(2).map(|range| range[1].saturating_sub(range[0])).collect();
        let read = Self::with_replicates(saved.theta, saved.outputs, &counts)?;
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
        Ok(Self { theta, outputs: x, failed, offsets })
    }

    /// Simulations of which none succeeded: nothing can be learned from them alone, but they say where the simulator fails.
    pub fn all_failed(theta: Points, statistics: usize) -> Self {
        let (rows, nothing) = (theta.rows(), vec![f64::NAN; theta.rows() * statistics]);
        let outputs = Points::new(nothing, rows, statistics).expect("a row for every parameter vector");
        Self { theta, outputs, failed: vec![true; rows], offsets: (0..=rows).collect() }
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
            return Ok(Self::all_failed(self.theta.select(indices), self.statistics()));
        }
        Self::with_replicates(self.theta.select(indices), self.outputs.select(&rows), &counts)
    }
}

/// m parameter vectors, each with a raw iid data set instead of statistics; `None` is a failed simulation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataSets {
    /// The parameter vectors.
    pub theta: Points,
    /// One data set each.
    pub sets: Vec<Option<Points>>,
    /// Length scale of the Gaussian kernel that compares data points.
    pub alpha: f64,
}

/// What was recorded of every simulation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Recorded {
    /// Statistics.
    Statistics(Arc<Simulations>),
    /// Raw iid data.
    DataSets(Arc<DataSets>),
}

/// What was observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Observation {
    /// Statistics.
    Statistics(Vec<f64>),
    /// Raw iid data.
    DataSet(Points),
}

impl Recorded {
    /// The parameter vectors.
    pub fn theta(&self) -> &Points {
        match self {
            Self::Statistics(simulations) => simulations.theta(),
            Self::DataSets(sets) => &sets.theta,
        }
    }

    /// Discrepancies between every simulation and `observation`.
    pub fn discrepancies(&self, observation: &Observation) -> Result<Discrepancies, Error> {
        match (self, observation) {
            (Self::Statistics(simulations), Observation::Statistics(y)) => Discrepancies::of_statistics(simulations, y),
            (Self::DataSets(sets), Observation::DataSet(y)) => Discrepancies::of_data_sets(&sets.sets, y, sets.alpha),
            _ => Err(Error::Unavailable {
                what: "comparing the observation with the simulations".into(),
                reason: "one is a vector of statistics, the other a raw data set; give both the same way".into(),
            }),
        }
    }

    /// Several tables one after the other.
    pub fn joined(parts: &[Self]) -> Result<Self, Error> {
        let theta = stacked(&parts.iter().map(Self::theta).collect::<Vec<_>>())?;
        let statistics: Vec<&Arc<Simulations>> =
            parts.iter().filter_map(|part| if let Self::Statistics(simulations) = part { Some(simulations) } else { None }).collect();
        let sets: Vec<&Arc<DataSets>> =
            parts.iter().filter_map(|part| if let Self::DataSets(sets) = part { Some(sets) } else { None }).collect();
        if statistics.len() == parts.len() {
            let outputs = stacked(&statistics.iter().map(|part| part.outputs()).collect::<Vec<_>>())?;
            let counts: Vec<usize> = statistics.iter().flat_map(|part| part.offsets().windows(2).map(|pair| pair[1] - pair[0])).collect();
            return Ok(Self::Statistics(Arc::new(Simulations::with_replicates(theta, outputs, &counts)?)));
        }
        match sets.first() {
            Some(first) if sets.len() == parts.len() => {
                let all = sets.iter().flat_map(|part| part.sets.iter().cloned()).collect();
                Ok(Self::DataSets(Arc::new(DataSets { theta, sets: all, alpha: first.alpha })))
            }
            _ => Err(Error::Unavailable {
                what: "putting simulations together".into(),
                reason: "some are vectors of statistics, others raw data sets; give all the same way".into(),
            }),
        }
    }

    /// The simulations with these indices, in that order.
    pub fn select(&self, indices: &[usize]) -> Result<Self, Error> {
        Ok(match self {
            Self::Statistics(simulations) => Self::Statistics(Arc::new(simulations.select(indices)?)),
            Self::DataSets(sets) => Self::DataSets(Arc::new(DataSets {
                theta: sets.theta.select(indices),
                sets: indices.iter().map(|&j| sets.sets[j].clone()).collect(),
                alpha: sets.alpha,
            })),
        })
    }

    /// The output of simulation `i` (its first successful replicate) as if it had been observed; `None` if it failed.
    pub fn as_observation(&self, i: usize) -> Option<Observation> {
        match self {
            Self::Statistics(s) => s.first_success(i).map(|row| Observation::Statistics(s.outputs().row(row).to_vec())),
            Self::DataSets(sets) => sets.sets[i].clone().map(Observation::DataSet),
        }
    }
}

/// The rows of all tables, one after the other.
fn stacked(tables: &[&Points]) -> Result<Points, Error> {
    let rows: Vec<&[f64]> = tables.iter().flat_map(|table| table.iter()).collect();
    Points::from_rows(&rows)
}
