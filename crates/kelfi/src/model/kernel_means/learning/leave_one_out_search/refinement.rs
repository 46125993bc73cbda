//! The choice refined on all simulations: a pattern search in (ln β, ln mλ), then a length scale for each parameter.

use super::stage::{Candidate, Place, Stage};
use crate::Error;
use crate::model::kernel_means::constants::learning::REGULARIZATIONS;
use crate::model::kernel_means::constants::refinement::{LENGTH_STEP, RIDGE_STEP, SHORTEST, SMOOTHER, SMOOTHER_PLACES};
use crate::model::kernel_means::learning::choices::{LengthScaleChoice, RegularizationChoice};
use crate::model::kernel_means::learning::learned::Counter;

/// A pattern search in (ln β, ln mλ) from a candidate scored on this stage, all tolerances growing or shrinking together.
pub fn refine(stage: &Stage<'_>, start: Candidate, budget: usize, counter: &mut Counter<'_>) -> Result<Candidate, Error> {
    let settings = &stage.setting.settings;
    let mut directions = Vec::new();
    if !matches!(settings.length_scale, LengthScaleChoice::Fixed(_)) {
        directions.push((LENGTH_STEP, 0.0));
    }
    if settings.regularization == RegularizationChoice::Free {
        directions.push((0.0, RIDGE_STEP));
    }
    let (mut best, mut step, mut used) = (start, 1.0, 0);
    while used < budget && step > SHORTEST && !directions.is_empty() {
        let mut moved = false;
        for direction in directions.iter().take((budget - used).div_ceil(2)) {
            let places = [step, -step].map(|length| shifted(stage, &best.place, (length * direction.0, length * direction.1)));
            let found = stage.at_many(&places, counter, |_, score| stage.scaled_tolerances(score, &best.ln_epsilon))?;
            used += places.len();
            for (place, (ln_epsilon, scored)) in places.into_iter().zip(found).filter_map(|(place, found)| Some((place, found?))) {
                if scored.objective > best.scored.objective {
                    best = Candidate { place, ln_epsilon, scored };
                    moved = true;
                }
            }
            counter.best = counter.best.max(best.scored.objective);
        }
        if !moved {
            step *= 0.5;
        }
    }
    Ok(best)
}

/// A candidate found on part of the simulations, refined on this stage from it or, where the solver cannot reach it here, from the first of
/// ever smoother places that it reaches; as it was where it reaches none.
pub fn on_more(stage: &Stage<'_>, found: Candidate, budget: usize, counter: &mut Counter<'_>) -> Result<Candidate, Error> {
    let settings = &stage.setting.settings;
    let length = if matches!(settings.length_scale, LengthScaleChoice::Fixed(_)) { 0.0 } else { SMOOTHER.0 };
    let ridge = if settings.regularization == RegularizationChoice::Free { SMOOTHER.1 } else { 0.0 };
    let places = if length + ridge > 0.0 { SMOOTHER_PLACES } else { 1 };
    for k in 0..places {
        let place = shifted(stage, &found.place, (k as f64 * length, k as f64 * ridge));
        if let Some(start) = stage.again(&Candidate { place, ..found.clone() }, counter)? {
            return refine(stage, start, budget, counter);
        }
    }
    Ok(found)
}

/// Another place, inside the bounds of the search.
fn shifted(stage: &Stage<'_>, from: &Place, by: (f64, f64)) -> Place {
    let (low, high) = (stage.setting.lengths.0.ln(), stage.setting.lengths.1.ln());
    let least = (REGULARIZATIONS.0 * stage.z.rows() as f64).ln();
    Place {
        ln_length_scales: from.ln_length_scales.iter().map(|b| (b + by.0).clamp(low, high)).collect(),
        ln_ridge: (from.ln_ridge + by.1).max(least),
    }
}

/// One length scale after the other, longer or shorter while the score rises.
pub fn own_length_scales(stage: &Stage<'_>, start: Candidate, counter: &mut Counter<'_>) -> Result<Candidate, Error> {
    let (low, high) = (stage.setting.lengths.0.ln(), stage.setting.lengths.1.ln());
    let mut best = start;
    let mut step = 0.7;
    for _ in 0..3 {
        for d in 0..best.place.ln_length_scales.len() {
            let places = [step, -step].map(|length| {
                let mut place = best.place.clone();
                place.ln_length_scales[d] = (place.ln_length_scales[d] + length).clamp(low, high);
                place
            });
            let epsilon: Vec<f64> = best.ln_epsilon.iter().map(|e| e.exp()).collect();
            let found = stage.at_many(&places, counter, |_, score| score.evaluate(&epsilon, false))?;
            for (place, scored) in places.into_iter().zip(found).filter_map(|(place, found)| Some((place, found?))) {
                if scored.objective > best.scored.objective {
                    best = Candidate { place, scored, ..best };
                }
            }
        }
        step *= 0.6;
    }
    Ok(best)
}
