//! A model as JSON: simulations, observation, prior and hyperparameters. Plain data; reading it runs nothing.

use super::family::{self, ModelFamily};
use super::{Model, Question};
use crate::simulations::{Observation, Recorded};
use crate::{Error, Prior};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The newest version read; newer ones are refused. Version 1 has kernel means only, version 2 location-scale too, version 3 any model and local coordinates, version 4
/// correlations that move and a choice among the simulations of a region, version 5 outputs that are repeats, version 6 a spread that all
/// statistics share, version 7 mean and spread fitted in turn to all simulations.
pub const FORMAT: u32 = 7;
/// The oldest that knows repeats.
const REPEATS: u32 = 5;

/// Everything needed to rebuild a model bit by bit on the same machine, and to rounding on another.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedModel {
    /// Format version: the oldest that knows this kind of model.
    pub format: u32,
    /// Which kind of model; the version tells in files from before it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The prior; one given as code is saved as its draws.
    pub prior: Prior,
    /// The simulations.
    pub recorded: Recorded,
    /// The observation.
    pub observation: Observation,
    /// The hyperparameters, as this kind of model writes them.
    pub hyperparameters: Value,
}

impl SavedModel {
    /// What to save of a model.
    pub fn new(model: &dyn Model) -> Self {
        let Question { prior, recorded, observation } = model.question().clone();
        let family = model.family();
        Self {
            format: if repeats(&recorded) > 1 { model.format().max(REPEATS) } else { model.format() },
            model: Some(family.name.to_owned()),
            prior,
            recorded,
            observation,
            hyperparameters: model.saved_hyperparameters(),
        }
    }

    /// As JSON.
    pub fn to_json(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(unreadable)
    }

    /// From JSON.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let version: Version = serde_json::from_str(text).map_err(unreadable)?;
        if version.format > FORMAT {
            let reason = format!("its format is {} and this version reads formats up to {FORMAT}; use a newer kelfi", version.format);
            return Err(Error::Format { reason });
        }
        serde_json::from_str(text).map_err(unreadable)
    }

    /// Which kind of model it is.
    pub fn family(&self) -> Result<&'static ModelFamily, Error> {
        let of_version = || family::all().into_iter().find(|family| family.format == self.format);
        match &self.model {
            Some(name) => family::named(name),
            None => of_version().ok_or_else(|| Error::Format { reason: "it does not say which kind of model it is".into() }),
        }
    }

    /// The question it answers.
    pub fn question(&self) -> Question {
        Question::new(&self.prior, &self.recorded, &self.observation)
    }

    /// Rebuilds the model; `learned` is the record of its learning, where there is one.
    pub fn build(&self, learned: Option<&Value>) -> Result<Arc<dyn Model>, Error> {
        (self.family()?.load)(&self.question(), &self.hyperparameters, learned)
    }
}

fn repeats(recorded: &Recorded) -> usize {
    recorded.outputs().repeats()
}

/// Hyperparameters or records from a file.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(value: &Value) -> Result<T, Error> {
    T::deserialize(value).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> Error {
    Error::Format { reason: error.to_string() }
}
