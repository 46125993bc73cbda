//! Where the posterior is after a round, and how far the round moved it.

use crate::Points;
use serde::{Deserialize, Serialize};

/// A posterior that moved by less than this many standard errors of its draws has not moved.
const ERRORS: f64 = 3.0;

/// Means and standard deviations of a posterior, in z coordinates, and how well its draws tell them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The mean of each coordinate.
    pub means: Vec<f64>,
    /// Its standard deviation.
    pub deviations: Vec<f64>,
    /// Independent draws that they rest on.
    pub effective: f64,
}

/// How far a round moved the posterior.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Movement {
    /// The largest change of a mean, in standard deviations of the posterior after it.
    pub shift: f64,
    /// The largest change of ln of a standard deviation.
    pub stretch: f64,
    /// Standard error of the shift from having draws.
    pub error: f64,
}

impl Place {
    /// Of draws in z coordinates.
    pub fn of(draws: &Points, effective: f64) -> Self {
        let count = draws.rows().max(1) as f64;
        let means: Vec<f64> = (0..draws.columns()).map(|d| draws.iter().map(|z| z[d]).sum::<f64>() / count).collect();
        let variance = |d: usize| draws.iter().map(|z| (z[d] - means[d]).powi(2)).sum::<f64>() / count;
        Self { deviations: (0..draws.columns()).map(|d| variance(d).sqrt()).collect(), means, effective }
    }

    /// From an earlier place to this one.
    pub fn since(&self, earlier: &Self) -> Movement {
        let least = f64::MIN_POSITIVE;
        let largest = |of: &dyn Fn(usize) -> f64| (0..self.means.len()).map(of).fold(0.0, f64::max);
        Movement {
            shift: largest(&|d| (self.means[d] - earlier.means[d]).abs() / self.deviations[d].max(least)),
            stretch: largest(&|d| (self.deviations[d].max(least) / earlier.deviations[d].max(least)).ln().abs()),
            error: (1.0 / self.effective.max(1.0) + 1.0 / earlier.effective.max(1.0)).sqrt(),
        }
    }
}

impl Movement {
    /// Whether it is no more than chance makes of draws of the same posterior.
    pub fn is_chance(&self) -> bool {
        self.shift.max(self.stretch) < ERRORS * self.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};

    fn draws(mean: f64, std: f64, seed: u64) -> Place {
        let mut rng = stream(seed, Purpose::Experiment, 0);
        let z = (0..2_000).map(|_| [mean + std * standard_normal(&mut rng), standard_normal(&mut rng)]).collect::<Vec<_>>();
        Place::of(&Points::from_rows(&z).unwrap(), 2_000.0)
    }

    #[test]
    fn draws_of_one_posterior_have_not_moved_and_those_of_another_have() {
        let before = draws(0.0, 0.1, 1);
        assert!(draws(0.0, 0.1, 2).since(&before).is_chance());
        let shifted = draws(0.02, 0.1, 2).since(&before);
        assert!(!shifted.is_chance() && (shifted.shift - 0.2).abs() < 0.07, "{shifted:?}");
        let stretched = draws(0.0, 0.15, 2).since(&before);
        assert!(!stretched.is_chance() && (stretched.stretch - 1.5_f64.ln()).abs() < 0.07, "{stretched:?}");
    }
}
