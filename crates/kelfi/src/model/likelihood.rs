//! Either surrogate likelihood, for code that takes any.

use crate::model::kernel_means::learning::{LearnSettings, learn};
use crate::model::{KernelMeansLikelihood, LocationScaleLikelihood, Surrogate};
use crate::simulations::{Observation, Recorded};
use crate::{Error, Prior};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which surrogate likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The paper's.
    KernelMeans,
    /// Ours.
    LocationScale,
}

impl Kind {
    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::KernelMeans => "kernel-means",
            Self::LocationScale => "location-scale",
        }
    }
}

/// A surrogate likelihood of either kind.
#[derive(Debug, Clone)]
pub enum Likelihood {
    /// The paper's.
    KernelMeans(Arc<KernelMeansLikelihood>),
    /// Ours.
    LocationScale(Arc<LocationScaleLikelihood>),
}

impl Likelihood {
    /// Which one.
    pub fn kind(&self) -> Kind {
        match self {
            Self::KernelMeans(_) => Kind::KernelMeans,
            Self::LocationScale(_) => Kind::LocationScale,
        }
    }

    /// What posterior and samples are made from.
    pub fn surrogate(&self) -> Arc<dyn Surrogate> {
        match self {
            Self::KernelMeans(model) => model.clone(),
            Self::LocationScale(model) => model.clone(),
        }
    }

    /// The prior.
    pub fn prior(&self) -> &Prior {
        match self {
            Self::KernelMeans(model) => model.prior(),
            Self::LocationScale(model) => model.prior(),
        }
    }

    /// What was simulated.
    pub fn recorded(&self) -> &Recorded {
        match self {
            Self::KernelMeans(model) => model.recorded(),
            Self::LocationScale(model) => model.recorded(),
        }
    }

    /// The same hyperparameters with these simulations only.
    pub fn on_part(&self, simulations: &[usize], observation: &Observation) -> Result<Self, Error> {
        Ok(match self {
            Self::KernelMeans(model) => {
                let part = model.recorded().select(simulations)?;
                Self::KernelMeans(Arc::new(KernelMeansLikelihood::new(part, observation, model.prior(), &model.hyperparameters())?))
            }
            Self::LocationScale(model) => Self::LocationScale(Arc::new(model.on_part(simulations)?)),
        })
    }

    /// The same model learned anew by default settings from these simulations only.
    pub fn learned_on_part(&self, simulations: &[usize], observation: &Observation, seed: u64) -> Result<Self, Error> {
        let part = self.recorded().select(simulations)?;
        Ok(match self {
            Self::KernelMeans(model) => {
                let settings = LearnSettings { seed, ..LearnSettings::default() };
                Self::KernelMeans(Arc::new(learn(&part, observation, model.prior(), &settings, &mut |_| true)?.0))
            }
            Self::LocationScale(model) => {
                let frame = model.hyperparameters().frame.as_ref();
                Self::LocationScale(Arc::new(LocationScaleLikelihood::learn_in(frame, &part, observation, model.prior(), seed, &|| true)?))
            }
        })
    }

    /// The same fit at another observation.
    pub fn condition(&self, observation: &Observation) -> Result<Self, Error> {
        Ok(match self {
            Self::KernelMeans(model) => Self::KernelMeans(Arc::new(model.condition(observation)?)),
            Self::LocationScale(model) => Self::LocationScale(Arc::new(model.condition(observation)?)),
        })
    }
}

impl From<Arc<KernelMeansLikelihood>> for Likelihood {
    fn from(model: Arc<KernelMeansLikelihood>) -> Self {
        Self::KernelMeans(model)
    }
}

impl From<Arc<LocationScaleLikelihood>> for Likelihood {
    fn from(model: Arc<LocationScaleLikelihood>) -> Self {
        Self::LocationScale(model)
    }
}
