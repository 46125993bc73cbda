//! Can the answer be trusted? One list of checks for every place that shows them; what is costly is found once.

use super::Fit;
use crate::checks::{self, Check, Status};
use crate::diagnostics::{Predicted, Steadiness, predictive, range, steadiness};
use crate::simulations::Recorded;
use std::sync::OnceLock;

/// The predictive of every statistic, and how many outputs of equal weight it amounts to.
#[derive(Debug, Clone)]
pub struct PredictedStatistics {
    /// Each statistic beside its observed value.
    pub of_each: Vec<Predicted>,
    /// 1/Σw².
    pub effective: f64,
}

/// What was found so far about one fit; it must be asked about that one only.
#[derive(Debug, Default)]
pub struct Examination {
    predicted: OnceLock<Option<PredictedStatistics>>,
    steadiness: OnceLock<Option<Steadiness>>,
    checks: OnceLock<Vec<Check>>,
}

impl Examination {
    /// What the posterior predicts for every statistic; `None` where there are none, or none can be predicted.
    pub(super) fn predicted(&self, fit: &Fit) -> Option<&PredictedStatistics> {
        let make = || {
            let y = fit.question().observed()?;
            let found = fit.predicted().ok()?;
            let of_each = y.iter().enumerate().map(|(i, &y)| found.statistic(i, y)).collect();
            Some(PredictedStatistics { of_each, effective: found.effective() })
        };
        self.predicted.get_or_init(make).as_ref()
    }

    /// How far more simulations would move the posterior.
    pub(super) fn steadiness(&self, fit: &Fit) -> Option<&Steadiness> {
        self.steadiness.get_or_init(|| Steadiness::new(&fit.posterior, fit.model.as_ref(), fit.halves(), fit.seed).ok().flatten()).as_ref()
    }

    /// All checks.
    pub(super) fn checks(&self, fit: &Fit) -> &[Check] {
        self.checks.get_or_init(|| self.made(fit))
    }

    fn made(&self, fit: &Fit) -> Vec<Check> {
        let question = fit.question();
        let names = statistic_names(fit);
        let mut all = vec![];
        if let (Recorded::Statistics(simulations), Some(y)) = (&question.recorded, question.observed()) {
            all.push(range::check(simulations, y, &names));
        }
        all.extend(fit.posterior.checks_after(fit.history().is_some_and(|history| history.rounds.len() > 1)));
        let repeats = question.recorded.outputs().repeats();
        if repeats > 1 && !fit.model.knows_repeats() {
            all.push(checks::repeats(fit.model.family().title, repeats, names.len()));
        }
        let simulations = question.recorded.theta().rows();
        all.push(steadiness::effective_simulations(self.steadiness(fit), fit.model.carried_by(), simulations));
        all.extend(fit.model.at_bound().map(|names| checks::hyperparameter_at_bound(&names, fit.model.family().words.at_bound)));
        all.push(match fit.calibration() {
            Ok(calibration) => calibration.check(question.prior.names()),
            Err(error) => Check::new(
                "calibration",
                Status::Warn,
                0.0,
                0.95,
                format!(
                    "calibration could not be assessed: {}",
                    error.to_string().replace(
                        "
  ", "; "
                    )
                ),
            ),
        });
        all.extend(self.predicted(fit).map(|found| predictive::check(&found.of_each, &names)));
        all
    }
}

/// A name for every statistic.
fn statistic_names(fit: &Fit) -> Vec<String> {
    let count = fit.question().observed().map_or(0, <[f64]>::len);
    (0..count).map(|i| fit.statistics.get(i).cloned().unwrap_or_else(|| format!("statistic {}", i + 1))).collect()
}
