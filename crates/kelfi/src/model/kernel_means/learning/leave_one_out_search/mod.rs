//! Maximising the leave-one-out posterior score: a grid over (β, mλ, ε) and its plateau's centre, then local refinement.

mod grid;
mod refinement;
mod relevance;
mod stage;

pub use grid::grid_axes;

use crate::Error;
use crate::model::Hyperparameters;
use crate::model::kernel_means::constants::grid as grid_size;
use crate::model::kernel_means::constants::refinement::{LAST_REFINEMENTS, MANY as MANY_SIZE, PART as PART_SIZE, REFINEMENTS};
use crate::model::kernel_means::constants::relevance::LAST_STEPS;
use crate::model::kernel_means::learning::choices::{EpsilonChoice, LengthScaleChoice};
use crate::model::kernel_means::learning::learned::{Counter, LocalOptimum};
use crate::model::kernel_means::learning::leave_one_out::Scored;
use crate::model::kernel_means::learning::problem::LearningProblem;
use crate::optimise::Stopped;
use stage::{Effort, Stage};

/// What the grid is scored with, what everything after it is refined with, and what the final choice is scored with.
const GRID: Effort = Effort { simulations: grid_size::SIMULATIONS, ..REFINED };
const REFINED: Effort = Effort { simulations: usize::MAX, members: grid_size::MEMBERS, points: grid_size::POINTS };
const FULL: Effort = Effort { simulations: usize::MAX, members: usize::MAX, points: grid_size::LAST_POINTS };
/// With a low-rank solver, what is refined on the first simulations and then, by few factorisations, on many of them.
const PART: Effort = Effort { simulations: PART_SIZE, ..REFINED };
const MANY: Effort = Effort { simulations: MANY_SIZE, ..REFINED };

/// What the search found.
pub struct Found {
    /// The choice.
    pub hyperparameters: Hyperparameters,
    /// Its score.
    pub scored: Scored,
    /// The final choice and local optima of the grid.
    pub optima: Vec<LocalOptimum>,
    /// Why the last search ended.
    pub stopped: Stopped,
}

/// Searches everything that is not fixed.
pub fn search(setting: &LearningProblem<'_>, counter: &mut Counter<'_>) -> Result<Found, Error> {
    let mut stage = Stage::new(setting, &GRID)?;
    let (mut best, optima) = grid::search(&stage, counter)?;
    let in_parts = setting.len() > PART.simulations && setting.settings.solver.is_low_rank(setting.len());
    if setting.len() > GRID.simulations {
        stage = Stage::new(setting, if in_parts { &PART } else { &REFINED })?;
        if let Some(start) = stage.again(&best, counter)? {
            best = refinement::refine(&stage, start, REFINEMENTS, counter)?;
        }
    }
    if let LengthScaleChoice::PerParameter = setting.settings.length_scale {
        best = refinement::own_length_scales(&stage, best, counter)?;
    }
    let own_tolerances = setting.settings.epsilon == EpsilonChoice::PerStatistic && setting.active().len() > 1;
    let mut own = if own_tolerances { Some(relevance::own_tolerances(&stage, best.clone(), counter)?) } else { None };
    if in_parts {
        let many = Stage::new(setting, &MANY)?;
        best = refinement::on_more(&many, best, LAST_REFINEMENTS, counter)?;
        own = own.map(|own| refinement::on_more(&many, own, LAST_REFINEMENTS, counter)).transpose()?;
    }
    let full = Stage::new(setting, &FULL)?;
    let mut stopped = Stopped::Converged;
    let mut chosen = match in_parts && setting.len() > MANY.simulations {
        // The solver has to reach it with all simulations too; nothing else is searched there.
        true => {
            own = own.map(|own| refinement::on_more(&full, own, 0, counter)).transpose()?;
            refinement::on_more(&full, best, 0, counter)?
        }
        false => full.again(&best, counter)?.unwrap_or(best),
    };
    if let Some(own) = own {
        let (own, why) = relevance::climb(&full, own, LAST_STEPS, counter)?;
        if own.scored.objective >= chosen.scored.objective {
            (chosen, stopped) = (own, why);
        }
    }
    let hyperparameters = full.hyperparameters(&chosen);
    let mut all = vec![LocalOptimum { hyperparameters: hyperparameters.clone(), objective: chosen.scored.objective }];
    all.extend(optima);
    Ok(Found { hyperparameters, scored: chosen.scored, optima: all, stopped })
}
