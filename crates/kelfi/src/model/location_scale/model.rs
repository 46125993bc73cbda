//! The location-scale likelihood as one of the models.

use super::constants::health::PREDICTED;
use super::{LocationScaleHyperparameters, LocationScaleLikelihood};
use crate::model::by_regression::learn_by_regression;
use crate::model::family::{InRounds, Words};
use crate::model::kernel_means::learning::{EpsilonChoice, KernelMeansOptions, LengthScaleChoice, Objective, RegularizationChoice};
use crate::model::location_scale::frame::Frame;
use crate::model::saved::read;
use crate::model::{Chosen, FitOptions, LeftOut, Model, ModelFamily, OnProgress, PredictedOutputs, StatisticReport};
use crate::question::Question;
use crate::simulations::{Observation, Outputs};
use crate::{Error, Points};
use serde_json::{Value, json};
use std::any::Any;
use std::sync::Arc;

/// Our model.
pub static LOCATION_SCALE: ModelFamily = ModelFamily {
    name: "location-scale",
    title: "location-scale",
    summary: "Regressions for the mean and spread of each statistic, kernel means for the shape of the residuals",
    format: 2,
    in_auto: true,
    takes_settings: false,
    learn: learned_from,
    load,
    takes: |outputs| outputs != Outputs::Rows,
    in_rounds: InRounds::Locally(learned_in),
    refuses: only_for_kernel_means,
    words: Words {
        failures: "The probability of success is learned as a function of the parameters and multiplies the likelihood",
        left_out: "from means and shape fitted to the others, with the same hyperparameters and spreads",
        predicted: "New outputs were drawn from the fitted model at {} draws of the posterior; the simulator was not run again.",
        at_bound: "Look at R² of this statistic below. Near 1, it hardly varies between runs at the same parameters, so small errors of its regression matter and more simulations help. Near 0, it says nothing about the parameters and can be left out.",
        tolerances_have_a_trend: false,
    },
};

fn only_for_kernel_means(settings: &FitOptions) -> Option<&'static str> {
    let (learn, defaults) = (&settings.learn, KernelMeansOptions::default());
    if learn.objective != Objective::LeaveOneOut {
        return Some("the marginal likelihood as objective");
    }
    if learn.family != defaults.family {
        return Some("the kernel");
    }
    match (&learn.epsilon, &learn.length_scale, learn.regularization) {
        (EpsilonChoice::Fixed(_), _, _) => Some("a tolerance"),
        (_, LengthScaleChoice::Fixed(_), _) => Some("a length scale"),
        (_, _, RegularizationChoice::Fixed(_)) => Some("a regularisation"),
        _ => None,
    }
}

fn learned_from(question: &Question, settings: &FitOptions, on_progress: OnProgress<'_>) -> Result<Arc<dyn Model>, Error> {
    let steps = question.observed().map_or(0, <[f64]>::len);
    let learn = |go_on: &(dyn Fn() -> bool + Sync)| LocationScaleLikelihood::learn(question, settings.seed(), go_on);
    learn_by_regression("the location-scale model", steps, question, on_progress, learn)
}

fn learned_in(frame: Option<&Frame>, question: &Question, seed: u64, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Arc<dyn Model>, Error> {
    Ok(Arc::new(match frame {
        Some(_) => LocationScaleLikelihood::learn_in(frame, question, seed, go_on)?,
        None => LocationScaleLikelihood::learn(question, seed, go_on)?,
    }))
}

fn load(question: &Question, hyperparameters: &Value, _learned: Option<&Value>) -> Result<Arc<dyn Model>, Error> {
    Ok(Arc::new(LocationScaleLikelihood::new(question, &read::<LocationScaleHyperparameters>(hyperparameters)?)?))
}

impl Model for LocationScaleLikelihood {
    fn family(&self) -> &'static ModelFamily {
        &LOCATION_SCALE
    }

    fn question(&self) -> &Question {
        &self.question
    }

    /// Simulations that were chosen for one observation are not those for another.
    fn at(&self, observation: &Observation) -> Result<Arc<dyn Model>, Error> {
        if self.is_of_many() {
            return Ok(Arc::new(Self::learn(&self.question.at(observation), self.hyperparameters().seed, &|| true)?));
        }
        Ok(Arc::new(self.condition(observation)?))
    }

    fn of_part(&self, simulations: &[usize]) -> Result<Arc<dyn Model>, Error> {
        Ok(Arc::new(self.on_part(simulations)?))
    }

    fn learned_anew(&self, simulations: &[usize], seed: u64) -> Result<Arc<dyn Model>, Error> {
        let (frame, part) = (self.hyperparameters().frame.as_ref(), self.question.of_part(simulations)?);
        Ok(Arc::new(Self::learn_in(frame, &part, seed, &|| true)?))
    }

    /// Local coordinates are news to readers of version 2, correlations that move and a choice among the simulations of a region to those of
    /// version 3, a spread that all statistics share to those of version 5, mean and spread fitted in turn to all simulations to those of
    /// version 6.
    fn format(&self) -> u32 {
        let moves = self.regions().any(|model| !model.hyperparameters().moving.is_empty());
        let from_all = |model: &Self| model.hyperparameters().statistics.iter().any(|statistic| statistic.from_all);
        match self.hyperparameters().frame {
            _ if self.regions().any(from_all) => 7,
            _ if self.regions().any(|model| model.hyperparameters().common_spread.is_some()) => 6,
            _ if moves || self.is_thinned() => 4,
            Some(_) => 3,
            None => LOCATION_SCALE.format,
        }
    }

    fn knows_repeats(&self) -> bool {
        true
    }

    fn left_out(&self, draws: &Points, seed: u64) -> Result<LeftOut, Error> {
        self.leave_one_out(draws, seed)
    }

    fn statistic_reports(&self) -> Vec<StatisticReport> {
        self.reports()
    }

    fn at_bound(&self) -> Option<Vec<String>> {
        Some(self.statistics_at_bound())
    }

    fn predicted(&self, draws: &Points) -> Result<PredictedOutputs, Error> {
        if draws.rows() == 0 {
            return Err(Error::Unavailable {
                what: "the predictive distribution".into(),
                reason: "this prior is given only as draws; give it as a distribution".into(),
            });
        }
        let some: Vec<usize> = (0..draws.rows().min(PREDICTED)).collect();
        let outputs = self.outputs_at(&draws.select(&some), 0);
        Ok(PredictedOutputs { weights: vec![1.0 / outputs.rows() as f64; outputs.rows()], outputs })
    }

    fn frame(&self) -> Option<&Frame> {
        self.hyperparameters().frame.as_ref()
    }

    fn used(&self) -> Vec<usize> {
        Self::used(self)
    }

    fn outputs_at(&self, z: &Points, seed: u64) -> Option<Points> {
        Some(Self::outputs_at(self, z, seed))
    }

    fn chosen(&self) -> Chosen {
        let shape = self.hyperparameters().shape;
        Chosen {
            objective: Objective::LeaveOneOut,
            length_scale: vec![shape.length_scale; self.question.prior.dimension()],
            regularization: shape.ridge / self.residuals().rows() as f64,
            low_rank: None,
        }
    }

    fn saved_hyperparameters(&self) -> Value {
        json!(self.hyperparameters())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
