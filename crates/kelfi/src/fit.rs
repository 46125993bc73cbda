//! Either model through one door: the one asked for, or the one whose leave-one-out posteriors do better on these simulations.

use crate::diagnostics::{Calibration, Predictive};
use crate::learning::learned::{OnProgress, Progress};
use crate::learning::local_set::weighted_mean;
use crate::learning::{
    EpsilonChoice, LearnSettings, Learned, LengthScaleChoice, Objective, RegularizationChoice, StatisticReport, local_score,
};
use crate::model::location_scale::leave_one_out::LeftOut;
use crate::model::{KernelMeansLikelihood, Kind, Likelihood, LocationScaleLikelihood};
use crate::posterior::Form;
use crate::posterior::checks::{Check, hyperparameter_at_bound};
use crate::simulations::{Observation, Recorded, Simulations};
use crate::{Error, Inference, Points, Posterior, Prior};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// Posterior draws at which predictions of the location-scale model are made.
const PREDICTED: usize = 2_000;
/// Steps of the chains and the leave-one-out posteriors, for progress bars.
const STEPS_OF_CHAINS: usize = 115;

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

/// How the hyperparameters were chosen and what leaving simulations out says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Account {
    /// Of the kernel means model.
    KernelMeans(Box<Learned>),
    /// Of the location-scale model.
    LocationScale(LeftOut),
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
    /// The surrogate likelihood.
    pub likelihood: Likelihood,
    /// How its hyperparameters were chosen.
    pub account: Account,
    /// How the model was chosen, where that was left open.
    pub comparison: Option<Comparison>,
}

impl From<Inference> for Fit {
    fn from(inference: Inference) -> Self {
        Self {
            posterior: inference.posterior,
            likelihood: Likelihood::KernelMeans(inference.model),
            account: Account::KernelMeans(Box::new(inference.learned)),
            comparison: None,
        }
    }
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

    /// From a model built before.
    pub fn rebuild(likelihood: Likelihood, account: Account, comparison: Option<Comparison>, seed: u64) -> Result<Self, Error> {
        Ok(Self { posterior: Posterior::new(likelihood.surrogate(), seed)?, likelihood, account, comparison })
    }

    fn alone(self, chosen: Kind, reason: String) -> Self {
        let comparison = Comparison { chosen, reason, kernel_means: None, location_scale: None, difference: None };
        Self { comparison: Some(comparison), ..self }
    }

    /// The kernel means model and how it was learned, if that is the one.
    pub fn kernel_means(&self) -> Option<(&KernelMeansLikelihood, &Learned)> {
        match (&self.likelihood, &self.account) {
            (Likelihood::KernelMeans(model), Account::KernelMeans(learned)) => Some((model, learned)),
            _ => None,
        }
    }

    /// The location-scale model and its leave-one-out posteriors, if that is the one.
    pub fn location_scale(&self) -> Option<(&LocationScaleLikelihood, &LeftOut)> {
        match (&self.likelihood, &self.account) {
            (Likelihood::LocationScale(model), Account::LocationScale(left_out)) => Some((model, left_out)),
            _ => None,
        }
    }

    /// The leave-one-out posterior score in nats and its standard error.
    pub fn score(&self) -> Option<(f64, f64)> {
        match &self.account {
            Account::KernelMeans(learned) => learned.score.zip(learned.score_standard_error),
            Account::LocationScale(left_out) => Some(left_out.score()),
        }
    }

    /// Tolerance and relevance of every statistic.
    pub fn statistics(&self) -> Vec<StatisticReport> {
        match (&self.likelihood, &self.account) {
            (Likelihood::LocationScale(model), _) => model.statistic_reports(),
            (_, Account::KernelMeans(learned)) => learned.statistics.clone(),
            _ => vec![],
        }
    }

    /// Names of hyperparameters that ended on a bound of their search.
    pub fn at_bound(&self) -> Vec<String> {
        match (&self.likelihood, &self.account) {
            (Likelihood::LocationScale(model), _) => model.at_bound(),
            (_, Account::KernelMeans(learned)) => learned.at_bound.clone(),
            _ => vec![],
        }
    }

    /// All checks: the posterior's, whether a hyperparameter ended on a bound, and calibration where it costs nothing more.
    pub fn checks(&self) -> Vec<Check> {
        let mut all = self.posterior.checks();
        all.push(hyperparameter_at_bound(&self.at_bound()));
        if let Account::LocationScale(left_out) = &self.account {
            all.push(Calibration::of_left_out(left_out).check(self.posterior.prior().names()));
        }
        all
    }

    /// Leave-one-out calibration near the observation.
    pub fn calibration(&self, observation: &Observation) -> Result<Calibration, Error> {
        match (&self.likelihood, &self.account) {
            (Likelihood::KernelMeans(model), _) => Calibration::new(model, observation),
            (_, Account::LocationScale(left_out)) => Ok(Calibration::of_left_out(left_out)),
            _ => Err(Error::Unavailable { what: "calibration".into(), reason: "nothing was left out when this model was learned".into() }),
        }
    }

