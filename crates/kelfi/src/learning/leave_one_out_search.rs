//! Maximising the leave-one-out posterior score: a grid over (β, mλ) with ε profiled out, the plateau's centre, then local refinement.

use crate::learning::learned::{Counter, LocalOptimum};
use crate::learning::leave_one_out::{LeaveOneOutScore, Scored};
use crate::learning::local_set::LocalSet;
use crate::learning::pairs::Pairs;
use crate::learning::quadrature::PriorPoints;
use crate::learning::setting::{REGULARIZATIONS, Setting};
use crate::learning::what_is_learned::{EpsilonChoice, LengthScaleChoice, RegularizationChoice};
use crate::model::Hyperparameters;
use crate::optimise::{Settings, Stopped, maximise};
use crate::simulations::Recorded;
use crate::{Error, Points};
use std::sync::Arc;

/// The grid is searched on at most this many simulations, then refined on all.
const GRID_SIMULATIONS: usize = 500;
const GRID_LENGTH_SCALES: usize = 10;
const GRID_RIDGES: usize = 6;
/// Ridges mλ of the grid.
const RIDGES: (f64, f64) = (1e-5, 10.0);
const LENGTHS: (f64, f64) = (0.08, 4.0);
const COARSE_TOLERANCES: usize = 11;
const POINTS: usize = 128;
/// Scores within this many standard errors of the best count as equal. Over 200 toy data sets ½ does better than 1, 2 or the highest point.
const PLATEAU: f64 = 0.5;
/// A per-statistic tolerance may grow to this many spreads.
const LARGEST_TOLERANCE: f64 = 1e3;

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
    /// (ln ε in common units, objective) of an even scan of tolerances at this (β, mλ); empty if there was none.
    scan: Vec<(f64, f64)>,
}

/// The best common tolerance at one (β, mλ).
struct Common {
    ln_epsilon: Vec<f64>,
    scored: Scored,
    scan: Vec<(f64, f64)>,
}

/// What the search found.
pub struct Found {
    /// The choice.
    pub hyperparameters: Hyperparameters,
    /// Its score.
    pub scored: Scored,
    /// Local optima of the grid and the final choice.
    pub optima: Vec<LocalOptimum>,
    /// Why the last search ended.
    pub stopped: Stopped,
}

/// One set of simulations to score on: all of them, or the first few.
struct Stage<'a> {
    setting: &'a Setting<'a>,
    z: Points,
    local: LocalSet,
    pairs: Pairs,
    points: PriorPoints,
}

impl<'a> Stage<'a> {
    fn new(setting: &'a Setting<'a>, simulations: usize) -> Result<Self, Error> {
        let (recorded, z) = if simulations >= setting.len() {
            (setting.recorded.clone(), setting.z.clone())
        } else {
            let indices: Vec<usize> = (0..simulations).collect();
            (head(setting.recorded, &indices)?, setting.points(&indices))
        };
        let units: Vec<f64> =
            setting.scales.iter().zip(&setting.units).map(|(s, u)| if s.dropped.is_some() { *u } else { s.scale }).collect();
        let local = LocalSet::new(&recorded, setting.observation, &units, setting.active().len())?;
        let pairs = Pairs::new(&recorded, setting.observation, &local)?;
        let (mean, std) = local.spread(&z);
        let points = PriorPoints::new(&setting.prior.latent(), &mean, &std, POINTS, setting.settings.seed);
        Ok(Self { setting, z, local, pairs, points })
    }

