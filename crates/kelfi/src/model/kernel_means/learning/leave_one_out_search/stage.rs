//! One set of simulations to score on, and the tolerances that suit a (β, mλ) there.

use crate::model::Hyperparameters;
use crate::model::kernel_means::constants::relevance::{FIRST_STEP, LARGEST_TOLERANCE, SMALLEST_TOLERANCE};
use crate::model::kernel_means::learning::learned::Counter;
use crate::model::kernel_means::learning::leave_one_out::{LeaveOneOutScore, Scored};
use crate::model::kernel_means::learning::pairs::Pairs;
use crate::model::kernel_means::learning::problem::LearningProblem;
use crate::optimise::{StopRule, Stopped, maximise};
use crate::prior::quadrature::PriorPoints;
use crate::simulations::local_set::LocalSet;
use crate::{Error, Points};
use rayon::prelude::*;

/// Up to this many simulations several places are worked on at the same time: one alone would not keep the threads busy.
const SMALL: usize = 1_500;
const PLACES_AT_ONCE: usize = 8;

/// How much work one score is.
pub struct Effort {
    /// At most this many simulations,
    pub simulations: usize,
    /// of which at most this many play the observation,
    pub members: usize,
    /// and points for the negative mass.
    pub points: usize,
}

/// Where a matrix is factored.
#[derive(Debug, Clone)]
pub struct Place {
    /// ln β_d.
    pub ln_length_scales: Vec<f64>,
    /// ln mλ.
    pub ln_ridge: f64,
}

/// Where the search stands.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// (β, mλ).
    pub place: Place,
    /// ln ε_i.
    pub ln_epsilon: Vec<f64>,
    /// The score there.
    pub scored: Scored,
}

/// The simulations, their local set and the points one effort allows.
pub struct Stage<'a> {
    pub setting: &'a LearningProblem<'a>,
    pub z: Points,
    pub local: LocalSet,
    pub pairs: Pairs,
    pub points: PriorPoints,
}

impl<'a> Stage<'a> {
    pub fn new(setting: &'a LearningProblem<'a>, effort: &Effort) -> Result<Self, Error> {
        let (recorded, z) = setting.head(effort.simulations)?;
        let units: Vec<f64> =
            setting.scales.iter().zip(&setting.units).map(|(s, u)| if s.dropped.is_some() { *u } else { s.scale }).collect();
        let local = LocalSet::new(&recorded, &setting.question.observation, &units, setting.active().len())?.nearest(effort.members);
        let pairs = Pairs::new(&recorded, &setting.question.observation, &local)?;
        let points = setting.points(&z, &local, effort.points);
        Ok(Self { setting, z, local, pairs, points })
    }

