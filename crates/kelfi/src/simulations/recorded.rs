//! What was recorded of every simulation, whatever its outputs are, and what was observed.

use super::{DataSets, Discrepancies, Outputs, Simulations};
use crate::{Error, Points};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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
    /// What the outputs are.
    pub fn outputs(&self) -> Outputs {
        match self {
            Self::Statistics(simulations) => Outputs::repeated(simulations.told_repeats()),
            Self::DataSets(_) => Outputs::Rows,
        }
    }

    /// The parameter vectors.
    pub fn theta(&self) -> &Points {
        match self {
            Self::Statistics(simulations) => simulations.theta(),
            Self::DataSets(sets) => sets.theta(),
        }
    }

    /// Whether nothing succeeded at the parameters of simulation `j`.
    pub fn has_failed(&self, j: usize) -> bool {
        match self {
            Self::Statistics(simulations) => simulations.first_success(j).is_none(),
            Self::DataSets(sets) => sets.sets()[j].is_none(),
        }
    }

    /// Discrepancies between every simulation and `observation`.
    pub fn discrepancies(&self, observation: &Observation) -> Result<Discrepancies, Error> {
        match (self, observation) {
            (Self::Statistics(simulations), Observation::Statistics(y)) => Discrepancies::of_statistics(simulations, y),
            (Self::DataSets(sets), Observation::DataSet(y)) => Discrepancies::of_data_sets(sets, y),
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
            let repeats = statistics[0].told_repeats();
            if statistics.iter().any(|part| part.told_repeats() != repeats) {
                return Err(Error::Unavailable {
                    what: "putting simulations together".into(),
                    reason: "their outputs are not the same number of repeats; give all the same way".into(),
                });
            }
            return Ok(Self::Statistics(Arc::new(Simulations::with_replicates(theta, outputs, &counts)?.with_told_repeats(repeats)?)));
        }
        match sets.first() {
            Some(first) if sets.len() == parts.len() => {
                let all = sets.iter().flat_map(|part| part.sets().iter().cloned()).collect();
                Ok(Self::DataSets(Arc::new(DataSets::new(theta, all, first.length_scales().to_vec())?)))
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
            Self::DataSets(sets) => Self::DataSets(Arc::new(sets.select(indices))),
        })
    }

    /// The output of simulation `i` (its first successful replicate) as if it had been observed; `None` if it failed.
    pub fn as_observation(&self, i: usize) -> Option<Observation> {
        match self {
            Self::Statistics(s) => s.first_success(i).map(|row| Observation::Statistics(s.outputs().row(row).to_vec())),
            Self::DataSets(sets) => sets.sets()[i].clone().map(Observation::DataSet),
        }
    }
}

/// The rows of all tables, one after the other.
fn stacked(tables: &[&Points]) -> Result<Points, Error> {
    let rows: Vec<&[f64]> = tables.iter().flat_map(|table| table.iter()).collect();
    Points::from_rows(&rows)
}
