//! A model as JSON: simulations, observation, prior and hyperparameters. Plain data; reading it runs nothing.

use crate::model::{Hyperparameters, KernelMeansLikelihood};
use crate::simulations::{Observation, Recorded};
use crate::{Error, Prior};
use serde::{Deserialize, Serialize};

/// The version written; readers refuse newer ones.
pub const FORMAT: u32 = 1;

/// Everything needed to rebuild a model bit by bit on the same machine, and to rounding on another.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedModel {
    /// Format version.
    pub format: u32,
    /// The prior; one given as code is saved as its draws.
    pub prior: Prior,
    /// The simulations.
    pub recorded: Recorded,
    /// The observation.
    pub observation: Observation,
    /// The hyperparameters.
    pub hyperparameters: Hyperparameters,
}

impl SavedModel {
    /// What to save of a model at this observation.
    pub fn new(model: &KernelMeansLikelihood, observation: Observation) -> Self {
        use crate::model::Surrogate;
        Self {
            format: FORMAT,
            prior: model.prior().clone(),
            recorded: model.recorded().clone(),
            observation,
            hyperparameters: model.hyperparameters(),
        }
    }

    /// As JSON.
    pub fn to_json(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(|error| Error::Format { reason: error.to_string() })
    }

    /// From JSON.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let version: Version = serde_json::from_str(text).map_err(|error| Error::Format { reason: error.to_string() })?;
        if version.format > FORMAT {
            let reason = format!("its format is {} and this version reads up to {FORMAT}; use a newer kelfi", version.format);
            return Err(Error::Format { reason });
        }
        serde_json::from_str(text).map_err(|error| Error::Format { reason: error.to_string() })
    }

    /// Rebuilds the model.
    pub fn build(&self) -> Result<KernelMeansLikelihood, Error> {
        KernelMeansLikelihood::new(self.recorded.clone(), &self.observation, &self.prior, &self.hyperparameters)
    }
}
