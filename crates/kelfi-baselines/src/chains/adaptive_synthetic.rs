//! Adaptive synthetic likelihood (Meeds & Welling, UAI 2014): at every step simulations are added at both ends until the probability of
//! deciding wrongly is small.

use super::mcmc_abc::repeats;
use super::path::{Path, go_on, ln_prior};
use super::pilot::{Pilot, Steps};
use super::synthetic::{Moments, require_settings};
use crate::yardstick::Units;
use kelfi::method::{Answer, Method, Task};
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{Error, Points};
use rand::{Rng, RngExt};

/// Levels u at which the error of a decision is averaged.
const LEVELS: usize = 100;
/// Rounds of further simulations in one step.
const MOST_ROUNDS: usize = 30;

/// A chain that simulates as much as each decision needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaptiveSynthetic {
    /// S₀, calls at an end to begin with.
    pub first: usize,
    /// ΔS, calls added at a time.
    pub more: usize,
    /// ξ, the probability of a wrong decision that is put up with.
    pub error: f64,
    /// M, draws of the means behind that probability.
    pub draws: usize,
    /// ε.
    pub tolerance: f64,
    /// How far the chain steps.
    pub steps: Steps,
    /// Units of the statistics.
    pub units: Units,
}

impl Default for AdaptiveSynthetic {
    /// S₀ = ΔS = 10, ξ = 0.3 as in the KELFI paper; more draws than its 10, which cost no calls.
    fn default() -> Self {
        Self { first: 10, more: 10, error: 0.3, draws: 50, tolerance: 0.1, steps: Steps::default(), units: Units::default() }
    }
}

impl Method for AdaptiveSynthetic {
    fn name(&self) -> &'static str {
        "adaptive-synthetic-likelihood"
    }

    fn description(&self) -> &'static str {
        "synthetic likelihood that simulates until each step is decided safely enough (ASL-ABC; Meeds & Welling 2014)"
    }

    fn reference(&self) -> &'static str {
        "Meeds & Welling, UAI 2014"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        require_settings(self.first, self.tolerance)?;
        if self.more == 0 || self.draws == 0 {
            return Err(Error::invalid("calls added or draws of the means", 0.0, "both must be at least 1"));
        }
        require_error(self.error)?;
        let pilot = Pilot::new(task, self.units)?;
        let mut walk = pilot.steps(self.steps)?;
        let mut path = Path::new(pilot.start());
        if task.calls.left() < self.first {
            return path.answer(task);
        }
        let mut here = repeats(task, path.here(), self.first)?;
        for index in 0.. {
            if task.calls.left() < self.first {
                break;
            }
            go_on(task)?;
            // Not those of the plain synthetic likelihood: it would be the same chain until a first decision differs.
            let mut rng = stream(task.seed, Purpose::Candidates, index);
            let to = walk.step(path.here(), &mut rng);
            let mut there = repeats(task, &to, self.first)?;
            let ln_prior_ratio = ln_prior(task, &to)? - ln_prior(task, path.here())?;
            let mut threshold = 0.0;
            for _ in 0..MOST_ROUNDS {
                let ends = [&here, &there].map(|x| Moments::new(&pilot.yardstick, x, self.tolerance));
                let ratios = self.acceptances(&ends, ln_prior_ratio, &mut rng);
                threshold = median(&ratios);
                if error_of_decision(&ratios, threshold) <= self.error || task.calls.left() < self.more {
                    break;
                }
                let (z, pool) = if rng.random::<bool>() { (path.here().to_vec(), &mut here) } else { (to.clone(), &mut there) };
                *pool = stacked(pool, &repeats(task, &z, self.more)?)?;
            }
            let accepted = rng.random::<f64>() <= threshold;
            walk.adapt(accepted);
            if accepted {
                here = there;
            }
            path.step(accepted.then_some(to));
        }
        path.answer(task)
    }
}

impl AdaptiveSynthetic {
    /// a_m = min(1, p(z') N(y|μ'_m, Σ') / (p(z) N(y|μ_m, Σ))) for draws of both means.
    fn acceptances(&self, [here, there]: &[Moments; 2], ln_prior_ratio: f64, rng: &mut dyn Rng) -> Vec<f64> {
        let mut ln_density = |end: &Moments| {
            let noise: Vec<f64> = end.mean.iter().flatten().map(|_| standard_normal(rng)).collect();
            end.perturbed_mean(&noise).map_or(f64::NEG_INFINITY, |mean| end.ln_density_at_zero(Some(&mean)))
        };
        (0..self.draws).map(|_| acceptance(ln_density(here), ln_density(there) + ln_prior_ratio)).collect()
    }
}

/// min(1, exp(new − old)); 1 from where nothing fits.
pub fn acceptance(ln_old: f64, ln_new: f64) -> f64 {
    if ln_old == f64::NEG_INFINITY { 1.0 } else { (ln_new - ln_old).exp().min(1.0) }
}

/// An error unless ξ lies in (0, ½].
pub fn require_error(error: f64) -> Result<(), Error> {
    if error > 0.0 && error <= 0.5 {
        return Ok(());
    }
    Err(Error::invalid("probability of a wrong decision", error, "it must lie in (0, 0.5]"))
}

/// E = ∫ E(u) du: the share of acceptance probabilities on the other side of u than τ, averaged over u.
pub fn error_of_decision(acceptances: &[f64], threshold: f64) -> f64 {
    let share = |wrong: &dyn Fn(f64) -> bool| acceptances.iter().filter(|a| wrong(**a)).count() as f64 / acceptances.len() as f64;
    let at = |level: usize| {
        let u = (level as f64 + 0.5) / LEVELS as f64;
        if u <= threshold { share(&|a| a < u) } else { share(&|a| a >= u) }
    };
    (0..LEVELS).map(at).sum::<f64>() / LEVELS as f64
}

/// The middle value.
pub fn median(values: &[f64]) -> f64 {
    kelfi::simulations::scales::median(values.to_vec()).unwrap_or(0.0)
}

/// Rows of both.
fn stacked(a: &Points, b: &Points) -> Result<Points, Error> {
    Points::new([a.values(), b.values()].concat(), a.rows() + b.rows(), a.columns())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_that_every_draw_agrees_on_have_no_error_and_even_ones_the_most() {
        assert_eq!(error_of_decision(&[1.0; 10], 1.0), 0.0);
        // Half at 0 and half at 1: whatever u and τ, half of the draws say otherwise.
        let split: Vec<f64> = (0..10).map(|i| f64::from(i % 2)).collect();
        assert!((error_of_decision(&split, 0.5) - 0.5).abs() < 1e-12);
        // All at 0.3: u below it is taken by all, u above it by none.
        assert_eq!(error_of_decision(&[0.3; 7], 0.3), 0.0);
    }
}
