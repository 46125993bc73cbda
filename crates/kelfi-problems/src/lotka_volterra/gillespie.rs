//! Gillespie's exact simulation of the predator-prey jump process, recorded on a time grid.

use crate::problem::SimulationFailure;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1};

/// Predators and prey at time 0.
const START: (f64, f64) = (50.0, 100.0);
/// Rows recorded, time 0 included.
pub const ROWS: usize = 151;
/// Time between rows.
const INTERVAL: f64 = 0.2;
/// Reactions after which a run counts as failed.
pub const CAP: usize = 10_000;

/// One run at rates θ: predators and prey at times 0, 0.2, …, 30.
///
/// Reactions: predator born (θ₁ x y), predator dies (θ₂ x), prey born (θ₃ y), prey dies (θ₄ x y), x predators, y prey.
/// The state kept for grid time g is the one just after the first reaction at or beyond g, as in the authors' code.
pub fn run(rates: &[f64; 4], rng: &mut dyn Rng) -> Result<(Vec<f64>, Vec<f64>), SimulationFailure> {
    let (mut predators, mut prey) = (Vec::with_capacity(ROWS), Vec::with_capacity(ROWS));
    let (mut x, mut y) = START;
    let (mut time, mut reactions) = (0.0, 0);
    for row in 0..ROWS {
        let grid_time = row as f64 * INTERVAL;
        while time < grid_time {
            let meetings = x * y;
            let born = rates[0] * meetings;
            let predator = born + rates[1] * x;
            let prey_born = predator + rates[2] * y;
            let total = prey_born + rates[3] * meetings;
            if total <= 0.0 {
                time = f64::INFINITY;
                break;
            }
            if reactions == CAP {
                return Err(SimulationFailure::TooLong { cap: CAP, unit: "reactions" });
            }
            reactions += 1;
            let wait: f64 = Exp1.sample(rng);
            time += wait / total;
            let choice = rng.random::<f64>() * total;
            if choice < born {
                x += 1.0;
            } else if choice < predator {
                x -= 1.0;
            } else if choice < prey_born {
                y += 1.0;
            } else {
                y -= 1.0;
            }
        }
        predators.push(x);
        prey.push(y);
    }
    Ok((predators, prey))
}
