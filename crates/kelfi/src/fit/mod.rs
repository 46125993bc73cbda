//! Either model through one door: the one asked for, or the one whose leave-one-out posteriors do better on these simulations.

/// One list of checks.
pub mod examination;
mod fitted_model;
/// What happened, round by round.
pub mod history;
/// Where the posterior is, and how far a round moved it.
pub mod movement;
mod question;

pub use examination::{Examination, PredictedStatistics, Subject};
pub use fitted_model::{Account, FittedModel};
use history::History;

use crate::checks::Check;
use crate::diagnostics::{Calibration, Halves, Predictive, Steadiness};
use crate::model::kernel_means::learning::learned::{OnProgress, Progress};
use crate::model::kernel_means::learning::{
    EpsilonChoice, LearnSettings, Learned, LengthScaleChoice, Objective, RegularizationChoice, StatisticReport,
};
use crate::model::location_scale::leave_one_out::LeftOut;
use crate::model::{KernelMeansLikelihood, Kind, Likelihood, LocationScaleLikelihood};
use crate::simulations::{Observation, Recorded, Simulations};
use crate::{Error, Inference, Points, Posterior, Prior};
use question::Question;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which model to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelChoice {
    /// The one with the higher leave-one-out posterior score.
    #[default]
    Auto,
    /// This one.
    Use(Kind),
}

/// Everything there is to decide before a fit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FitSettings {
    /// Which model.
    pub model: ModelChoice,
    /// What the kernel means model learns, and the seed of both.
    pub learn: LearnSettings,
}

impl FitSettings {
    /// This model with defaults.
    pub fn of(model: ModelChoice, seed: u64) -> Self {
        Self { model, learn: LearnSettings { seed, ..LearnSettings::default() } }
    }

    /// What was decided that only the kernel means model knows, if anything.
    fn only_for_kernel_means(&self) -> Option<&'static str> {
        let defaults = LearnSettings::default();
        if self.learn.objective != Objective::LeaveOneOut {
            return Some("the marginal likelihood as objective");
        }
        if self.learn.family != defaults.family {
            return Some("the kernel");
        }
        match (&self.learn.epsilon, &self.learn.length_scale, self.learn.regularization) {
            (EpsilonChoice::Fixed(_), _, _) => Some("a tolerance"),
            (_, LengthScaleChoice::Fixed(_), _) => Some("a length scale"),
            (_, _, RegularizationChoice::Fixed(_)) => Some("a regularisation"),
            _ => None,
        }
    }
}

/// Both models on the same simulations, each near the observation as observation of a model without it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The one used.
    pub chosen: Kind,
    /// Why, in a sentence.
    pub reason: String,
    /// Mean score of the kernel means model and its standard error, in nats of posterior over prior density at the truth.
    pub kernel_means: Option<(f64, f64)>,
    /// The same of the location-scale model.
    pub location_scale: Option<(f64, f64)>,
    /// Location-scale less kernel means, simulation by simulation: mean and standard error.
    pub difference: Option<(f64, f64)>,
}

/// A posterior with the model it comes from and how that was chosen.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The posterior.
    pub posterior: Posterior,
    /// The model and how it was learned.
    pub model: FittedModel,
    /// How the model was chosen, where that was left open.
    pub comparison: Option<Comparison>,
    observation: Observation,
    seed: u64,
    statistics: Vec<String>,
    examination: Arc<Examination>,
    history: Option<Arc<History>>,
}

impl Fit {
    /// Learns what `settings` leaves open and builds the posterior. `on_progress` answers whether to go on.
    pub fn new(
        recorded: &Recorded,
        observation: &Observation,
        prior: &Prior,
        settings: &FitSettings,
        on_progress: OnProgress<'_>,
    ) -> Result<Self, Error> {
        let question = Question { recorded, observation, prior, settings };
        match (settings.model, settings.only_for_kernel_means()) {
            (ModelChoice::Use(Kind::KernelMeans), _) => question.kernel_means(on_progress),
            (ModelChoice::Use(Kind::LocationScale), None) => question.location_scale(on_progress),
            (ModelChoice::Use(Kind::LocationScale), Some(what)) => Err(Error::Unavailable {
                what: format!("the location-scale model with {what} given"),
                reason: "only the kernel means model has it; leave it out, or use the kernel means model".into(),
            }),
            (ModelChoice::Auto, Some(what)) => {
                let reason = format!("{what} was given, which only this model has");
                question.kernel_means(on_progress).map(|fit| fit.alone(Kind::KernelMeans, reason))
            }
            (ModelChoice::Auto, None) => question.better(on_progress),
        }
    }

    /// The posterior of a location-scale model learned before.
    pub(crate) fn of_location_scale(model: Arc<LocationScaleLikelihood>, seed: u64, on_progress: OnProgress<'_>) -> Result<Self, Error> {
        let steps = std::cell::RefCell::new((on_progress, 0));
        let go_on = || {
            let mut steps = steps.borrow_mut();
            steps.1 += 1;
            let progress = Progress { done: steps.1, expected: steps.1 + 1, best: f64::NAN };
            (steps.0)(progress)
        };
        question::finished(model, seed, &go_on)
    }

    /// That of a kernel means model.
    pub(crate) fn of_kernel_means(inference: Inference, observation: &Observation, seed: u64) -> Self {
        let Inference { posterior, model, learned } = inference;
        Self::of(posterior, FittedModel::KernelMeans { likelihood: model, learned: Box::new(learned) }, observation, seed)
    }

    /// The same with the rounds it came from, whose checks join its own.
    pub fn after_rounds(self, history: History) -> Self {
        Self { history: Some(Arc::new(history)), ..self }
    }

