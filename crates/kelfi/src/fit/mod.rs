//! The front door: any model, or the best of several, with its posterior and what leaving simulations out says.

mod choice;
/// One list of checks.
pub mod examination;
/// What happened, round by round.
pub mod history;
/// Where the posterior is, and how far a round moved it.
pub mod movement;

pub use choice::{ModelChoiceReport, Score};
pub use examination::{Examination, PredictedStatistics};

use crate::checks::Check;
use crate::diagnostics::{Calibration, Halves, Predictive, Steadiness};
use crate::model::saved::{SavedModel, read};
use crate::model::{FitOptions, LeftOut, Model, ModelChoice, ModelFamily, OnProgress, Progress, Scores, Shares, StatisticReport};
use crate::posterior::Representation;
use crate::question::Question;
use crate::simulations::{Observation, Recorded, Simulations};
use crate::{Error, Points, Posterior, Prior};
use history::History;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

/// A model with its posterior, what leaving out says, and how the model was chosen. The one type that command line, report and Python hold.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The posterior.
    pub posterior: Posterior,
    /// The model.
    pub model: Arc<dyn Model>,
    /// How the model was chosen, where that was left open.
    pub comparison: Option<ModelChoiceReport>,
    left_out: Arc<OnceLock<Result<LeftOut, Error>>>,
    shares: Arc<OnceLock<Result<Shares, Error>>>,
    seed: u64,
    statistics: Vec<String>,
    examination: Arc<Examination>,
    history: Option<Arc<History>>,
}

impl Fit {
    /// Learns what `settings` leaves open and builds the posterior. `on_progress` answers whether to go on.
    pub fn new(question: &Question, settings: &FitOptions, on_progress: OnProgress<'_>) -> Result<Self, Error> {
        match settings.model {
            ModelChoice::Auto => choice::best(question, settings, on_progress),
            ModelChoice::Use(family) => match family.require_taking(question.recorded.outputs()).map(|()| (family.refuses)(settings))? {
                None => Self::of_family(family, question, settings, on_progress),
                Some(what) => Err(Error::Unavailable {
                    what: format!("the {} model with {what} given", family.title),
                    reason: "only the kernel means model has it; leave it out, or use the kernel means model".into(),
                }),
            },
        }
    }

    /// Of one kind of model.
    fn of_family(family: &ModelFamily, question: &Question, settings: &FitOptions, on_progress: OnProgress<'_>) -> Result<Self, Error> {
        let mut last = Progress { done: 0, expected: 0, best: f64::NAN };
        let model = (family.learn)(question, settings, &mut |progress| {
            last = progress;
            on_progress(progress)
        })?;
        let mut one_more = || {
            last.done += 1;
            on_progress(Progress { expected: last.expected.max(last.done), ..last })
        };
        let posterior = Posterior::with_progress(model.clone(), settings.seed(), &mut one_more)?;
        let fit = Self::with_posterior(model, posterior, settings.seed());
        match fit.model.score().map_or_else(|| fit.left_out().map(|_| ()), |_| Ok(())) {
            // A kind of model may have no leave-one-out posteriors; checks say so.
            Ok(()) | Err(Error::Unavailable { .. }) => Ok(fit),
            Err(error) => Err(error),
        }
    }

