//! What the model says about itself: is the observation within reach, what do predictions rest on, which statistics decide.

use super::LocationScaleLikelihood;
use super::regression_search::noise_at_bound;
use super::statistic::Statistic;
use crate::learning::StatisticReport;
use crate::learning::setting::LEFT_OUT;
use crate::learning::statistics::statistic_scales;
use crate::linalg::vector::dot;
use crate::model::Surrogate;
use crate::posterior::checks::{self, Check};

/// Simulations at which the model is looked at: those to which it gives the observation the highest density.
const LOOKED_AT: usize = 20;

impl LocationScaleLikelihood {
    /// Every statistic, in order. Its tolerance is e σ(θ) in the statistic's units at the simulation that explains the observation best;
    /// its relevance √(R²/(1 - R²)), R² the share of its variance that leave-one-out predictions explain: signal over noise.
    pub fn statistic_reports(&self) -> Vec<StatisticReport> {
        let best = self.seen(&self.promising(1));
        let scales = statistic_scales(&self.simulations);
        let mut reports: Vec<StatisticReport> = scales
            .into_iter()
            .map(|scale| StatisticReport { epsilon: LEFT_OUT * scale.scale, relative_epsilon: LEFT_OUT, relevance: 0.0, scale })
            .collect();
        for statistic in &self.fitted.residuals.statistics {
            let h = statistic.hyperparameters();
            let deviation = statistic.mean_and_deviation(&best).1[0];
            let report = &mut reports[h.index];
            report.epsilon =
                self.fitted.residuals.shape.typical_tolerance() * deviation / h.transform.scale.ln_slope(self.observation[h.index]).exp();
            report.relative_epsilon = report.epsilon / report.scale.scale;
            let explained = statistic.explained().clamp(0.0, 1.0 - 1e-12);
            report.relevance = (explained / (1.0 - explained)).sqrt();
        }
        reports
    }

    /// Searches that ended on a bound: the noise of a statistic's mean.
    pub fn at_bound(&self) -> Vec<String> {
        let on_bound = self.fitted.residuals.statistics.iter().filter(|s| noise_at_bound(s.mean()));
        on_bound.map(|s| format!("noise of statistic {}", s.hyperparameters().index + 1)).collect()
    }

    /// How far the observation is from its prediction where it fits best, beside the simulations' own leave-one-out residuals.
    pub(super) fn support(&self) -> Check {
        let u = self.residuals_at(&self.seen(&self.promising(LOOKED_AT))).0;
        let radius = |u: &[f64]| dot(u, u).sqrt();
        let nearest = u.iter().map(radius).fold(f64::INFINITY, f64::min);
        let as_far = self.fitted.residuals.u.iter().filter(|u| radius(u) >= nearest).count();
        checks::within_reach(nearest, as_far, self.fitted.residuals.u.rows())
    }

    /// Share of the predictive variance that comes from not knowing the mean, averaged over statistics in proportion to R².
    pub(super) fn effective_simulations(&self) -> Check {
        let seen = self.seen(&self.promising(LOOKED_AT));
        let explained = |s: &Statistic| s.explained().max(1e-3);
        let total: f64 = self.fitted.residuals.statistics.iter().map(explained).sum();
        let unknown = self.fitted.residuals.statistics.iter().map(|s| explained(s) / total * s.unknown_share(&seen)).sum();
        checks::unknown_share(unknown, self.fitted.residuals.u.rows())
    }
}