    /// The rounds it came from, where there were several.
    pub fn history(&self) -> Option<&History> {
        self.history.as_deref()
    }

    /// From a model built before at this observation; `account` is of the same kind.
    pub fn rebuild(
        likelihood: Likelihood,
        account: Account,
        comparison: Option<Comparison>,
        observation: &Observation,
        seed: u64,
    ) -> Result<Self, Error> {
        let posterior = Posterior::new(likelihood.surrogate(), seed)?;
        Ok(Self { comparison, ..Self::of(posterior, FittedModel::new(likelihood, account)?, observation, seed) })
    }

    fn of(posterior: Posterior, model: FittedModel, observation: &Observation, seed: u64) -> Self {
        Self {
            posterior,
            model,
            comparison: None,
            observation: observation.clone(),
            seed,
            statistics: vec![],
            examination: Arc::default(),
            history: None,
        }
    }

    /// The same with names for its statistics, which its checks use.
    pub fn named(self, statistics: Vec<String>) -> Self {
        Self { statistics, examination: Arc::default(), ..self }
    }

    fn alone(self, chosen: Kind, reason: String) -> Self {
        let comparison = Comparison { chosen, reason, kernel_means: None, location_scale: None, difference: None };
        Self { comparison: Some(comparison), ..self }
    }

    /// The kernel means model and how it was learned, if that is the one.
    pub fn kernel_means(&self) -> Option<(&KernelMeansLikelihood, &Learned)> {
        match &self.model {
            FittedModel::KernelMeans { likelihood, learned } => Some((likelihood, learned)),
            FittedModel::LocationScale { .. } => None,
        }
    }

    /// The location-scale model and its leave-one-out posteriors, if that is the one.
    pub fn location_scale(&self) -> Option<(&LocationScaleLikelihood, &LeftOut)> {
        match &self.model {
            FittedModel::LocationScale { likelihood, left_out } => Some((likelihood, left_out)),
            FittedModel::KernelMeans { .. } => None,
        }
    }

    /// The leave-one-out posterior score in nats and its standard error.
    pub fn score(&self) -> Option<(f64, f64)> {
        match &self.model {
            FittedModel::KernelMeans { learned, .. } => learned.score.zip(learned.score_standard_error),
            FittedModel::LocationScale { left_out, .. } => Some(left_out.score()),
        }
    }

    /// Tolerance and relevance of every statistic.
    pub fn statistics(&self) -> Vec<StatisticReport> {
        match &self.model {
            FittedModel::KernelMeans { learned, .. } => learned.statistics.clone(),
            FittedModel::LocationScale { likelihood, .. } => likelihood.statistic_reports(),
        }
    }

    /// Names of hyperparameters that ended on a bound of their search.
    pub fn at_bound(&self) -> Vec<String> {
        match &self.model {
            FittedModel::KernelMeans { learned, .. } => learned.at_bound.clone(),
            FittedModel::LocationScale { likelihood, .. } => likelihood.at_bound(),
        }
    }

    /// All checks, the same wherever they are shown. What is costly is found once.
    pub fn checks(&self) -> Vec<Check> {
        let mut all = self.examined(|examination, subject| examination.checks(subject).to_vec());
        all.extend(self.history.iter().flat_map(|history| history.checks.iter().cloned()));
        all
    }

    /// Leave-one-out calibration near the observation.
    pub fn calibration(&self) -> Result<Calibration, Error> {
        self.examined(|examination, subject| examination.calibration(subject).cloned().map_err(Clone::clone))
    }

    /// What the posterior predicts for every statistic, beside what was observed; `None` where there is nothing to compare.
    pub fn predicted_statistics(&self) -> Option<PredictedStatistics> {
        self.examined(|examination, subject| examination.predicted(subject).cloned())
    }

    /// How far more simulations would move the posterior; `None` where there are too few to tell.
    pub fn steadiness(&self) -> Option<Steadiness> {
        self.examined(|examination, subject| examination.steadiness(subject).cloned())
    }

    /// How halves of the simulations are fitted: the location-scale model learns everything; the kernel means model does where both were compared, which is never so with anything given.
    pub fn halves(&self) -> Halves {
        let compared = self.comparison.as_ref().is_some_and(|comparison| comparison.difference.is_some());
        if compared || self.model.kind() == Kind::LocationScale { Halves::Learn } else { Halves::Keep }
    }

    fn examined<T>(&self, ask: impl FnOnce(&Examination, &Subject<'_>) -> T) -> T {
        let subject = Subject {
            posterior: &self.posterior,
            likelihood: &self.model.likelihood(),
            observation: &self.observation,
            statistics: &self.statistics,
            left_out: self.location_scale().map(|(_, left_out)| left_out),
            at_bound: Some(self.at_bound()),
            halves: self.halves(),
            seed: self.seed,
        };
        ask(&self.examination, &subject)
    }

    /// What the posterior predicts for every statistic.
    pub fn predicted(&self) -> Result<Predictive, Error> {
        examination::predictive_of(&self.posterior, &self.model.likelihood())
    }

    /// The same simulations and hyperparameters at another observation.
    pub fn condition(&self, observation: &Observation, seed: u64) -> Result<Posterior, Error> {
        Posterior::new(self.model.likelihood().condition(observation)?.surrogate(), seed)
    }
}

/// The whole method with its defaults: parameters `theta` (m × D) with outputs `x` (m × n; a row with NaN is a failed simulation),
/// an observation and a prior.
pub fn infer(theta: Points, x: Points, observation: &[f64], prior: &Prior) -> Result<Fit, Error> {
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, x)?));
    Fit::new(&recorded, &Observation::Statistics(observation.to_vec()), prior, &FitSettings::default(), &mut |_| true)
}
