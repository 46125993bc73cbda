//! kelfi in rounds behind the common interface: it asks for simulations where the posterior is.

use crate::Error;
use crate::method::{Answer, Method, Task};
use crate::rounds::{Batch, Rounds, RoundsSettings};
use crate::simulations::{Observation, Recorded, Simulations};
use std::sync::Arc;

/// The default model, simulated in rounds.
#[derive(Debug, Clone, Copy)]
pub struct KelfiInRounds;

impl Method for KelfiInRounds {
    fn name(&self) -> &'static str {
        "kelfi-rounds"
    }

    fn description(&self) -> &'static str {
        "kelfi with its simulations made in rounds, after the first where the posterior is"
    }

    fn reference(&self) -> &'static str {
        "this project, on Hsu & Ramos, AISTATS 2019"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        let observation = Observation::Statistics(task.observation.to_vec());
        let mut rounds = Rounds::new(task.prior, &observation, &RoundsSettings::of(task.calls.budget(), task.seed))?;
        let simulate = |batch: &Batch| {
            let simulations = match batch.round {
                // The draws of the prior that every other method has.
                0 => task.calls.from_prior(batch.theta.rows())?,
                _ => Simulations::new(batch.theta.clone(), task.calls.at(&batch.theta)?)?,
            };
            Ok(Recorded::Statistics(Arc::new(simulations)))
        };
        Ok(Answer::Posterior(Box::new(rounds.run(simulate, &mut |_| (task.go_on)())?.posterior)))
    }
}
