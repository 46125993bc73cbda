//! A fitted model of either kind, with the account of how it was learned.

use crate::model::kernel_means::learning::Learned;
use crate::model::location_scale::leave_one_out::LeftOut;
use crate::model::{KernelMeansLikelihood, Kind, Likelihood, LocationScaleLikelihood};
use crate::simulations::Recorded;
use crate::{Error, Prior, Surrogate};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How the hyperparameters were chosen and what leaving simulations out says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Account {
    /// Of the kernel means model.
    KernelMeans(Box<Learned>),
    /// Of the location-scale model.
    LocationScale(LeftOut),
}

/// A surrogate likelihood and how it came to be.
#[derive(Debug, Clone)]
pub enum FittedModel {
    /// The paper's.
    KernelMeans {
        /// The surrogate.
        likelihood: Arc<KernelMeansLikelihood>,
        /// How its hyperparameters were chosen.
        learned: Box<Learned>,
    },
    /// Ours.
    LocationScale {
        /// The surrogate.
        likelihood: Arc<LocationScaleLikelihood>,
        /// What leaving simulations out says.
        left_out: LeftOut,
    },
}

impl FittedModel {
    /// Refuses a likelihood of one kind with an account of the other.
    pub fn new(likelihood: Likelihood, account: Account) -> Result<Self, Error> {
        match (likelihood, account) {
            (Likelihood::KernelMeans(likelihood), Account::KernelMeans(learned)) => Ok(Self::KernelMeans { likelihood, learned }),
            (Likelihood::LocationScale(likelihood), Account::LocationScale(left_out)) => Ok(Self::LocationScale { likelihood, left_out }),
            (likelihood, _) => Err(Error::Unavailable {
                what: format!("a {} model with this account of its learning", likelihood.kind().name()),
                reason: "the account is of another kind of model; learn it again".into(),
            }),
        }
    }

    /// Which one.
    pub fn kind(&self) -> Kind {
        match self {
            Self::KernelMeans { .. } => Kind::KernelMeans,
            Self::LocationScale { .. } => Kind::LocationScale,
        }
    }

    /// The surrogate alone.
    pub fn likelihood(&self) -> Likelihood {
        match self {
            Self::KernelMeans { likelihood, .. } => likelihood.clone().into(),
            Self::LocationScale { likelihood, .. } => likelihood.clone().into(),
        }
    }

    /// How it was learned, for a file.
    pub fn account(&self) -> Account {
        match self {
            Self::KernelMeans { learned, .. } => Account::KernelMeans(learned.clone()),
            Self::LocationScale { left_out, .. } => Account::LocationScale(left_out.clone()),
        }
    }

    /// The prior.
    pub fn prior(&self) -> &Prior {
        match self {
            Self::KernelMeans { likelihood, .. } => likelihood.prior(),
            Self::LocationScale { likelihood, .. } => likelihood.prior(),
        }
    }

    /// What was simulated.
    pub fn recorded(&self) -> &Recorded {
        match self {
            Self::KernelMeans { likelihood, .. } => likelihood.recorded(),
            Self::LocationScale { likelihood, .. } => likelihood.recorded(),
        }
    }
}
