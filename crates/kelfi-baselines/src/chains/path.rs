//! Where a chain has been, and Metropolis and Hastings' rule.

use kelfi::method::{Answer, Particles, Task};
use kelfi::{Error, Points};
use rand::{Rng, RngExt};

/// Share of a chain that is left out at its start.
const WARM_UP: f64 = 0.2;
/// A chain that kept fewer points than this tells little about widths.
const FEW: usize = 10;

/// States of a chain with how long it stayed at each.
#[derive(Debug, Clone)]
pub struct Path {
    states: Vec<Vec<f64>>,
    visits: Vec<f64>,
}

impl Path {
    /// At its start.
    pub fn new(start: Vec<f64>) -> Self {
        Self { states: vec![start], visits: vec![1.0] }
    }

    /// One step: to `z`, or nowhere.
    pub fn step(&mut self, to: Option<Vec<f64>>) {
        match to {
            Some(z) => {
                self.states.push(z);
                self.visits.push(1.0);
            }
            None => *self.visits.last_mut().expect("a path has a start") += 1.0,
        }
    }

    /// Where it is.
    pub fn here(&self) -> &[f64] {
        self.states.last().expect("a path has a start")
    }

    /// States after the first fifth of the steps, weighted by how long the chain stayed. Where these are few, the answer says so.
    pub fn answer(self, task: &Task<'_>) -> Result<Answer, Error> {
        let (steps, moves) = (self.visits.iter().sum::<f64>() - 1.0, self.states.len() - 1);
        let mut skipped = WARM_UP * self.visits.iter().sum::<f64>();
        let mut weights = self.visits;
        for weight in weights.iter_mut() {
            let less = skipped.min(*weight);
            *weight -= less;
            skipped -= less;
        }
        let kept: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
        let rows: Vec<&Vec<f64>> = kept.iter().map(|&i| &self.states[i]).collect();
        let weights: Vec<f64> = kept.iter().map(|&i| weights[i]).collect();
        let particles = Particles::from_latent(task.prior, &Points::from_rows(&rows)?, &weights)?;
        let remark = remark(steps as usize, moves, rows.len());
        Ok(Answer::Particles(match remark {
            Some(remark) => particles.with_remark(remark),
            None => particles,
        }))
    }
}

/// What a reader has to know about a chain of so many steps and moves, of which so many points are kept.
fn remark(steps: usize, moves: usize, kept: usize) -> Option<String> {
    let times = if moves == 1 { "once".to_owned() } else { format!("{moves} times") };
    match (steps, moves, kept) {
        (0, ..) => Some("the budget ended before the first step of the chain: a point, not a posterior".into()),
        (_, 0, _) => Some(format!("the chain never moved in {steps} steps: a point, not a posterior")),
        (_, _, 1) => Some(format!("the chain moved {times} in {steps} steps, but not after its warm-up: a point, not a posterior")),
        _ if kept < FEW => Some(format!("the chain moved only {times} in {steps} steps: its widths say little")),
        _ => None,
    }
}

/// Whether a proposal is taken: with probability min(1, exp(ln_ratio)). −∞ against −∞ is taken, so that a chain can leave where nothing fits.
pub fn accept(ln_new: f64, ln_old: f64, rng: &mut dyn Rng) -> bool {
    let level = rng.random::<f64>().ln();
    if ln_old == f64::NEG_INFINITY { ln_new > f64::NEG_INFINITY || level < 0.0 } else { level < ln_new - ln_old }
}

/// ln p(z), or why there is none.
pub fn ln_prior(task: &Task<'_>, z: &[f64]) -> Result<f64, Error> {
    task.prior.latent().ln_density(z).ok_or_else(|| Error::Unavailable {
        what: "a chain under this prior".into(),
        reason: "the prior is given only as draws; give it as a distribution".into(),
    })
}

/// An error when the task was withdrawn.
pub fn go_on(task: &Task<'_>) -> Result<(), Error> {
    if (task.go_on)() { Ok(()) } else { Err(Error::Interrupted) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_that_hardly_moved_says_so_and_one_that_moved_does_not() {
        let said = |steps, moves, kept| remark(steps, moves, kept).unwrap_or_default();
        assert!(said(0, 0, 1).contains("before the first step"));
        assert!(said(23, 0, 1).contains("never moved in 23 steps"));
        assert!(said(23, 1, 1).contains("moved once in 23 steps, but not after"));
        assert!(said(23, 4, 3).contains("only 4 times in 23 steps"));
        assert_eq!(remark(230, 40, 30), None);
    }
}
