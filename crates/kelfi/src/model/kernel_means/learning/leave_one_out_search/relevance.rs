//! A tolerance for every statistic, with (β, mλ) adjusted around them.

use super::refinement::refine;
use super::stage::{Candidate, Stage};
use crate::Error;
use crate::model::kernel_means::constants::relevance::{ADJUSTMENTS, ENOUGH, FIRST_STEPS, PLACES, STEPS};
use crate::model::kernel_means::learning::learned::Counter;
use crate::optimise::Stopped;

/// Uphill in the tolerances, then alternately in (β, mλ) and the tolerances.
pub fn own_tolerances(stage: &Stage<'_>, start: Candidate, counter: &mut Counter<'_>) -> Result<Candidate, Error> {
    let (mut best, _) = climb(stage, start, FIRST_STEPS, counter)?;
    for _ in 0..ADJUSTMENTS {
        let before = best.scored.objective;
        best = refine(stage, best, PLACES, counter)?;
        if best.scored.objective <= before {
            break;
        }
        (best, _) = climb(stage, best, STEPS, counter)?;
        if best.scored.objective - before < ENOUGH * best.scored.standard_error {
            break;
        }
    }
    Ok(best)
}

/// Uphill in the tolerances alone. Never ends below the start, if that was scored on this stage.
pub fn climb(stage: &Stage<'_>, start: Candidate, steps: usize, counter: &mut Counter<'_>) -> Result<(Candidate, Stopped), Error> {
    let found = stage.at(&start.place, counter, |score| stage.own_tolerances(score, &start.ln_epsilon, steps))?;
    let Some((ln_epsilon, scored, stopped)) = found else { return Ok((start, Stopped::NoProgress)) };
    counter.best = counter.best.max(scored.objective);
    Ok((Candidate { ln_epsilon, scored, ..start }, stopped))
}
