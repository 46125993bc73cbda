//! Maximising ln q(y): ε is profiled out at every (β, λ), where it costs no factorisation; (β, λ) follow the profile's gradient.

mod jointly;
mod line;
mod plane;

use crate::Error;
use crate::linalg::vector::dot;
use crate::model::kernel_means::learning::choices::{EpsilonChoice, LengthScaleChoice, RegularizationChoice};
use crate::model::kernel_means::learning::evidence::gradient;
use crate::model::kernel_means::learning::learned::{Counter, LocalOptimum};
use crate::model::kernel_means::learning::problem::LearningProblem;
use crate::model::kernel_means::learning::tolerance_scan::ToleranceScan;
use crate::model::{Hyperparameters, KernelMeansLikelihood, Operator};
use crate::optimise::Stopped;
use std::cell::RefCell;
use std::sync::Arc;

/// The profile at one (β, λ).
#[derive(Debug, Clone)]
pub(super) struct Profile {
    pub(super) ln_length_scales: Vec<f64>,
    pub(super) ln_regularization: f64,
    pub(super) ln_epsilon: Vec<f64>,
    pub(super) value: f64,
    /// ∂/∂ ln β_d and ∂/∂ ln λ at the best ε.
    pub(super) length_gradient: Vec<f64>,
    pub(super) regularization_gradient: f64,
    /// ∂/∂ ln ε_i there.
    pub(super) epsilon_gradient: Vec<f64>,
}

/// What the search found.
pub struct Found {
    /// The choice.
    pub hyperparameters: Hyperparameters,
    /// All local optima, best first.
    pub optima: Vec<LocalOptimum>,
    /// Why the last search ended.
    pub stopped: Stopped,
    /// The operator at the choice, already factored.
    pub operator: Option<Arc<Operator>>,
}

/// Searches everything that is not fixed.
pub fn search(setting: &LearningProblem<'_>, counter: &mut Counter<'_>) -> Result<Found, Error> {
    let search = Search { setting, tolerances: ToleranceScan::new(setting, &setting.discrepancies), best: RefCell::new(None) };
    let (mut best, mut optima, mut stopped) = match (search.free_length(), search.free_regularization()) {
        (true, true) => search.plane(counter)?,
        (true, false) | (false, true) => search.line(counter)?,
        (false, false) => {
            let point = search.profile(&search.common(0.0), search.middle_regularization(), counter)?.ok_or_else(|| search.nowhere())?;
            (point.clone(), vec![point], Stopped::Converged)
        }
    };
    let own_epsilon = setting.settings.epsilon == EpsilonChoice::PerStatistic && setting.active().len() > 1;
    let own_length = setting.settings.length_scale == LengthScaleChoice::PerParameter && setting.dimension() > 1;
    if own_epsilon || own_length {
        (best, stopped) = search.jointly(&best, own_epsilon, own_length, counter)?;
        optima.insert(0, best.clone());
    }
    optima.sort_by(|a, b| b.value.total_cmp(&a.value));
    let optima = optima.iter().map(|p| LocalOptimum { hyperparameters: search.hyperparameters(p), objective: p.value }).collect();
    let hyperparameters = search.hyperparameters(&best);
    let operator = search.best.into_inner().filter(|(value, _)| *value == best.value).map(|(_, operator)| operator);
    Ok(Found { hyperparameters, optima, stopped, operator })
}

pub(super) struct Search<'a> {
    pub(super) setting: &'a LearningProblem<'a>,
    tolerances: ToleranceScan,
    /// The best value met and its operator.
    pub(super) best: RefCell<Option<(f64, Arc<Operator>)>>,
}

