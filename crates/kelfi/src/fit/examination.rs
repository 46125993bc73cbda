//! Can the answer be trusted? One list of checks for every place that shows them; what is costly is found once.

use crate::checks::{self, Check, Status};
use crate::diagnostics::{Calibration, Halves, Predicted, Predictive, Steadiness, predictive, range, steadiness};
use crate::model::Likelihood;
use crate::model::location_scale::leave_one_out::LeftOut;
use crate::posterior::Form;
use crate::simulations::{Observation, Recorded};
use crate::{Error, Posterior};
use std::sync::OnceLock;

/// Posterior draws at which predictions of the location-scale model are made.
const PREDICTED: usize = 2_000;

/// What is examined.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// The posterior.
    pub posterior: &'a Posterior,
    /// The model it comes from.
    pub likelihood: &'a Likelihood,
    /// The observation it is of.
    pub observation: &'a Observation,
    /// Names of the statistics, as far as they have any.
    pub statistics: &'a [String],
    /// Leave-one-out posteriors of the location-scale model, where they were made already.
    pub left_out: Option<&'a LeftOut>,
    /// Hyperparameters that ended on a bound of their search; `None` where there was no search.
    pub at_bound: Option<Vec<String>>,
    /// How halves of the simulations are fitted.
    pub halves: Halves,
    /// The seed of the fit.
    pub seed: u64,
}

impl Subject<'_> {
    /// A name for every statistic.
    fn statistic_names(&self) -> Vec<String> {
        let count = if let Observation::Statistics(y) = self.observation { y.len() } else { 0 };
        (0..count).map(|i| self.statistics.get(i).cloned().unwrap_or_else(|| format!("statistic {}", i + 1))).collect()
    }
}

/// The predictive of every statistic, and how many outputs of equal weight it amounts to.
#[derive(Debug, Clone)]
pub struct PredictedStatistics {
    /// Each statistic beside its observed value.
    pub of_each: Vec<Predicted>,
    /// 1/Σw².
    pub effective: f64,
}

/// What was found so far about one subject; it must be asked about that one only.
#[derive(Debug, Default)]
pub struct Examination {
    calibration: OnceLock<Result<Calibration, Error>>,
    predicted: OnceLock<Option<PredictedStatistics>>,
    steadiness: OnceLock<Option<Steadiness>>,
    checks: OnceLock<Vec<Check>>,
}

impl Examination {
    /// Leave-one-out calibration near the observation.
    pub fn calibration(&self, subject: &Subject<'_>) -> Result<&Calibration, &Error> {
        let make = || match subject.left_out {
            Some(left_out) => Ok(Calibration::of_left_out(left_out)),
            None => Calibration::of_posterior(subject.likelihood, subject.posterior, subject.observation, subject.seed),
        };
        self.calibration.get_or_init(make).as_ref()
    }

    /// What the posterior predicts for every statistic; `None` where there are none, or none can be predicted.
    pub fn predicted(&self, subject: &Subject<'_>) -> Option<&PredictedStatistics> {
        let make = || {
            let Observation::Statistics(y) = subject.observation else { return None };
            let found = predictive_of(subject.posterior, subject.likelihood).ok()?;
            let of_each = y.iter().enumerate().map(|(i, &y)| found.statistic(i, y)).collect();
            Some(PredictedStatistics { of_each, effective: found.effective() })
        };
        self.predicted.get_or_init(make).as_ref()
    }

    /// How far more simulations would move the posterior.
    pub fn steadiness(&self, subject: &Subject<'_>) -> Option<&Steadiness> {
        let make =
            || Steadiness::new(subject.posterior, subject.likelihood, subject.observation, subject.halves, subject.seed).ok().flatten();
        self.steadiness.get_or_init(make).as_ref()
    }

    /// All checks.
    pub fn checks(&self, subject: &Subject<'_>) -> &[Check] {
        self.checks.get_or_init(|| self.made(subject))
    }

    fn made(&self, subject: &Subject<'_>) -> Vec<Check> {
        let carried_by = if let Likelihood::KernelMeans(model) = subject.likelihood { Some(model.carried_by()) } else { None };
        let simulations = subject.likelihood.recorded().theta().rows();
        let names = subject.statistic_names();
        let mut all = vec![];
        if let (Recorded::Statistics(simulations), Observation::Statistics(y)) = (subject.likelihood.recorded(), subject.observation) {
            all.push(range::check(simulations, y, &names));
        }
        all.extend(subject.posterior.checks());
        all.push(steadiness::effective_simulations(self.steadiness(subject), carried_by, simulations));
        all.extend(subject.at_bound.as_ref().map(|names| checks::hyperparameter_at_bound(names)));
        all.push(match self.calibration(subject) {
            Ok(calibration) => calibration.check(subject.posterior.prior().names()),
            Err(error) => Check {
                name: "calibration".into(),
                status: Status::Warn,
                value: 0.0,
                limit: 0.95,
                message: format!("calibration could not be looked at: {}", error.to_string().replace("\n  ", "; ")),
            },
        });
        all.extend(self.predicted(subject).map(|found| predictive::check(&found.of_each, &names)));
        all
    }
}

/// The posterior predictive of either model.
pub fn predictive_of(posterior: &Posterior, likelihood: &Likelihood) -> Result<Predictive, Error> {
    match (likelihood, posterior.form()) {
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
