//! The choice refined on all simulations: a pattern search in (ln β, ln mλ), then a length scale for each parameter.

use super::stage::{Candidate, Stage};
use crate::Error;
use crate::learning::learned::Counter;
use crate::learning::setting::REGULARIZATIONS;
use crate::learning::what_is_learned::{LengthScaleChoice, RegularizationChoice};

/// A pattern search in (ln β, ln mλ) on all simulations, ε following.
pub fn refine(stage: &Stage<'_>, start: Candidate, budget: usize, counter: &mut Counter<'_>) -> Result<Candidate, Error> {
    let settings = &stage.setting.settings;
    let common = |c: &Candidate| c.ln_epsilon[stage.setting.active().first().copied().unwrap_or(0)];
    let unit = stage.setting.active().first().map_or(0.0, |&i| stage.setting.units[i].ln());
    let at = |ln_length_scales: Vec<f64>, ln_ridge: f64, around: f64, counter: &mut Counter<'_>| -> Result<Option<Candidate>, Error> {
        let found = stage.at(&ln_length_scales, ln_ridge, counter, |score, counter| stage.common_tolerance(score, around, counter))?;
        Ok(found.map(|(ln_epsilon, scored)| Candidate { ln_length_scales, ln_ridge, ln_epsilon, scored }))
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
pub fn own_length_scales(stage: &Stage<'_>, start: Candidate, counter: &mut Counter<'_>) -> Result<Candidate, Error> {
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