    /// What the posterior predicts for every statistic.
    pub fn predicted(&self) -> Result<Predictive, Error> {
        match (&self.likelihood, self.posterior.form()) {
            (Likelihood::KernelMeans(model), _) => Predictive::new(model),
            (Likelihood::LocationScale(model), Form::Chained(chained)) => {
                let draws = chained.draws().z();
                let some: Vec<usize> = (0..draws.rows().min(PREDICTED)).collect();
                Ok(Predictive::of_outputs(model.outputs_at(&draws.select(&some), 0)))
            }
            (Likelihood::LocationScale(_), _) => Err(Error::Unavailable {
                what: "the predictive distribution".into(),
                reason: "this prior is known by its draws only; give it as a distribution".into(),
            }),
        }
    }

    /// The same simulations and hyperparameters at another observation.
    pub fn condition(&self, observation: &Observation, seed: u64) -> Result<Posterior, Error> {
        Posterior::new(self.likelihood.condition(observation)?.surrogate(), seed)
    }
}

/// What is asked of either model.
struct Question<'a> {
    recorded: &'a Recorded,
    observation: &'a Observation,
    prior: &'a Prior,
    settings: &'a FitSettings,
}

impl Question<'_> {
    fn kernel_means(&self, on_progress: OnProgress<'_>) -> Result<Fit, Error> {
        Inference::new(self.recorded, self.observation, self.prior, &self.settings.learn, on_progress).map(Fit::from)
    }

    fn location_scale(&self, on_progress: OnProgress<'_>) -> Result<Fit, Error> {
        let seed = self.settings.learn.seed;
        let statistics = if let Observation::Statistics(y) = self.observation { y.len() } else { 0 };
        let steps = Mutex::new((on_progress, 0));
        let go_on = || {
            let mut steps = steps.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            steps.1 += 1;
            let progress = Progress { done: steps.1, expected: (statistics + STEPS_OF_CHAINS).max(steps.1), best: f64::NAN };
            (steps.0)(progress)
        };
        let model = Arc::new(LocationScaleLikelihood::learn(self.recorded, self.observation, self.prior, seed, &go_on)?);
        let posterior = Posterior::with_progress(model.clone(), seed, &mut || go_on())?;
        let Form::Chained(chained) = posterior.form() else {
            return Err(Error::Unavailable {
                what: "the location-scale model".into(),
                reason: "this prior is known by its draws only; give it as a distribution, or use the kernel means model".into(),
            });
        };
        let left_out = model.leave_one_out(chained.draws().z(), seed)?;
        Ok(Fit { posterior, likelihood: Likelihood::LocationScale(model), account: Account::LocationScale(left_out), comparison: None })
    }

    /// Both, then the one with the higher score; the only one that works where the other does not.
    fn better(&self, on_progress: OnProgress<'_>) -> Result<Fit, Error> {
        let ours = match self.location_scale(&mut *on_progress) {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => {
                let reason = format!("the location-scale model cannot be used here: {error}");
                return self.kernel_means(on_progress).map(|fit| fit.alone(Kind::KernelMeans, reason));
            }
            Ok(fit) => fit,
        };
        let papers = match self.kernel_means(on_progress) {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => {
                return Ok(ours.alone(Kind::LocationScale, format!("the kernel means model cannot be used here: {error}")));
            }
            Ok(fit) => fit,
        };
        let comparison = self.compare(&papers, &ours)?;
        let chosen = if comparison.chosen == Kind::KernelMeans { papers } else { ours };
        Ok(Fit { comparison: Some(comparison), ..chosen })
    }

    fn compare(&self, papers: &Fit, ours: &Fit) -> Result<Comparison, Error> {
        let (Some((model, _)), Some((_, left_out))) = (papers.kernel_means(), ours.location_scale()) else {
            unreachable!("each fit is of its own kind")
        };
        let (local, scored) = local_score(model, self.observation, self.settings.learn.seed)?;
        let of = |simulation: &usize| local.indices.iter().position(|i| i == simulation).map(|row| scored.of_each[row]);
        let theirs: Option<Vec<f64>> = left_out.indices.iter().map(of).collect();
        let theirs = theirs.ok_or_else(|| Error::Unavailable {
            what: "comparing the models".into(),
            reason: "they tried different simulations as observations".into(),
        })?;
        let kernel_means = weighted_mean(&theirs, &left_out.weights);
        let location_scale = left_out.score();
        let gains: Vec<f64> = left_out.scores.iter().zip(&theirs).map(|(a, b)| a - b).collect();
        let difference = weighted_mean(&gains, &left_out.weights);
        let chosen = if difference.0 > 0.0 { Kind::LocationScale } else { Kind::KernelMeans };
        let reason = format!(
            "it gives the true parameters of {} simulations near the observation {:.2} ± {:.2} nats more posterior density",
            gains.len(),
            difference.0.abs(),
            difference.1
        );
        Ok(Comparison {
            chosen,
            reason,
            kernel_means: Some(kernel_means),
            location_scale: Some(location_scale),
            difference: Some(difference),
        })
    }
}

/// The whole method with its defaults: parameters `theta` (m × D) with outputs `x` (m × n; a row with NaN is a failed simulation),
/// an observation and a prior.
pub fn infer(theta: Points, x: Points, observation: &[f64], prior: &Prior) -> Result<Fit, Error> {
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, x)?));
    Fit::new(&recorded, &Observation::Statistics(observation.to_vec()), prior, &FitSettings::default(), &mut |_| true)
}
