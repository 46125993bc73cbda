//! One set of simulations to score on, and the tolerances that suit a (β, mλ) there.

use crate::learning::learned::Counter;
use crate::learning::leave_one_out::{LeaveOneOutScore, Scored};
use crate::learning::local_set::LocalSet;
use crate::learning::pairs::Pairs;
use crate::learning::quadrature::PriorPoints;
use crate::learning::setting::Setting;
use crate::model::Hyperparameters;
use crate::optimise::{Settings, Stopped, maximise};
use crate::simulations::Recorded;
use crate::{Error, Points};
use std::sync::Arc;

/// A per-statistic tolerance may grow to this many spreads.
const LARGEST_TOLERANCE: f64 = 1e3;
const SMALLEST_TOLERANCE: f64 = 1e-3;

/// How much work one score is.
pub struct Effort {
    /// At most this many simulations,
    pub simulations: usize,
    /// of which at most this many play the observation,
    pub members: usize,
    /// and points for the negative mass.
    pub points: usize,
}

/// Where the search stands.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// ln β_d.
    pub ln_length_scales: Vec<f64>,
    /// ln mλ.
    pub ln_ridge: f64,
    /// ln ε_i.
    pub ln_epsilon: Vec<f64>,
    /// The score there.
    pub scored: Scored,
}

/// The simulations, their local set and the points one effort allows.
pub struct Stage<'a> {
    pub setting: &'a Setting<'a>,
    pub z: Points,
    pub local: LocalSet,
    pub pairs: Pairs,
    pub points: PriorPoints,
}

