//! What the model says about itself: is the observation within reach, which statistics decide, on which simulations.

use super::LocationScaleLikelihood;
use super::constants::health::{LOOKED_AT, TAIL_DRAWS};
use super::regression_search::noise_at_bound;
use super::statistic::Statistic;
use crate::Points;
use crate::checks::{self, Check};
use crate::linalg::vector::dot;
use crate::model::StatisticReport;
use crate::model::Surrogate;
use crate::model::statistic_report::LEFT_OUT;
use crate::simulations::scales::statistic_scales;
use crate::special::tail::UpperTail;

impl LocationScaleLikelihood {
    /// Every statistic, in order. Its tolerance is e σ(θ) in the statistic's units at the simulation that explains the observation best;
    /// its relevance √(R²/(1 - R²)), R² the share of its variance that leave-one-out predictions explain: signal over noise.
    pub fn reports(&self) -> Vec<StatisticReport> {
        let best = self.seen(&self.promising(1));
        let scales = statistic_scales(&self.simulations);
        let mut reports: Vec<StatisticReport> = scales
            .into_iter()
            .map(|scale| StatisticReport { epsilon: LEFT_OUT * scale.scale, relative_epsilon: LEFT_OUT, relevance: 0.0, scale })
            .collect();
        for statistic in &self.fitted.residuals.statistics {
            let h = statistic.hyperparameters();
            let deviation = statistic.predict(&best)[0].deviation_of_one(self.repeats());
            let explained = statistic.explained().clamp(0.0, 1.0 - 1e-12);
            for place in (h.index..self.observation.len()).step_by(self.simulations.statistics_each()) {
                let report = &mut reports[place];
                report.epsilon =
                    self.fitted.residuals.shape.typical_tolerance() * deviation / h.transform.scale.ln_slope(self.observation[place]).exp();
                report.relative_epsilon = report.epsilon / report.scale.scale;
                report.relevance = (explained / (1.0 - explained)).sqrt();
            }
        }
        reports
    }

    /// Searches that ended on a bound: the noise of a statistic's mean.
    pub fn statistics_at_bound(&self) -> Vec<String> {
        let on_bound = self.fitted.residuals.statistics.iter().filter(|s| noise_at_bound(s.mean()));
        on_bound.map(|s| format!("noise of statistic {}", s.hyperparameters().index + 1)).collect()
    }

    /// The check `support` at draws of any posterior.
    pub(in crate::model) fn support_at(&self, draws: &Points) -> Check {
        self.support(&self.own_points(draws))
    }

    /// Tail of |u(θ)|, of all repeats together, among the simulations' own leave-one-out residuals, averaged over draws of the posterior. A residual at the best θ
    /// would be shorter than those at true parameters, by D degrees of freedom; at draws of the posterior both are alike.
    pub(super) fn support(&self, draws: &Points) -> Check {
        let together = self.repeats() * self.fitted.residuals.u.columns();
        let radii_of = |u: &Points| -> Vec<f64> { u.values().chunks(together).map(|u| dot(u, u).sqrt()).collect() };
        let own = radii_of(&self.fitted.residuals.u);
        let count = own.len();
        let looked_at: Vec<usize> = (0..draws.rows()).step_by((draws.rows() / LOOKED_AT).max(1)).collect();
        let points = if looked_at.is_empty() { self.promising(1) } else { draws.select(&looked_at) };
        let radii = radii_of(&self.residuals_at(&self.seen(&points)).0);
        let simulated = UpperTail::new(own);
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / radii.len() as f64;
        let tail = mean(&mut radii.iter().map(|&r| simulated.probability(r)));
        checks::within_reach(mean(&mut radii.iter().copied()), tail, count)
    }

    /// The share of the posterior that rests on the shape's tail instead of simulated residuals.
    pub fn tail_share(&self, draws: &Points) -> f64 {
        if !self.fitted.residuals.shape.has_tail() || draws.is_empty() {
            return 0.0;
        }
        let some: Vec<usize> = (0..draws.rows()).step_by((draws.rows() / TAIL_DRAWS).max(1)).collect();
        let seen = self.seen(&draws.select(&some));
        let shares = self.fitted.residuals.shape.tail_shares(&seen, &self.residuals_at(&seen).0);
        let largest = shares.chunks(self.repeats()).map(|shares| shares.iter().copied().fold(0.0, f64::max));
        largest.sum::<f64>() / seen.rows() as f64
    }

    pub(super) fn tail(&self, draws: &Points) -> Check {
        checks::tail(self.tail_share(draws), self.fitted.residuals.shape.has_tail())
    }

    /// What values that many simulations share exactly mean for the fit, where there are some.
    pub(super) fn shared_values(&self) -> Option<Check> {
        let all = self.looked_at()?;
        let atoms = &self.fitted.hyperparameters.atoms;
        let names = atoms.iter().map(|atom| format!("{} of statistic {}", atom.value, atom.index + 1)).collect::<Vec<_>>();
        let (alike, successful) = (self.fitted.z.rows(), all);
        (!atoms.is_empty()).then(|| checks::shared_values(&names.join(" and "), alike, successful))
    }

    /// Statistics that leave nothing to noise, where there are some.
    pub(super) fn missing_noise(&self) -> Option<Check> {
        let exact = |s: &&Statistic| s.hyperparameters().exact;
        let names: Vec<String> =
            self.fitted.residuals.statistics.iter().filter(exact).map(|s| (s.hyperparameters().index + 1).to_string()).collect();
        (!names.is_empty()).then(|| checks::missing_noise(&names.join(", "), names.len(), self.fitted.residuals.statistics.len()))
    }
}