    /// Scores (β, mλ) with ε found by `tolerances`, which gets the prepared score. `None` where the matrix cannot be factored.
    fn at<T>(
        &self,
        ln_length_scales: &[f64],
        ln_ridge: f64,
        counter: &mut Counter<'_>,
        tolerances: impl FnOnce(&LeaveOneOutScore<'_>, &mut Counter<'_>) -> T,
    ) -> Result<Option<T>, Error> {
        let lambda = self.regularization(ln_length_scales, ln_ridge);
        let scales = ln_length_scales.iter().map(|b| b.exp()).collect();
        let operator = match self.setting.operator_on(self.z.clone(), scales, lambda, counter) {
            Ok(operator) => operator,
            Err(Error::NotPositiveDefinite { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        match LeaveOneOutScore::new(&operator, &self.local, &self.pairs, &self.points) {
            Ok(score) => Ok(Some(tolerances(&score, counter))),
            Err(Error::NotPositiveDefinite { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn regularization(&self, ln_length_scales: &[f64], ln_ridge: f64) -> f64 {
        let scales: Vec<f64> = ln_length_scales.iter().map(|b| b.exp()).collect();
        let free = ln_ridge.exp() / self.z.rows() as f64;
        self.setting.bound_regularization(&scales).unwrap_or(free).clamp(0.0, f64::MAX)
    }

    /// The best common tolerance: a coarse scan, then parabolas through the best three.
    fn common_tolerance(&self, score: &LeaveOneOutScore<'_>, around: Option<f64>, counter: &mut Counter<'_>) -> Common {
        if let Some(epsilon) = self.setting.fixed_epsilon() {
            counter.evaluations += 1;
            let scored = score.evaluate(&epsilon, false);
            return Common { ln_epsilon: epsilon.iter().map(|e| e.ln()).collect(), scored, scan: vec![] };
        }
        let (low, high) = (self.setting.epsilons.0.ln(), self.setting.epsilons.1.ln());
        let mut evaluate = |t: f64| {
            counter.evaluations += 1;
            (t, score.evaluate(&self.setting.tolerances(t.exp()), false))
        };
        let step = (high - low) / (COARSE_TOLERANCES - 1) as f64;
        let mut tried: Vec<(f64, Scored)> = match around {
            None => (0..COARSE_TOLERANCES).map(|k| evaluate(low + k as f64 * step)).collect(),
            Some(t) => [-0.3, 0.0, 0.3].iter().map(|shift| evaluate((t + shift).clamp(low, high))).collect(),
        };
        let scan = if around.is_none() { tried.iter().map(|(t, s)| (*t, s.objective)).collect() } else { vec![] };
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
        Common { ln_epsilon: self.setting.tolerances(t.exp()).iter().map(|e| e.ln()).collect(), scored, scan }
    }

    /// Tolerances of their own for every statistic in use, uphill from `start`.
    fn own_tolerances(
        &self,
        score: &LeaveOneOutScore<'_>,
        start: &[f64],
        steps: usize,
        counter: &mut Counter<'_>,
    ) -> (Vec<f64>, Scored, Stopped) {
        let active = self.setting.active();
        let bound = |i: usize, by: f64| (by * self.setting.scales[i].scale).ln();
        let low: Vec<f64> = active.iter().map(|&i| (bound(i, 1e-3)).min(start[i])).collect();
        let high: Vec<f64> = active.iter().map(|&i| bound(i, LARGEST_TOLERANCE).max(start[i])).collect();
        let full = |free: &[f64]| {
            let mut ln_epsilon = start.to_vec();
            active.iter().zip(free).for_each(|(&i, value)| ln_epsilon[i] = *value);
            ln_epsilon
        };
        let function = |free: &[f64]| {
            let epsilon: Vec<f64> = full(free).iter().map(|e| e.exp()).collect();
            let scored = score.evaluate(&epsilon, true);
            (scored.objective, active.iter().map(|&i| scored.gradient[i]).collect())
        };
        let free: Vec<f64> = active.iter().map(|&i| start[i]).collect();
        let settings = Settings { steps, gradient: 1e-4, gain: 1e-5, longest: 1.0 };
        let optimum = maximise(function, &free, &low, &high, settings);
        counter.evaluations += optimum.calls + 1;
        let ln_epsilon = full(&optimum.at);
        let scored = score.evaluate(&ln_epsilon.iter().map(|e| e.exp()).collect::<Vec<f64>>(), false);
        (ln_epsilon, scored, optimum.stopped)
    }

    fn hyperparameters(&self, candidate: &Candidate) -> Hyperparameters {
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

/// Searches everything that is not fixed.
pub fn search(setting: &Setting<'_>, counter: &mut Counter<'_>) -> Result<Found, Error> {
    let grid_stage = Stage::new(setting, GRID_SIMULATIONS)?;
    let (mut best, optima) = grid(&grid_stage, counter)?;
    let mut stage = grid_stage;
    let mut stopped = Stopped::Converged;
    if setting.len() > GRID_SIMULATIONS {
        stage = Stage::new(setting, usize::MAX)?;
        best = refine(&stage, best, 14, counter)?;
    }
    if let LengthScaleChoice::PerParameter = setting.settings.length_scale {
        best = own_length_scales(&stage, best, counter)?;
    }
    if setting.settings.epsilon == EpsilonChoice::PerStatistic && setting.active().len() > 1 {
        (best, stopped) = relevance(&stage, best, counter)?;
    }
    let hyperparameters = stage.hyperparameters(&best);
    let mut all = vec![LocalOptimum { hyperparameters: hyperparameters.clone(), objective: best.scored.objective }];
    all.extend(optima);
    Ok(Found { hyperparameters, scored: best.scored, optima: all, stopped })
}

/// The logarithms of the length scales, ridges mλ and common tolerances the search starts from.
pub fn grid_axes(setting: &Setting<'_>) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let spaced = |range: (f64, f64), count: usize| -> Vec<f64> {
        (0..count).map(|k| range.0.ln() + (range.1 / range.0).ln() * k as f64 / (count - 1) as f64).collect()
    };
    let lengths = match setting.settings.length_scale {
        LengthScaleChoice::Fixed(_) => vec![0.0],
        _ => spaced(LENGTHS, GRID_LENGTH_SCALES),
    };
    let ridges = match setting.settings.regularization {
        RegularizationChoice::Free => spaced(RIDGES, GRID_RIDGES),
        _ => vec![0.0],
    };
    (lengths, ridges, spaced(setting.epsilons, COARSE_TOLERANCES))
}

/// Every (β, mλ) of the grid with its best common ε; then the centre of the plateau that the score cannot tell apart.
fn grid(stage: &Stage<'_>, counter: &mut Counter<'_>) -> Result<(Candidate, Vec<LocalOptimum>), Error> {
    let (lengths, ridges, _) = grid_axes(stage.setting);
    let mut tried: Vec<Vec<Option<Candidate>>> = Vec::with_capacity(lengths.len());
    for &ln_length in &lengths {
        let ln_length_scales: Vec<f64> = stage.setting.length_scales(ln_length.exp()).iter().map(|b| b.ln()).collect();
        let mut row = Vec::with_capacity(ridges.len());
        for &ln_ridge in &ridges {
            let found = stage.at(&ln_length_scales, ln_ridge, counter, |score, counter| stage.common_tolerance(score, None, counter))?;
            let candidate = found.map(|c| Candidate {
                ln_length_scales: ln_length_scales.clone(),
                ln_ridge,
                ln_epsilon: c.ln_epsilon,
                scored: c.scored,
                scan: c.scan,
            });
            counter.best = candidate.iter().fold(counter.best, |best, c| best.max(c.scored.objective));
            row.push(candidate);
        }
        tried.push(row);
    }
    let flat: Vec<&Candidate> = tried.iter().flatten().flatten().collect();
    let best = flat.iter().copied().max_by(|a, b| a.scored.objective.total_cmp(&b.scored.objective)).cloned();
    let best = best.ok_or(Error::NotPositiveDefinite { pivot: 0, order: stage.z.rows(), value: 0.0, regularization: REGULARIZATIONS.0 })?;
    let optima = local_optima(&tried, stage);
    let centre = plateau_centre(stage, &flat, &best);
    let scored = stage.at(&centre.ln_length_scales, centre.ln_ridge, counter, |score, _| {
        score.evaluate(&centre.ln_epsilon.iter().map(|e| e.exp()).collect::<Vec<f64>>(), false)
    })?;
    Ok((
        match scored {
            Some(scored) if scored.objective >= best.scored.objective - best.scored.standard_error => Candidate { scored, ..centre },
            _ => best,
        },
        optima,
    ))
}

/// The mean of ln(β, mλ, ε) over the whole grid, weighed by exp((score - best)/½ standard error): scores closer than that
/// count alike, and the middle of such a plateau is a steadier choice than its highest point.
fn plateau_centre(stage: &Stage<'_>, tried: &[&Candidate], best: &Candidate) -> Candidate {
    let error = (PLATEAU * best.scored.standard_error).max(1e-9);
    let weigh = |objective: f64| ((objective - best.scored.objective) / error).exp();
    let (mut total, mut ln_ridge, mut common) = (0.0, 0.0, 0.0);
    let mut ln_length_scales = vec![0.0; best.ln_length_scales.len()];
    for candidate in tried {
        for &(t, objective) in &candidate.scan {
            let weight = weigh(objective);
            total += weight;
            ln_ridge += weight * candidate.ln_ridge;
            common += weight * t;
            ln_length_scales.iter_mut().zip(&candidate.ln_length_scales).for_each(|(sum, b)| *sum += weight * b);
        }
    }
    if total <= 0.0 {
        return best.clone();
    }
    ln_length_scales.iter_mut().for_each(|sum| *sum /= total);
    let ln_epsilon = stage.setting.tolerances((common / total).exp()).iter().map(|e| e.ln()).collect();
    Candidate { ln_length_scales, ln_ridge: ln_ridge / total, ln_epsilon, scored: best.scored.clone(), scan: vec![] }
}

/// Grid points that no neighbour exceeds, best first.
fn local_optima(tried: &[Vec<Option<Candidate>>], stage: &Stage<'_>) -> Vec<LocalOptimum> {
    let value = |i: usize, j: usize| tried[i][j].as_ref().map_or(f64::NEG_INFINITY, |c| c.scored.objective);
    let mut optima = Vec::new();
    for i in 0..tried.len() {
        for j in 0..tried[i].len() {
            let Some(candidate) = &tried[i][j] else { continue };
            let higher = |a: usize, b: usize| a < tried.len() && b < tried[i].len() && value(a, b) > candidate.scored.objective;
            let neighbours = [(i.wrapping_sub(1), j), (i + 1, j), (i, j.wrapping_sub(1)), (i, j + 1)];
            if !neighbours.iter().any(|&(a, b)| higher(a, b)) {
                optima.push(LocalOptimum { hyperparameters: stage.hyperparameters(candidate), objective: candidate.scored.objective });
            }
        }
    }
    optima.sort_by(|a, b| b.objective.total_cmp(&a.objective));
    optima
}

/// A pattern search in (ln β, ln mλ) on all simulations, ε following.
fn refine(stage: &Stage<'_>, start: Candidate, budget: usize, counter: &mut Counter<'_>) -> Result<Candidate, Error> {
    let settings = &stage.setting.settings;
    let common = |c: &Candidate| c.ln_epsilon[stage.setting.active().first().copied().unwrap_or(0)];
    let unit = stage.setting.active().first().map_or(0.0, |&i| stage.setting.units[i].ln());
    let at = |ln_length_scales: Vec<f64>, ln_ridge: f64, around: f64, counter: &mut Counter<'_>| -> Result<Option<Candidate>, Error> {
        let found =
            stage.at(&ln_length_scales, ln_ridge, counter, |score, counter| stage.common_tolerance(score, Some(around), counter))?;
        Ok(found.map(|c| Candidate { ln_length_scales, ln_ridge, ln_epsilon: c.ln_epsilon, scored: c.scored, scan: c.scan }))
    };
    let mut best = match at(start.ln_length_scales.clone(), start.ln_ridge, common(&start) - unit, counter)? {
        Some(candidate) => candidate,
        None => return Ok(start),
    };
    let mut directions = Vec::new();
    if !matches!(settings.length_scale, LengthScaleChoice::Fixed(_)) {
        directions.push((0.4, 0.0));
    }
    if settings.regularization == RegularizationChoice::Free {
        directions.push((0.0, 1.6));
    }
    let mut step = 1.0;
    let mut used = 1;
    while used < budget && step > 0.2 && !directions.is_empty() {
        let mut moved = false;
        for k in 0..2 * directions.len() {
            let direction = directions[k / 2];
            let sign = if k % 2 == 0 { step } else { -step };
            let scales: Vec<f64> = best
                .ln_length_scales
                .iter()
                .map(|b| (b + sign * direction.0).clamp(stage.setting.lengths.0.ln(), stage.setting.lengths.1.ln()))
                .collect();
            let least = (REGULARIZATIONS.0 * stage.z.rows() as f64).ln();
            let candidate = at(scales, (best.ln_ridge + sign * direction.1).max(least), common(&best) - unit, counter)?;
            used += 1;
            if let Some(candidate) = candidate.filter(|c| c.scored.objective > best.scored.objective) {
                best = candidate;
                moved = true;
            }
            counter.best = counter.best.max(best.scored.objective);
            if used >= budget {
                break;
            }
        }
        if !moved {
            step *= 0.5;
        }
    }
    Ok(best)
}

/// One length scale after the other, longer or shorter while the score rises.
fn own_length_scales(stage: &Stage<'_>, start: Candidate, counter: &mut Counter<'_>) -> Result<Candidate, Error> {
    let mut best = start;
    let mut step = 0.7;
    for _ in 0..3 {
        for d in 0..best.ln_length_scales.len() {
            for sign in [1.0, -1.0] {
                let mut scales = best.ln_length_scales.clone();
                scales[d] = (scales[d] + sign * step).clamp(stage.setting.lengths.0.ln(), stage.setting.lengths.1.ln());
                let ln_epsilon = best.ln_epsilon.clone();
                let epsilon: Vec<f64> = ln_epsilon.iter().map(|e| e.exp()).collect();
                let found = stage.at(&scales, best.ln_ridge, counter, |score, _| score.evaluate(&epsilon, false))?;
                if let Some(scored) = found.filter(|scored| scored.objective > best.scored.objective) {
                    best = Candidate { ln_length_scales: scales, scored, ln_epsilon, ..best };
                    break;
                }
            }
        }
        step *= 0.6;
    }
    Ok(best)
}

/// Tolerances of their own, then (β, mλ) once more around them.
fn relevance(stage: &Stage<'_>, start: Candidate, counter: &mut Counter<'_>) -> Result<(Candidate, Stopped), Error> {
    let climb =
        |from: &Candidate, shift: (f64, f64), steps: usize, counter: &mut Counter<'_>| -> Result<Option<(Candidate, Stopped)>, Error> {
            let ln_length_scales: Vec<f64> = from.ln_length_scales.iter().map(|b| b + shift.0).collect();
            let ln_ridge = from.ln_ridge + shift.1;
            let found = stage
                .at(&ln_length_scales, ln_ridge, counter, |score, counter| stage.own_tolerances(score, &from.ln_epsilon, steps, counter))?;
            Ok(found
                .map(|(ln_epsilon, scored, stopped)| (Candidate { ln_length_scales, ln_ridge, ln_epsilon, scored, scan: vec![] }, stopped)))
        };
    let (mut best, mut stopped) = match climb(&start, (0.0, 0.0), 40, counter)? {
        Some(found) => found,
        None => return Ok((start, Stopped::NoProgress)),
    };
    let settings = &stage.setting.settings;
    let mut shifts = Vec::new();
    if !matches!(settings.length_scale, LengthScaleChoice::Fixed(_)) {
        shifts.extend([(0.3, 0.0), (-0.3, 0.0)]);
    }
    if settings.regularization == RegularizationChoice::Free {
        shifts.extend([(0.0, 1.2), (0.0, -1.2)]);
    }
    for _ in 0..2 {
        let before = best.scored.objective;
        for shift in &shifts {
            if let Some((candidate, why)) = climb(&best, *shift, 8, counter)?.filter(|(c, _)| c.scored.objective > best.scored.objective) {
                (best, stopped) = (candidate, why);
            }
            counter.best = counter.best.max(best.scored.objective);
        }
        if best.scored.objective - before < 0.2 * best.scored.standard_error {
            break;
        }
    }
    Ok((best, stopped))
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
