//! kelfi's own methods behind the common interface.

use crate::learning::{KernelMeansOptions, Objective};
use crate::method::in_rounds::KelfiInRounds;
use crate::method::{Answer, Method, Task};
use crate::model::{FitOptions, KERNEL_MEANS, LOCATION_SCALE, ModelChoice};
use crate::question::Question;
use crate::simulations::{Observation, Recorded};
use crate::{Error, Fit};
use std::sync::Arc;

/// One of kelfi's ways to a posterior: a model, or the best of them, and how it is learned.
#[derive(Debug, Clone, Copy)]
pub struct KelfiMethod {
    name: &'static str,
    description: &'static str,
    reference: &'static str,
    model: ModelChoice,
    objective: Objective,
}

/// What all of them build on.
const PAPER: &str = "Hsu & Ramos, AISTATS 2019";

/// kelfi's own methods, the default first.
const OWN: [KelfiMethod; 4] = [
    KelfiMethod {
        name: "kelfi",
        description: "kernel-means or location-scale, whichever has the higher leave-one-out posterior score",
        reference: "this project, on Hsu & Ramos, AISTATS 2019",
        model: ModelChoice::Auto,
        objective: Objective::LeaveOneOut,
    },
    KelfiMethod {
        name: "kernel-means",
        description: "kernel means likelihood, hyperparameters by the leave-one-out posterior score",
        reference: PAPER,
        model: ModelChoice::Use(&KERNEL_MEANS),
        objective: Objective::LeaveOneOut,
    },
    KelfiMethod {
        name: "kernel-means-mkml",
        description: "kernel means likelihood, hyperparameters by the marginal likelihood (Hsu & Ramos 2019)",
        reference: PAPER,
        model: ModelChoice::Use(&KERNEL_MEANS),
        objective: Objective::Evidence,
    },
    KelfiMethod {
        name: "location-scale",
        description: "mean and spread of each statistic by regression on the parameters, kernel means for the shape of the residuals",
        reference: "this project, on Hsu & Ramos, AISTATS 2019",
        model: ModelChoice::Use(&LOCATION_SCALE),
        objective: Objective::LeaveOneOut,
    },
];

/// kelfi's own methods, the default first.
pub fn own_methods() -> Vec<Box<dyn Method>> {
    let mut methods: Vec<Box<dyn Method>> = OWN.into_iter().map(|own| Box::new(own) as Box<dyn Method>).collect();
    methods.insert(1, Box::new(KelfiInRounds));
    methods
}

impl Method for KelfiMethod {
    fn name(&self) -> &'static str {
        self.name
    }

    fn description(&self) -> &'static str {
        self.description
    }

    fn reference(&self) -> &'static str {
        self.reference
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        let recorded = Recorded::Statistics(Arc::new(task.calls.all_from_prior()?));
        let question = Question::new(task.prior, &recorded, &Observation::Statistics(task.observation.to_vec()));
        let learn = KernelMeansOptions { objective: self.objective, seed: task.seed, ..KernelMeansOptions::default() };
        let fit = Fit::new(&question, &FitOptions { model: self.model, learn }, &mut |_| (task.go_on)())?;
        Ok(Answer::Posterior(Box::new(fit.posterior)))
    }
}
