//! kelfi's own methods behind the common interface.

use crate::method::{Answer, Method, Question};
use crate::model::Kind;
use crate::model::kernel_means::learning::{LearnSettings, Objective};
use crate::simulations::{Observation, Recorded};
use crate::{Error, Fit, FitSettings, ModelChoice};
use std::sync::Arc;

/// One of kelfi's ways to a posterior.
#[derive(Debug, Clone, Copy)]
pub enum Own {
    /// The better model by the leave-one-out posterior score: what users get by default.
    Better,
    /// The kernel means likelihood with its hyperparameters chosen by an objective.
    KernelMeans(Objective),
    /// Regressions of location and scale with the embedding for the shape of what is left.
    LocationScale,
}

/// kelfi's own methods, the default first.
pub fn own_methods() -> Vec<Box<dyn Method>> {
    let all = [Own::Better, Own::KernelMeans(Objective::LeaveOneOut), Own::KernelMeans(Objective::Evidence), Own::LocationScale];
    all.into_iter().map(|own| Box::new(own) as Box<dyn Method>).collect()
}

impl Own {
    fn settings(self, seed: u64) -> FitSettings {
        match self {
            Self::Better => FitSettings::of(ModelChoice::Auto, seed),
            Self::LocationScale => FitSettings::of(ModelChoice::Use(Kind::LocationScale), seed),
            Self::KernelMeans(objective) => FitSettings {
                model: ModelChoice::Use(Kind::KernelMeans),
                learn: LearnSettings { objective, seed, ..LearnSettings::default() },
            },
        }
    }
}

impl Method for Own {
    fn name(&self) -> &'static str {
        match self {
            Self::Better => "kelfi",
            Self::KernelMeans(Objective::LeaveOneOut) => "kernel-means",
            Self::KernelMeans(Objective::Evidence) => "kernel-means-mkml",
            Self::LocationScale => "location-scale",
        }
    }

    fn description(&self) -> &'static str {
        match self {
            Self::Better => "kernel-means or location-scale, whichever has the higher leave-one-out posterior score",
            Self::KernelMeans(Objective::LeaveOneOut) => "kernel means likelihood, hyperparameters by the leave-one-out posterior score",
            Self::KernelMeans(Objective::Evidence) => {
                "kernel means likelihood, hyperparameters by the marginal likelihood (Hsu & Ramos 2019)"
            }
            Self::LocationScale => {
                "mean and spread of each statistic by regression on the parameters, kernel means for the shape of the rest"
            }
        }
    }

    fn infer(&self, question: &Question<'_>) -> Result<Answer, Error> {
        let recorded = Recorded::Statistics(Arc::new(question.calls.all_from_prior()?));
        let observation = Observation::Statistics(question.observation.to_vec());
        let settings = self.settings(question.seed);
        let fit = Fit::new(&recorded, &observation, question.prior, &settings, &mut |_| (question.go_on)())?;
        Ok(Answer::Posterior(Box::new(fit.posterior)))
    }
}
