//! The kernel means model: simulations, an observation and a prior in; hyperparameters learned, a posterior out.

use crate::checks::{Check, hyperparameter_at_bound};
use crate::model::KernelMeansLikelihood;
use crate::model::kernel_means::learning::learned::OnProgress;
use crate::model::kernel_means::learning::{LearnSettings, Learned, learn};
use crate::simulations::{Observation, Recorded};
use crate::{Error, Posterior, Prior};
use std::sync::Arc;

/// A posterior with the model it comes from and how its hyperparameters were chosen.
#[derive(Debug, Clone)]
pub struct Inference {
    /// The posterior.
    pub posterior: Posterior,
    /// The surrogate likelihood.
    pub model: Arc<KernelMeansLikelihood>,
    /// The choice of hyperparameters, explained.
    pub learned: Learned,
}

impl Inference {
    /// Learns what `settings` leaves open and builds the posterior. `on_progress` answers whether to go on.
    pub fn new(
        recorded: &Recorded,
        observation: &Observation,
        prior: &Prior,
        settings: &LearnSettings,
        on_progress: OnProgress<'_>,
    ) -> Result<Self, Error> {
        let (model, learned) = learn(recorded, observation, prior, settings, on_progress)?;
        let model = Arc::new(model);
        let posterior = Posterior::new(model.clone(), settings.seed)?;
        Ok(Self { posterior, model, learned })
    }

    /// The same simulations, hyperparameters and factorisation at another observation.
    pub fn condition(&self, observation: &Observation, seed: u64) -> Result<Posterior, Error> {
        Posterior::new(Arc::new(self.model.condition(observation)?), seed)
    }

    /// All checks: the posterior's and whether a hyperparameter ended on a bound.
    pub fn checks(&self) -> Vec<Check> {
        let mut all = self.posterior.checks();
        all.push(hyperparameter_at_bound(&self.learned.at_bound));
        all
    }
}