    /// The score's coefficients at (β, mλ). `None` where the matrix cannot be factored.
    pub fn prepare(&self, ln_length_scales: &[f64], ln_ridge: f64) -> Result<Option<LeaveOneOutScore<'_>>, Error> {
        let lambda = self.regularization(ln_length_scales, ln_ridge);
        let scales = ln_length_scales.iter().map(|b| b.exp()).collect();
        let prepared = self
            .setting
            .operator_on(self.z.clone(), scales, lambda)
            .and_then(|operator| LeaveOneOutScore::new(&operator, &self.local, &self.pairs, &self.points));
        match prepared {
            Ok(score) => Ok(Some(score)),
            Err(error) if error.is_unsolvable() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What `tolerances` makes of the prepared scores at several places; `None` where the matrix cannot be factored.
    /// Small problems are worked on at the same time, large ones one after the other, each with all threads.
    pub fn at_many<T: Send>(
        &self,
        places: &[Place],
        counter: &mut Counter<'_>,
        tolerances: impl Fn(usize, &LeaveOneOutScore<'_>) -> T + Sync,
    ) -> Result<Vec<Option<T>>, Error> {
        let at_once = if self.z.rows() <= SMALL { PLACES_AT_ONCE } else { 1 };
        let mut found = Vec::with_capacity(places.len());
        for (group, some) in places.chunks(at_once).enumerate() {
            some.iter().try_for_each(|_| counter.factored())?;
            let one = |(k, place): (usize, &Place)| -> Result<Option<(T, usize)>, Error> {
                let Some(score) = self.prepare(&place.ln_length_scales, place.ln_ridge)? else { return Ok(None) };
                Ok(Some((tolerances(group * at_once + k, &score), score.evaluations())))
            };
            for result in some.par_iter().enumerate().map(one).collect::<Vec<_>>() {
                found.push(result?.map(|(value, evaluations)| {
                    counter.evaluations += evaluations;
                    value
                }));
            }
        }
        Ok(found)
    }

    /// The same at one place.
    pub fn at<T: Send>(
        &self,
        place: &Place,
        counter: &mut Counter<'_>,
        tolerances: impl Fn(&LeaveOneOutScore<'_>) -> T + Sync,
    ) -> Result<Option<T>, Error> {
        Ok(self.at_many(std::slice::from_ref(place), counter, |_, score| tolerances(score))?.pop().flatten())
    }

    /// The candidate scored with this stage's effort; `None` where the matrix cannot be factored.
    pub fn again(&self, start: &Candidate, counter: &mut Counter<'_>) -> Result<Option<Candidate>, Error> {
        let epsilon: Vec<f64> = start.ln_epsilon.iter().map(|e| e.exp()).collect();
        let scored = self.at(&start.place, counter, |score| score.evaluate(&epsilon, false))?;
        Ok(scored.map(|scored| Candidate { scored, ..start.clone() }))
    }

    pub fn regularization(&self, ln_length_scales: &[f64], ln_ridge: f64) -> f64 {
        let scales: Vec<f64> = ln_length_scales.iter().map(|b| b.exp()).collect();
        let free = ln_ridge.exp() / self.z.rows() as f64;
        self.setting.bound_regularization(&scales).unwrap_or(free).clamp(0.0, f64::MAX)
    }

    /// All tolerances times the factor that suits best, by parabolas through the best three tried, and the score there.
    pub fn scaled_tolerances(&self, score: &LeaveOneOutScore<'_>, ln_epsilon: &[f64]) -> (Vec<f64>, Scored) {
        let shifted = |shift: f64| {
            let mut shifted = ln_epsilon.to_vec();
            self.setting.active().iter().for_each(|&i| shifted[i] += shift);
            self.setting.floored(&shifted)
        };
        let evaluate = |shift: f64| {
            let epsilon: Vec<f64> = shifted(shift).iter().map(|e| e.exp()).collect();
            (shift, score.evaluate(&epsilon, false))
        };
        if self.setting.fixed_epsilon().is_some() {
            return (ln_epsilon.to_vec(), evaluate(0.0).1);
        }
        // The smallest tolerance stays inside the bounds of common ones.
        let in_units = |&i: &usize| ln_epsilon[i] - self.setting.units[i].ln();
        let smallest = self.setting.active().iter().map(in_units).fold(f64::INFINITY, f64::min).min(f64::MAX);
        let low = (self.setting.epsilons.0.ln() - smallest).min(0.0);
        let high = (self.setting.epsilons.1.ln() - smallest).max(0.0);
        let mut tried: Vec<(f64, Scored)> = [-0.3_f64, 0.0, 0.3].iter().map(|shift| evaluate(shift.clamp(low, high))).collect();
        for _ in 0..3 {
            tried.sort_by(|a, b| a.0.total_cmp(&b.0));
            let values: Vec<(f64, f64)> = tried.iter().map(|(t, s)| (*t, s.objective)).collect();
            match next_on_parabola(&values, low, high) {
                Some(t) => tried.push(evaluate(t)),
                None => break,
            }
        }
        let (shift, scored) =
            tried.into_iter().max_by(|a, b| a.1.objective.total_cmp(&b.1.objective)).expect("at least one tolerance was tried");
        (shifted(shift), scored)
    }

    /// ln ε of every statistic from the logarithm of a common one.
    pub fn ln_tolerances(&self, ln_common: f64) -> Vec<f64> {
        self.setting.tolerances(ln_common.exp()).iter().map(|e| e.ln()).collect()
    }

    /// Tolerances of their own for every statistic in use, uphill from `start`.
    pub fn own_tolerances(&self, score: &LeaveOneOutScore<'_>, start: &[f64], steps: usize) -> (Vec<f64>, Scored, Stopped) {
        let active = self.setting.active();
        let bound = |i: usize, by: f64| (by * self.setting.scales[i].scale).ln();
        let low: Vec<f64> = active.iter().map(|&i| bound(i, SMALLEST_TOLERANCE).max(self.setting.floors[i].ln()).min(start[i])).collect();
        let high: Vec<f64> = active.iter().map(|&i| bound(i, LARGEST_TOLERANCE).max(start[i])).collect();
        let full = |free: &[f64]| {
            let mut ln_epsilon = start.to_vec();
            active.iter().zip(free).for_each(|(&i, value)| ln_epsilon[i] = *value);
            ln_epsilon
        };
        let mut best: Option<Scored> = None;
        let function = |free: &[f64]| {
            let epsilon: Vec<f64> = full(free).iter().map(|e| e.exp()).collect();
            let scored = score.evaluate(&epsilon, true);
            let result = (scored.objective, active.iter().map(|&i| scored.gradient[i]).collect());
            if best.as_ref().is_none_or(|best| scored.objective > best.objective) {
                best = Some(scored);
            }
            result
        };
        let free: Vec<f64> = active.iter().map(|&i| start[i]).collect();
        let settings = StopRule { steps, gradient: 1e-4, gain: 1e-5, longest: 1.0, first: FIRST_STEP };
        let optimum = maximise(function, &free, &low, &high, settings);
        (full(&optimum.at), best.expect("the start was scored"), optimum.stopped)
    }

    pub fn hyperparameters(&self, candidate: &Candidate) -> Hyperparameters {
        let ln_length_scales = self.setting.rounded_length_scales(&candidate.place.ln_length_scales);
        Hyperparameters {
            epsilon: self.setting.rounded_epsilon(&candidate.ln_epsilon).iter().map(|e| e.exp()).collect(),
            regularization: self.regularization(&ln_length_scales, self.setting.rounded(candidate.place.ln_ridge)),
            length_scale: ln_length_scales.iter().map(|b| b.exp()).collect(),
            family: self.setting.settings.family,
            solver: self.setting.settings.solver,
        }
    }
}

/// The top of the parabola through the best point and its neighbours, if it is worth a try.
fn next_on_parabola(values: &[(f64, f64)], low: f64, high: f64) -> Option<f64> {
    let best = (0..values.len()).max_by(|&a, &b| values[a].1.total_cmp(&values[b].1))?;
    let (t, f) = values[best];
    if best == 0 || best + 1 == values.len() {
        let outward = if best == 0 { -0.5 } else { 0.5 };
        let next = (t + outward).clamp(low, high);
        return ((next - t).abs() > 1e-3).then_some(next);
    }
    let ((t0, f0), (t1, f1)) = (values[best - 1], values[best + 1]);
    let (a, b) = ((t - t0) * (f - f1), (t - t1) * (f - f0));
    let top = t - 0.5 * ((t - t0) * a - (t - t1) * b) / (a - b);
    let nearest = values.iter().map(|(v, _)| (v - top).abs()).fold(f64::INFINITY, f64::min);
    (top.is_finite() && top > t0 && top < t1 && nearest > 1e-2).then_some(top)
}
