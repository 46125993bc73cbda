//! How a prior is written: its settings, or its draws.

use super::{GaussianComponent, Marginal, Prior};
use crate::{Error, Points};
use serde::{Deserialize, Serialize};

/// The written form. Reading it goes through the public constructors, so a file cannot hold an invalid prior.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum SavedPrior {
    Independent { parameters: Vec<(String, Marginal)> },
    MultivariateNormal { names: Vec<String>, mean: Vec<f64>, covariance: Points },
    Mixture { names: Vec<String>, components: Vec<GaussianComponent> },
    Samples { names: Vec<String>, draws: Points },
}

impl From<Prior> for SavedPrior {
    fn from(prior: Prior) -> Self {
        match prior {
            Prior::Independent(prior) => Self::Independent { parameters: prior.names.into_iter().zip(prior.marginals).collect() },
            Prior::MultivariateNormal(prior) => {
                Self::MultivariateNormal { names: prior.names, mean: prior.mean, covariance: prior.covariance }
            }
            Prior::Mixture(prior) => Self::Mixture { names: prior.names, components: prior.components },
            Prior::Samples(prior) => Self::Samples { names: prior.names, draws: prior.draws },
            Prior::Custom(prior) => Self::Samples { names: prior.samples.names, draws: prior.samples.draws },
        }
    }
}

impl TryFrom<SavedPrior> for Prior {
    type Error = Error;

    fn try_from(saved: SavedPrior) -> Result<Self, Error> {
        match saved {
            SavedPrior::Independent { parameters } => Self::independent(parameters),
            SavedPrior::MultivariateNormal { names, mean, covariance } => Self::multivariate_normal(names, mean, &sound(covariance)?),
            SavedPrior::Mixture { names, components } => Self::gaussian_mixture(names, components),
            SavedPrior::Samples { names, draws } => Self::samples(names, sound(draws)?),
        }
    }
}

/// Points as their constructor would accept them: a written table may claim a shape its values do not have.
fn sound(points: Points) -> Result<Points, Error> {
    Points::new(points.values().to_vec(), points.rows(), points.columns())
}