impl Search<'_> {
    pub(super) fn free_length(&self) -> bool {
        !matches!(self.setting.settings.length_scale, LengthScaleChoice::Fixed(_))
    }

    pub(super) fn free_regularization(&self) -> bool {
        self.setting.settings.regularization == RegularizationChoice::Free
    }

    fn common(&self, ln_length: f64) -> Vec<f64> {
        self.setting.length_scales(ln_length.exp()).iter().map(|b| b.ln()).collect()
    }

    fn middle_regularization(&self) -> f64 {
        1e-3_f64.ln()
    }

    fn nowhere(&self) -> Error {
        Error::EvidenceNotPositive { value: 0.0, simulations: self.setting.len() }
    }

    fn hyperparameters(&self, p: &Profile) -> Hyperparameters {
        Hyperparameters {
            epsilon: p.ln_epsilon.iter().map(|e| e.exp()).collect(),
            length_scale: p.ln_length_scales.iter().map(|b| b.exp()).collect(),
            regularization: p.ln_regularization.exp(),
            family: self.setting.settings.family,
            solver: self.setting.settings.solver,
        }
    }

    /// Factors at (β, λ) and finds the best common ε; `None` where no ε gives a positive q(y) or the matrix cannot be factored.
    fn profile(&self, ln_length_scales: &[f64], ln_regularization: f64, counter: &mut Counter<'_>) -> Result<Option<Profile>, Error> {
        Ok(self.factored_profile(ln_length_scales, ln_regularization, counter)?.map(|(_, profile)| profile))
    }

    fn factored_profile(
        &self,
        ln_length_scales: &[f64],
        ln_regularization: f64,
        counter: &mut Counter<'_>,
    ) -> Result<Option<(Arc<Operator>, Profile)>, Error> {
        let ln_length_scales = &self.setting.rounded_length_scales(ln_length_scales);
        let ln_regularization = self.setting.rounded(ln_regularization);
        let scales: Vec<f64> = ln_length_scales.iter().map(|b| b.exp()).collect();
        let lambda = self.setting.bound_regularization(&scales).unwrap_or(ln_regularization.exp());
        counter.factored()?;
        let operator = match self.setting.operator(scales, lambda) {
            Ok(operator) => Arc::new(operator),
            Err(error) if error.is_unsolvable() => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(ln_epsilon) = self.best_common(&operator, counter) else { return Ok(None) };
        let found = self.at(operator.clone(), ln_length_scales, lambda.ln(), ln_epsilon)?;
        counter.best = found.iter().fold(counter.best, |best, p| best.max(p.value));
        Ok(found.map(|profile| (operator, profile)))
    }

    /// Value and gradient at a factored (β, λ) and given ε.
    fn at(
        &self,
        operator: Arc<Operator>,
        ln_length_scales: &[f64],
        ln_regularization: f64,
        ln_epsilon: Vec<f64>,
    ) -> Result<Option<Profile>, Error> {
        let ln_epsilon = self.setting.rounded_epsilon(&ln_epsilon);
        let epsilon: Vec<f64> = ln_epsilon.iter().map(|e| e.exp()).collect();
        let setting = self.setting;
        let parts = (setting.question.clone(), setting.discrepancies.clone());
        let model = match KernelMeansLikelihood::from_parts(parts.0, operator.clone(), parts.1, &epsilon) {
            Ok(model) => model,
            Err(error) if error.is_unsolvable() => return Ok(None),
            Err(error) => return Err(error),
        };
        let (Ok(value), Ok(slopes)) = (model.log_marginal_likelihood(), gradient(&model)) else { return Ok(None) };
        let mut best = self.best.borrow_mut();
        if best.as_ref().is_none_or(|(before, _)| value > *before) {
            *best = Some((value, operator));
        }
        Ok(Some(Profile {
            ln_length_scales: ln_length_scales.to_vec(),
            ln_regularization,
            ln_epsilon,
            value,
            length_gradient: slopes.log_length_scale,
            regularization_gradient: slopes.log_regularization,
            epsilon_gradient: slopes.log_epsilon,
        }))
    }

    /// ln Σ_j w_j κ_j(ε): all that depends on ε. Costs O(mn).
    fn value(&self, operator: &Operator, epsilon: &[f64]) -> f64 {
        let kappa = self.setting.discrepancies.kappa(epsilon);
        dot(operator.marginal_weights(), &kappa.relative).max(0.0).ln() + kappa.ln_scale
    }

    fn best_common(&self, operator: &Operator, counter: &mut Counter<'_>) -> Option<Vec<f64>> {
        let ln = |epsilon: Vec<f64>| epsilon.iter().map(|e| e.ln()).collect::<Vec<f64>>();
        if let Some(epsilon) = self.setting.fixed_epsilon() {
            counter.evaluations += 1;
            return self.value(operator, &epsilon).is_finite().then(|| ln(epsilon));
        }
        let (low, high) = (self.setting.epsilons.0.ln(), self.setting.epsilons.1.ln());
        let (centre, coarse) = self.tolerances.best(operator.marginal_weights());
        counter.evaluations += self.tolerances.len();
        if !coarse.is_finite() {
            return None;
        }
        let mut value = |t: f64| {
            counter.evaluations += 1;
            self.value(operator, &self.setting.tolerances(t.exp()))
        };
        let step = self.tolerances.step();
        let t = golden_section((centre - step).max(low), (centre + step).min(high), &mut value);
        let t = if value(t) >= coarse { t } else { centre };
        Some(ln(self.setting.tolerances(t.exp())))
    }
}

/// The maximum of a function with one top on [low, high], to a thousandth.
fn golden_section(mut low: f64, mut high: f64, value: &mut impl FnMut(f64) -> f64) -> f64 {
    const SHARE: f64 = 0.618_033_988_749_894_9;
    let (mut a, mut b) = (high - SHARE * (high - low), low + SHARE * (high - low));
    let (mut fa, mut fb) = (value(a), value(b));
    while high - low > 1e-4 {
        if fa < fb {
            (low, a, fa) = (a, b, fb);
            b = low + SHARE * (high - low);
            fb = value(b);
        } else {
            (high, b, fb) = (b, a, fa);
            a = high - SHARE * (high - low);
            fa = value(a);
        }
    }
    0.5 * (low + high)
}