impl<'a> Stage<'a> {
    pub fn new(setting: &'a Setting<'a>, effort: &Effort) -> Result<Self, Error> {
        let (recorded, z) = if effort.simulations >= setting.len() {
            (setting.recorded.clone(), setting.z.clone())
        } else {
            let indices: Vec<usize> = (0..effort.simulations).collect();
            (head(setting.recorded, &indices)?, setting.points(&indices))
        };
        let units: Vec<f64> =
            setting.scales.iter().zip(&setting.units).map(|(s, u)| if s.dropped.is_some() { *u } else { s.scale }).collect();
        let local = LocalSet::new(&recorded, setting.observation, &units, setting.active().len())?.nearest(effort.members);
        let pairs = Pairs::new(&recorded, setting.observation, &local)?;
        let (mean, std) = local.spread(&z);
        let points = PriorPoints::new(&setting.prior.latent(), &mean, &std, effort.points, setting.settings.seed);
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
            Err(Error::NotPositiveDefinite { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Scores (β, mλ) with ε found by `tolerances`, which gets the prepared score.
    pub fn at<T>(
        &self,
        ln_length_scales: &[f64],
        ln_ridge: f64,
        counter: &mut Counter<'_>,
        tolerances: impl FnOnce(&LeaveOneOutScore<'_>, &mut Counter<'_>) -> T,
    ) -> Result<Option<T>, Error> {
        counter.factored()?;
        Ok(self.prepare(ln_length_scales, ln_ridge)?.map(|score| tolerances(&score, counter)))
    }

    /// The same place scored with this stage's effort; `start` where the matrix cannot be factored.
    pub fn again(&self, start: Candidate, counter: &mut Counter<'_>) -> Result<Candidate, Error> {
        let epsilon: Vec<f64> = start.ln_epsilon.iter().map(|e| e.exp()).collect();
        counter.evaluations += 1;
        let scored = self.at(&start.ln_length_scales, start.ln_ridge, counter, |score, _| score.evaluate(&epsilon, false))?;
        Ok(match scored {
            Some(scored) => Candidate { scored, ..start },
            None => start,
        })
    }

    pub fn regularization(&self, ln_length_scales: &[f64], ln_ridge: f64) -> f64 {
        let scales: Vec<f64> = ln_length_scales.iter().map(|b| b.exp()).collect();
        let free = ln_ridge.exp() / self.z.rows() as f64;
        self.setting.bound_regularization(&scales).unwrap_or(free).clamp(0.0, f64::MAX)
    }

    /// The best common tolerance near `around`, by parabolas through the best three, and the score there.
    pub fn common_tolerance(&self, score: &LeaveOneOutScore<'_>, around: f64, counter: &mut Counter<'_>) -> (Vec<f64>, Scored) {
        if let Some(epsilon) = self.setting.fixed_epsilon() {
            counter.evaluations += 1;
            let scored = score.evaluate(&epsilon, false);
            return (epsilon.iter().map(|e| e.ln()).collect(), scored);
        }
        let (low, high) = (self.setting.epsilons.0.ln(), self.setting.epsilons.1.ln());
        let mut evaluate = |t: f64| {
            counter.evaluations += 1;
            (t, score.evaluate(&self.setting.tolerances(t.exp()), false))
        };
        let mut tried: Vec<(f64, Scored)> = [-0.3, 0.0, 0.3].iter().map(|shift| evaluate((around + shift).clamp(low, high))).collect();
        for _ in 0..3 {
            tried.sort_by(|a, b| a.0.total_cmp(&b.0));
            let values: Vec<(f64, f64)> = tried.iter().map(|(t, s)| (*t, s.objective)).collect();
            match next_on_parabola(&values, low, high) {
                Some(t) => tried.push(evaluate(t)),
                None => break,
            }
        }
        let (t, scored) =
            tried.into_iter().max_by(|a, b| a.1.objective.total_cmp(&b.1.objective)).expect("at least one tolerance was tried");
        (self.ln_tolerances(t), scored)
    }

    /// ln ε of every statistic from the logarithm of a common one.
    pub fn ln_tolerances(&self, ln_common: f64) -> Vec<f64> {
        self.setting.tolerances(ln_common.exp()).iter().map(|e| e.ln()).collect()
    }

    /// Tolerances of their own for every statistic in use, uphill from `start`.
    pub fn own_tolerances(
        &self,
        score: &LeaveOneOutScore<'_>,
        start: &[f64],
        steps: usize,
        counter: &mut Counter<'_>,
    ) -> (Vec<f64>, Scored, Stopped) {
        let active = self.setting.active();
        let bound = |i: usize, by: f64| (by * self.setting.scales[i].scale).ln();
        let low: Vec<f64> = active.iter().map(|&i| (bound(i, SMALLEST_TOLERANCE)).min(start[i])).collect();
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
        let settings = Settings { steps, gradient: 1e-4, gain: 1e-5, longest: 1.0 };
        let optimum = maximise(function, &free, &low, &high, settings);
        counter.evaluations += optimum.calls;
        (full(&optimum.at), best.expect("the start was scored"), optimum.stopped)
    }

    pub fn hyperparameters(&self, candidate: &Candidate) -> Hyperparameters {
        let ln_length_scales = self.setting.rounded_length_scales(&candidate.ln_length_scales);
        Hyperparameters {
            epsilon: self.setting.rounded_epsilon(&candidate.ln_epsilon).iter().map(|e| e.exp()).collect(),
            regularization: self.regularization(&ln_length_scales, self.setting.rounded(candidate.ln_ridge)),
            length_scale: ln_length_scales.iter().map(|b| b.exp()).collect(),
            family: self.setting.settings.family,
        }
    }
}

/// The simulations with these indices.
fn head(recorded: &Recorded, indices: &[usize]) -> Result<Recorded, Error> {
    Ok(match recorded {
        Recorded::Statistics(simulations) => Recorded::Statistics(Arc::new(simulations.select(indices)?)),
        Recorded::DataSets(sets) => Recorded::DataSets(Arc::new(crate::simulations::DataSets {
            theta: sets.theta.select(indices),
            sets: indices.iter().map(|&i| sets.sets[i].clone()).collect(),
            alpha: sets.alpha,
        })),
    })
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
