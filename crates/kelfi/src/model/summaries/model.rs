//! The model of learned summaries as one of the models.

use super::{SummariesHyperparameters, SummariesLikelihood};
use crate::model::by_regression::learn_by_regression;
use crate::model::family::{InRounds, Words};
use crate::model::location_scale::frame::Frame;
use crate::model::saved::read;
use crate::model::{Chosen, FitOptions, LOCATION_SCALE, LeftOut, Model, ModelFamily, OnProgress, PredictedOutputs, StatisticReport};
use crate::question::Question;
use crate::simulations::{Observation, Outputs, Recorded};
use crate::{Error, Points};
use serde_json::{Value, json};
use std::any::Any;
use std::sync::Arc;

/// The location-scale model of learned summaries.
pub static SUMMARIES: ModelFamily = ModelFamily {
    name: "summaries",
    title: "learned summaries",
    summary: "The location-scale model of what the statistics say about each parameter",
    format: 3,
    // Its score shares simulations with the regression that made the summaries: not yet shown to be safe for a choice.
    in_auto: false,
    takes_settings: false,
    learn: learned_from,
    load,
    takes: |outputs| outputs != Outputs::Rows,
    in_rounds: InRounds::Locally(learned_in),
    refuses: |settings| (LOCATION_SCALE.refuses)(settings),
    words: Words {
        failures: "The probability of success is learned as a function of the parameters and multiplies the likelihood",
        left_out: "from means and shape of the summaries fitted to the others, with the same summaries, hyperparameters and spreads",
        predicted: "New outputs were drawn from a location-scale model of the statistics at {} draws of the posterior; the simulator was not run again.",
        at_bound: "A summary with next to no noise hardly varies between runs at the same parameters, so small errors of its regression count and more simulations help.",
        tolerances_have_a_trend: false,
    },
};

fn learned_from(question: &Question, settings: &FitOptions, on_progress: OnProgress<'_>) -> Result<Arc<dyn Model>, Error> {
    let learn = |go_on: &(dyn Fn() -> bool + Sync)| SummariesLikelihood::learn_in(None, question, settings.seed(), go_on);
    learn_by_regression("the model of learned summaries", 2 * question.prior.dimension(), question, on_progress, learn)
}

fn learned_in(frame: Option<&Frame>, question: &Question, seed: u64, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Arc<dyn Model>, Error> {
    Ok(Arc::new(SummariesLikelihood::learn_in(frame, question, seed, go_on)?))
}

fn load(question: &Question, hyperparameters: &Value, _learned: Option<&Value>) -> Result<Arc<dyn Model>, Error> {
    Ok(Arc::new(SummariesLikelihood::new(question, &read::<SummariesHyperparameters>(hyperparameters)?)?))
}

impl Model for SummariesLikelihood {
    fn family(&self) -> &'static ModelFamily {
        &SUMMARIES
    }

    fn question(&self) -> &Question {
        &self.question
    }

    fn at(&self, observation: &Observation) -> Result<Arc<dyn Model>, Error> {
        Ok(Arc::new(self.condition(observation)?))
    }

    fn of_part(&self, simulations: &[usize]) -> Result<Arc<dyn Model>, Error> {
        Ok(Arc::new(self.on_part(simulations)?))
    }

    fn learned_anew(&self, simulations: &[usize], seed: u64) -> Result<Arc<dyn Model>, Error> {
        let (frame, part) = (self.inner.hyperparameters().frame.as_ref(), self.question.of_part(simulations)?);
        Ok(Arc::new(Self::learn_in(frame, &part, seed, &|| true)?))
    }

    fn format(&self) -> u32 {
        self.inner.format().max(SUMMARIES.format)
    }

    /// The same simulations near the observation as for the statistics themselves: scores are compared.
    fn left_out(&self, draws: &Points, seed: u64) -> Result<LeftOut, Error> {
        match (&self.question.recorded, self.question.observed()) {
            (Recorded::Statistics(simulations), Some(y)) => self.inner.leave_one_out_near(simulations, y, draws, seed),
            _ => Err(self.lacks("leave-one-out posteriors")),
        }
    }

    fn statistic_reports(&self) -> Vec<StatisticReport> {
        self.of_statistics().map_or_else(|_| vec![], |model| model.reports())
    }

    fn at_bound(&self) -> Option<Vec<String>> {
        let names = self.inner.statistics_at_bound();
        Some(names.into_iter().map(|name| name.replace("of statistic", "of summary")).collect())
    }

    fn predicted(&self, draws: &Points) -> Result<PredictedOutputs, Error> {
        self.of_statistics()?.predicted(draws)
    }

    fn frame(&self) -> Option<&Frame> {
        self.inner.frame()
    }

    fn used(&self) -> Vec<usize> {
        self.inner.used()
    }

    fn outputs_at(&self, z: &Points, seed: u64) -> Option<Points> {
        Some(self.of_statistics().ok()?.outputs_at(z, seed))
    }

    fn chosen(&self) -> Chosen {
        self.inner.chosen()
    }

    fn saved_hyperparameters(&self) -> Value {
        json!(self.hyperparameters())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
