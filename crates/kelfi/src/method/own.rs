//! kelfi's own methods behind the common interface.

use crate::learning::{LearnSettings, Objective};
use crate::method::{Answer, Method, Question};
use crate::model::LocationScaleLikelihood;
use crate::simulations::{Observation, Recorded};
use crate::{Error, Inference, Posterior};
use std::sync::Arc;

/// The kernel means likelihood with its hyperparameters chosen by an objective.
#[derive(Debug, Clone, Copy)]
pub struct KernelMeans {
    /// What is maximised.
    pub objective: Objective,
}

/// Regressions of location and scale with the embedding for the shape of what is left.
#[derive(Debug, Clone, Copy)]
pub struct LocationScale;

/// kelfi's own methods, the default first.
pub fn own_methods() -> Vec<Box<dyn Method>> {
    vec![
        Box::new(KernelMeans { objective: Objective::LeaveOneOut }),
        Box::new(KernelMeans { objective: Objective::Evidence }),
        Box::new(LocationScale),
    ]
}

/// The whole budget at draws of the prior, and the observation.
fn data(question: &Question<'_>) -> Result<(Recorded, Observation), Error> {
    let simulations = Arc::new(question.calls.all_from_prior()?);
    Ok((Recorded::Statistics(simulations), Observation::Statistics(question.observation.to_vec())))
}

impl Method for KernelMeans {
    fn name(&self) -> &'static str {
        match self.objective {
            Objective::LeaveOneOut => "kelfi",
            Objective::Evidence => "kelfi-mkml",
        }
    }

    fn description(&self) -> &'static str {
        match self.objective {
            Objective::LeaveOneOut => "kernel means likelihood, hyperparameters by the leave-one-out posterior score",
            Objective::Evidence => "kernel means likelihood, hyperparameters by the marginal likelihood (Hsu & Ramos 2019)",
        }
    }

    fn infer(&self, question: &Question<'_>) -> Result<Answer, Error> {
        let (recorded, observation) = data(question)?;
        let settings = LearnSettings { objective: self.objective, seed: question.seed, ..LearnSettings::default() };
        let inference = Inference::new(&recorded, &observation, question.prior, &settings, &mut |_| (question.go_on)())?;
        Ok(Answer::Posterior(Box::new(inference.posterior)))
    }
}

impl Method for LocationScale {
    fn name(&self) -> &'static str {
        "location-scale"
    }

    fn description(&self) -> &'static str {
        "mean and spread of each statistic by regression on the parameters, kernel means for the shape of the rest"
    }

    fn infer(&self, question: &Question<'_>) -> Result<Answer, Error> {
        let (recorded, observation) = data(question)?;
        let model = LocationScaleLikelihood::learn(&recorded, &observation, question.prior, question.seed, question.go_on)?;
        let posterior = Posterior::with_progress(Arc::new(model), question.seed, &mut || (question.go_on)())?;
        Ok(Answer::Posterior(Box::new(posterior)))
    }
}
