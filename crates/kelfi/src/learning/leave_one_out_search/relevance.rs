//! A tolerance for every statistic, with (β, mλ) adjusted around them.

use super::stage::{Candidate, Stage};
use crate::Error;
use crate::learning::learned::Counter;
use crate::learning::what_is_learned::{LengthScaleChoice, RegularizationChoice};
use crate::optimise::Stopped;

/// Tolerances of their own, then (β, mλ) once more around them.
pub fn own_tolerances(stage: &Stage<'_>, start: Candidate, counter: &mut Counter<'_>) -> Result<(Candidate, Stopped), Error> {
    let climb =
        |from: &Candidate, shift: (f64, f64), steps: usize, counter: &mut Counter<'_>| -> Result<Option<(Candidate, Stopped)>, Error> {
            let ln_length_scales: Vec<f64> = from.ln_length_scales.iter().map(|b| b + shift.0).collect();
            let ln_ridge = from.ln_ridge + shift.1;
            let found = stage
                .at(&ln_length_scales, ln_ridge, counter, |score, counter| stage.own_tolerances(score, &from.ln_epsilon, steps, counter))?;
            Ok(found
                .map(|(ln_epsilon, scored, stopped)| (Candidate { ln_length_scales, ln_ridge, ln_epsilon, scored }, stopped)))
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
