//! Maximising the leave-one-out posterior score: a grid over (β, mλ, ε) and its plateau's centre, then local refinement.

mod grid;
mod refinement;
mod relevance;
mod stage;

pub use grid::grid_axes;

use crate::Error;
use crate::learning::learned::{Counter, LocalOptimum};
use crate::learning::leave_one_out::Scored;
use crate::learning::setting::Setting;
use crate::learning::what_is_learned::{EpsilonChoice, LengthScaleChoice};
use crate::model::Hyperparameters;
use crate::optimise::Stopped;
use stage::{Effort, Stage};

/// What the grid is scored with,
const GRID: Effort = Effort { simulations: 500, members: 100, points: 64 };
/// and what the final choice is.
const FULL: Effort = Effort { simulations: usize::MAX, members: usize::MAX, points: 128 };
/// Factorisations of the refinement on more simulations than the grid's.
const REFINEMENTS: usize = 14;

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
pub fn search(setting: &Setting<'_>, counter: &mut Counter<'_>) -> Result<Found, Error> {
    let (best, optima) = grid::search(&Stage::new(setting, &GRID)?, counter)?;
    let stage = Stage::new(setting, &FULL)?;
    let mut best = if setting.len() > GRID.simulations {
        refinement::refine(&stage, best, REFINEMENTS, counter)?
    } else {
        stage.again(best, counter)?
    };
    let mut stopped = Stopped::Converged;
    if let LengthScaleChoice::PerParameter = setting.settings.length_scale {
        best = refinement::own_length_scales(&stage, best, counter)?;
    }
    if setting.settings.epsilon == EpsilonChoice::PerStatistic && setting.active().len() > 1 {
        (best, stopped) = relevance::own_tolerances(&stage, best, counter)?;
    }
    let hyperparameters = stage.hyperparameters(&best);
    let mut all = vec![LocalOptimum { hyperparameters: hyperparameters.clone(), objective: best.scored.objective }];
    all.extend(optima);
    Ok(Found { hyperparameters, scored: best.scored, optima: all, stopped })
}
