//! A model as JSON: simulations, observation, prior and hyperparameters. Plain data; reading it runs nothing.

use crate::model::{Hyperparameters, KernelMeansLikelihood, Likelihood, LocationScaleHyperparameters, LocationScaleLikelihood};
use crate::simulations::{Observation, Recorded};
use crate::{Error, Prior};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The newest version read; newer ones are refused. Version 1 has kernel means only, version 2 no local coordinates.
pub const FORMAT: u32 = 3;

/// Everything needed to rebuild a model bit by bit on the same machine, and to rounding on another.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedModel {
    /// Format version: the oldest that knows this kind of model.
    pub format: u32,
    /// The prior; one given as code is saved as its draws.
    pub prior: Prior,
    /// The simulations.
    pub recorded: Recorded,
    /// The observation.
    pub observation: Observation,
    /// The hyperparameters.
    pub hyperparameters: SavedHyperparameters,
}

/// Hyperparameters of either model; their fields tell which.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SavedHyperparameters {
    /// ε, β and λ.
    KernelMeans(Hyperparameters),
    /// The regressions and the shape.
    LocationScale(Box<LocationScaleHyperparameters>),
}

impl SavedModel {
    /// What to save of a model at this observation.
    pub fn new(model: &Likelihood, observation: Observation) -> Self {
        let (format, hyperparameters) = match model {
            Likelihood::KernelMeans(model) => (1, SavedHyperparameters::KernelMeans(model.hyperparameters())),
            Likelihood::LocationScale(model) => (
                if model.hyperparameters().frame.is_some() { 3 } else { 2 },
                SavedHyperparameters::LocationScale(Box::new(model.hyperparameters().clone())),
            ),
        };
        Self { format, prior: model.prior().clone(), recorded: model.recorded().clone(), observation, hyperparameters }
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
    pub fn build(&self) -> Result<Likelihood, Error> {
        Ok(match &self.hyperparameters {
            SavedHyperparameters::KernelMeans(h) => {
                Likelihood::KernelMeans(Arc::new(KernelMeansLikelihood::new(self.recorded.clone(), &self.observation, &self.prior, h)?))
            }
            SavedHyperparameters::LocationScale(h) => {
                Likelihood::LocationScale(Arc::new(LocationScaleLikelihood::new(&self.recorded, &self.observation, &self.prior, h)?))
            }
        })
    }
}