    /// Of a model with everything chosen already.
    pub fn of_model(model: Arc<dyn Model>, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Result<Self, Error> {
        let posterior = Posterior::with_progress(model.clone(), seed, go_on)?;
        Ok(Self::with_posterior(model, posterior, seed))
    }

    /// From a file; `learned` is what [`Fit::record`] gave.
    pub fn load(saved: &SavedModel, learned: Option<&Value>, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Result<Self, Error> {
        let left_out = learned.and_then(|record| read::<LeftOut>(record).ok());
        let fit = Self::of_model(saved.build(learned.filter(|_| left_out.is_none()))?, seed, go_on)?;
        if let Some(left_out) = left_out {
            fit.left_out.get_or_init(|| Ok(left_out));
        }
        Ok(fit)
    }

    /// How it was learned, for a file.
    pub fn record(&self) -> Value {
        self.model.record().or_else(|| self.left_out().ok().map(|found| json!(found))).unwrap_or(Value::Null)
    }

    fn with_posterior(model: Arc<dyn Model>, posterior: Posterior, seed: u64) -> Self {
        Self {
            posterior,
            model,
            comparison: None,
            left_out: Arc::default(),
            shares: Arc::default(),
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

    /// The same with the rounds it came from, whose checks join its own.
    pub fn after_rounds(self, history: History) -> Self {
        Self { history: Some(Arc::new(history)), ..self }
    }

    /// The rounds it came from, where there were several.
    pub fn history(&self) -> Option<&History> {
        self.history.as_deref()
    }

    /// The same with how its model was chosen.
    pub fn chosen_by(self, comparison: ModelChoiceReport) -> Self {
        Self { comparison: Some(comparison), ..self }
    }

    /// The model as this type, if it is one.
    pub fn model_as<T: Model + 'static>(&self) -> Option<&T> {
        self.model.as_any().downcast_ref::<T>()
    }

    /// What it answers.
    pub fn question(&self) -> &Question {
        self.model.question()
    }

    /// The seed it was made with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Draws of the posterior in z coordinates, where it is known by draws; none otherwise.
    fn draws(&self) -> Points {
        match self.posterior.form() {
            Representation::Chained(chained) => chained.draws().z().clone(),
            _ => Points::zeros(0, 0),
        }
    }

    /// Scores and shares from leaving simulations out, found once.
    pub fn left_out(&self) -> Result<&LeftOut, Error> {
        self.left_out.get_or_init(|| self.model.left_out(&self.draws(), self.seed)).as_ref().map_err(Clone::clone)
    }

    /// The scores alone.
    fn scores(&self) -> Result<Scores, Error> {
        match self.left_out.get() {
            Some(Ok(found)) => Ok(found.scores.clone()),
            _ => self.model.scores(&self.draws(), self.seed),
        }
    }

    /// The shares alone, found once.
    fn shares(&self) -> Result<&Shares, Error> {
        if let Some(Ok(found)) = self.left_out.get() {
            return Ok(&found.shares);
        }
        self.shares.get_or_init(|| self.model.shares(&self.draws(), self.seed)).as_ref().map_err(Clone::clone)
    }

    /// The leave-one-out posterior score in nats and its standard error.
    pub fn score(&self) -> Option<Score> {
        let left_out = || Some(self.left_out.get()?.as_ref().ok()?.scores.mean());
        self.model.score().or_else(left_out)
    }

    /// Tolerance and relevance of every statistic.
    pub fn statistics(&self) -> Vec<StatisticReport> {
        self.model.statistic_reports()
    }

    /// Names of hyperparameters that ended on a bound of their search.
    pub fn at_bound(&self) -> Vec<String> {
        self.model.at_bound().unwrap_or_default()
    }

    /// All checks, the same wherever they are shown. What is costly is found once.
    pub fn checks(&self) -> Vec<Check> {
        let mut all = self.examination.checks(self).to_vec();
        all.extend(self.history.iter().flat_map(|history| history.checks.iter().cloned()));
        all
    }

    /// Leave-one-out calibration near the observation.
    pub fn calibration(&self) -> Result<Calibration, Error> {
        self.shares().map(Calibration::of_left_out)
    }

    /// What the posterior predicts for every statistic, beside what was observed; `None` where there is nothing to compare.
    pub fn predicted_statistics(&self) -> Option<PredictedStatistics> {
        self.examination.predicted(self).cloned()
    }

    /// How halves of the simulations are fitted: with hyperparameters of their own where none of those of all was given.
    fn halves(&self) -> Halves {
        let compared = self.comparison.as_ref().is_some_and(|comparison| comparison.difference.is_some());
        if compared || !self.model.family().takes_settings { Halves::Learn } else { Halves::Keep }
    }

    /// How far more simulations would move the posterior; `None` where there are too few to tell.
    pub fn steadiness(&self) -> Option<Steadiness> {
        self.examination.steadiness(self).cloned()
    }

    /// What the posterior predicts for every statistic.
    pub fn predicted(&self) -> Result<Predictive, Error> {
        self.model.predicted(&self.draws()).map(Predictive::new)
    }

    /// The same simulations and hyperparameters at another observation.
    pub fn condition(&self, observation: &Observation, seed: u64) -> Result<Self, Error> {
        let fit = Self::of_model(self.model.at(observation)?, seed, &mut || true)?;
        Ok(fit.named(self.statistics.clone()))
    }
}

/// The whole method with its defaults: parameters `theta` (m × D) with outputs `x` (m × n; a row with NaN is a failed simulation),
/// an observation and a prior.
pub fn infer(theta: Points, x: Points, observation: &[f64], prior: &Prior) -> Result<Fit, Error> {
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, x)?));
    let question = Question::new(prior, &recorded, &Observation::Statistics(observation.to_vec()));
    Fit::new(&question, &FitOptions::default(), &mut |_| true)
}
