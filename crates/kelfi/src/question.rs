//! What is asked: a prior, what was simulated, and an observation.

use crate::simulations::{Observation, Recorded};
use crate::{Error, Prior};
use std::sync::Arc;

/// A question that models answer. Cheap to clone: simulations are shared.
#[derive(Debug, Clone)]
pub struct Question {
    /// The prior.
    pub prior: Prior,
    /// What was simulated.
    pub recorded: Recorded,
    /// What was observed.
    pub observation: Observation,
}

impl Question {
    /// From its parts.
    pub fn new(prior: &Prior, recorded: &Recorded, observation: &Observation) -> Self {
        Self { prior: prior.clone(), recorded: recorded.clone(), observation: observation.clone() }
    }

    /// The same simulations and prior at another observation.
    pub fn at(&self, observation: &Observation) -> Self {
        Self { observation: observation.clone(), ..self.clone() }
    }

    /// The same simulations and observation under another prior.
    pub fn under(&self, prior: &Prior) -> Self {
        Self { prior: prior.clone(), ..self.clone() }
    }

    /// With these simulations only.
    pub fn of_part(&self, simulations: &[usize]) -> Result<Self, Error> {
        Ok(Self { recorded: self.recorded.select(simulations)?, ..self.clone() })
    }

    /// The same, every output so many independent repeats of the same statistics.
    pub fn with_repeats(&self, repeats: usize) -> Result<Self, Error> {
        match &self.recorded {
            Recorded::Statistics(simulations) => {
                let told = simulations.as_ref().clone().with_repeats(repeats)?;
                Ok(Self { recorded: Recorded::Statistics(Arc::new(told)), ..self.clone() })
            }
            Recorded::DataSets(_) => Ok(self.clone()),
        }
    }

    /// The observed statistics; none where raw data sets are compared.
    pub fn observed(&self) -> Option<&[f64]> {
        match &self.observation {
            Observation::Statistics(y) => Some(y),
            Observation::DataSet(_) => None,
        }
    }
}
