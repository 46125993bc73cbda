//! Maximising ln q(y): ε is profiled out at every (β, λ), where it costs no factorisation; (β, λ) follow the profile's gradient.

use crate::model::kernel_means::constants::evidence::{
    COARSE_LENGTH_SCALES, COARSE_REGULARIZATIONS, COARSE_SIMULATIONS, FIRST_STEPS, GAIN, HOPELESS, LINE_POINTS, LINE_POWER, REFINEMENTS,
    SEARCHES, STEPS,
};
use crate::model::kernel_means::constants::learning::REGULARIZATIONS;
use crate::model::kernel_means::learning::between::{Node, regularization_slopes, top_between};
use crate::model::kernel_means::learning::choices::{EpsilonChoice, LengthScaleChoice, RegularizationChoice};
use crate::model::kernel_means::learning::evidence::gradient;
use crate::model::kernel_means::learning::layout::Layout;
use crate::model::kernel_means::learning::learned::{Counter, LocalOptimum};
use crate::model::kernel_means::learning::problem::LearningProblem;
use crate::model::kernel_means::learning::tolerance_scan::ToleranceScan;
use crate::model::{Hyperparameters, KernelMeansLikelihood, Operator};
use crate::optimise::{StopRule, Stopped, maximise};
use crate::{Error, linalg::vector::dot};
use rayon::prelude::*;
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

    /// One free variable: w and its slope at coarse points give the whole surface between them (see [`top_between`]);
    /// the most promising places are then factored.
    fn line(&self, counter: &mut Counter<'_>) -> Result<(Profile, Vec<Profile>, Stopped), Error> {
        let length = self.free_length();
        let range = if length { self.setting.lengths } else { REGULARIZATIONS };
        let (low, high) = (range.0.ln(), range.1.ln());
        let tied = self.setting.settings.regularization == RegularizationChoice::Tied;
        let mut points: Vec<Node> = Vec::new();
        let add = |t: f64, points: &mut Vec<Node>, counter: &mut Counter<'_>| -> Result<bool, Error> {
            let place = if length { (self.common(t), 0.0) } else { (self.common(0.0), t) };
            let Some((operator, profile)) = self.factored_profile(&place.0, place.1, counter)? else { return Ok(false) };
            let slopes = if length { operator.marginal_weight_slopes(tied) } else { regularization_slopes(&operator) };
            points.push(Node { t, profile, weights: operator.marginal_weights().to_vec(), slopes });
            points.sort_by(|a, b| a.t.total_cmp(&b.t));
            Ok(true)
        };
        for k in 0..LINE_POINTS {
            let share = (k as f64 / (LINE_POINTS - 1) as f64).powf(LINE_POWER);
            add(low + (high - low) * share, &mut points, counter)?;
        }
        for _ in 0..REFINEMENTS {
            let best = points.iter().map(|p| p.profile.value).fold(f64::NEG_INFINITY, f64::max);
            let promising = points.windows(2).filter_map(|pair| top_between(&pair[0], &pair[1], &self.tolerances));
            let Some((t, _)) = promising.filter(|top| top.1 > best + 1e-5).max_by(|a, b| a.1.total_cmp(&b.1)) else { break };
            if !add(t, &mut points, counter)? {
                break;
            }
        }
        let values: Vec<f64> = points.iter().map(|p| p.profile.value).collect();
        let top = |k: usize| (k == 0 || values[k - 1] <= values[k]) && (k + 1 == values.len() || values[k + 1] <= values[k]);
        let optima: Vec<Profile> = (0..values.len()).filter(|&k| top(k)).map(|k| points[k].profile.clone()).collect();
        let best = optima.iter().max_by(|a, b| a.value.total_cmp(&b.value)).cloned().ok_or_else(|| self.nowhere())?;
        Ok((best, optima, Stopped::Converged))
    }

    /// Two free variables: a coarse grid, then gradient searches from its best points.
    fn plane(&self, counter: &mut Counter<'_>) -> Result<(Profile, Vec<Profile>, Stopped), Error> {
        let bounds = [self.setting.lengths, REGULARIZATIONS].map(|(low, high)| (low.ln(), high.ln()));
        let mut optima: Vec<(Profile, Stopped)> = Vec::new();
        let best = |optima: &[(Profile, Stopped)]| optima.iter().max_by(|a, b| a.0.value.total_cmp(&b.0.value)).cloned();
        let starts = self.coarse_starts(&bounds, counter)?;
        for place in starts {
            if optima.len() == SEARCHES {
                break;
            }
            let Some(start) = self.profile(&self.common(place[0]), place[1], counter)? else { continue };
            let Some((best, _)) = best(&optima) else {
                optima.push(self.climb(&start, &bounds, STEPS, counter)?);
                continue;
            };
            let (mut found, mut why) = self.climb(&start, &bounds, FIRST_STEPS, counter)?;
            if why == Stopped::Steps && found.value > best.value - HOPELESS {
                (found, why) = self.climb(&found, &bounds, STEPS - FIRST_STEPS, counter)?;
            }
            optima.push((found, why));
        }
        let (best, stopped) = best(&optima).ok_or_else(|| self.nowhere())?;
        let mut distinct: Vec<Profile> = Vec::new();
        for (found, _) in optima {
            if found.value >= best.value - HOPELESS && !distinct.iter().any(|other| same_place(other, &found)) {
                distinct.push(found);
            }
        }
        Ok((best, distinct, stopped))
    }

    /// Places (ln β₀, ln λ) of a coarse grid, best first by ln q(y) of a part of the simulations.
    fn coarse_starts(&self, bounds: &[(f64, f64); 2], counter: &mut Counter<'_>) -> Result<Vec<[f64; 2]>, Error> {
        let (recorded, z) = self.setting.head((2 * self.setting.len() / 3).clamp(COARSE_SIMULATIONS.0, COARSE_SIMULATIONS.1))?;
        let tolerances = ToleranceScan::new(self.setting, &recorded.discrepancies(&self.setting.question.observation)?);
        let at = |k: usize, count: usize, (low, high): (f64, f64)| low + (high - low) * (k as f64 + 0.5) / count as f64;
        let places: Vec<[f64; 2]> = (0..COARSE_LENGTH_SCALES * COARSE_REGULARIZATIONS)
            .map(|k| (k / COARSE_REGULARIZATIONS, k % COARSE_REGULARIZATIONS))
            .map(|(i, j)| [at(i, COARSE_LENGTH_SCALES, bounds[0]), at(j, COARSE_REGULARIZATIONS, bounds[1])])
            .collect();
        let value = |place: &[f64; 2]| match self.setting.operator_on(z.clone(), self.setting.length_scales(place[0].exp()), place[1].exp())
        {
            Ok(operator) => Ok(tolerances.best(operator.marginal_weights()).1),
            Err(error) if error.is_unsolvable() => Ok(f64::NEG_INFINITY),
            Err(error) => Err(error),
        };
        let mut valued: Vec<(f64, [f64; 2])> = Vec::with_capacity(places.len());
        for row in places.chunks(COARSE_REGULARIZATIONS) {
            row.iter().try_for_each(|_| counter.factored())?;
            counter.evaluations += row.len() * tolerances.len();
            let values: Vec<f64> = row.par_iter().map(value).collect::<Result<_, Error>>()?;
            valued.extend(values.into_iter().zip(row.iter().copied()));
        }
        valued.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(valued.into_iter().map(|(_, place)| place).collect())
    }

    /// A gradient search over (ln β₀, ln λ) from a known point.
    fn climb(
        &self,
        start: &Profile,
        bounds: &[(f64, f64); 2],
        steps: usize,
        counter: &mut Counter<'_>,
    ) -> Result<(Profile, Stopped), Error> {
        let mut best = start.clone();
        let mut failure = None;
        let slopes = |p: &Profile| vec![p.length_gradient.iter().sum(), p.regularization_gradient];
        let x = [start.ln_length_scales[0], start.ln_regularization];
        let function = |at: &[f64]| {
            if at == x {
                return (start.value, slopes(start));
            }
            match self.profile(&self.common(at[0]), at[1], counter) {
                Ok(Some(p)) => {
                    let result = (p.value, slopes(&p));
                    if p.value > best.value {
                        best = p;
                    }
                    result
                }
                Ok(None) => (f64::NEG_INFINITY, vec![0.0; at.len()]),
                Err(error) => {
                    failure = Some(error);
                    (f64::NAN, vec![0.0; at.len()])
                }
            }
        };
        let (low, high) = (bounds.map(|b| b.0), bounds.map(|b| b.1));
        let settings = StopRule { steps, gradient: 1e-4, gain: GAIN, longest: 1.5, first: 0.0 };
        let optimum = maximise(function, &x, &low, &high, settings);
        match failure {
            Some(error) => Err(error),
            None => Ok((best, optimum.stopped)),
        }
    }

    /// All of ln ε, ln β and ln λ at once, from the best common ones.
    fn jointly(
        &self,
        start: &Profile,
        own_epsilon: bool,
        own_length: bool,
        counter: &mut Counter<'_>,
    ) -> Result<(Profile, Stopped), Error> {
        let layout = Layout::new(self, start, own_epsilon, own_length);
        let mut best = start.clone();
        let mut failure = None;
        let function = |x: &[f64]| {
            let (ln_epsilon, ln_lengths, ln_lambda) = layout.unpack(x, start);
            let (ln_lengths, ln_lambda) = (self.setting.rounded_length_scales(&ln_lengths), self.setting.rounded(ln_lambda));
            let scales: Vec<f64> = ln_lengths.iter().map(|b| b.exp()).collect();
            let lambda = self.setting.bound_regularization(&scales).unwrap_or(ln_lambda.exp());
            counter.evaluations += 1;
            let found = counter
                .factored()
                .and_then(|()| self.setting.operator(scales, lambda))
                .and_then(|operator| self.at(Arc::new(operator), &ln_lengths, lambda.ln(), ln_epsilon));
            match found {
                Ok(Some(p)) => {
                    let tied =
                        if self.setting.settings.regularization == RegularizationChoice::Tied { p.regularization_gradient } else { 0.0 };
                    let result = (p.value, layout.gradient(&p, tied));
                    if p.value > best.value {
                        best = p;
                    }
                    result
                }
                Ok(None) => (f64::NEG_INFINITY, vec![0.0; x.len()]),
                Err(error) if error.is_unsolvable() => (f64::NEG_INFINITY, vec![0.0; x.len()]),
                Err(error) => {
                    failure = Some(error);
                    (f64::NAN, vec![0.0; x.len()])
                }
            }
        };
        let optimum = maximise(
            function,
            &layout.start,
            &layout.low,
            &layout.high,
            StopRule { steps: 3 * STEPS, gradient: 1e-4, gain: 1e-5, longest: 1.0, first: 0.0 },
        );
        match failure {
            Some(error) => Err(error),
            None => Ok((best, optimum.stopped)),
        }
    }
}

fn same_place(a: &Profile, b: &Profile) -> bool {
    let close = |a: f64, b: f64| (a - b).abs() < 0.05;
    close(a.ln_length_scales[0], b.ln_length_scales[0])
        && (a.ln_regularization - b.ln_regularization).abs() < 0.3
        && close(a.ln_epsilon[0], b.ln_epsilon[0])
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
