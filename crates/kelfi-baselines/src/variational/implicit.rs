//! Likelihood-free variational inference (LFVI; Tran, Ranganath & Blei, NeurIPS 2017) with a Gaussian q: a classifier estimates the ratio
//! ln p(x|z)/p(x) from pairs simulated where q was, and q follows its gradient at the observation.

use super::family::{Average, GaussianFamily};
use crate::chains::path::go_on;
use crate::chains::pilot::Pilot;
use crate::neural::adam::Adam;
use crate::neural::ratio::Ratio;
use crate::yardstick::Units;
use kelfi::method::{Answer, Method, Task};
use kelfi::{Error, Points};

/// Draws of q for one gradient, and steps after each training; none costs a call.
const DRAWS: usize = 20;
const STEPS: usize = 400;
const RATE: f64 = 0.02;

/// A classifier and a Gaussian in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Implicit {
    /// Rounds after the pilot, of equally many calls.
    pub rounds: usize,
    /// Units of each of the classifier's two hidden layers.
    pub hidden: usize,
}

impl Default for Implicit {
    /// Three rounds, 30 units.
    fn default() -> Self {
        Self { rounds: 3, hidden: 30 }
    }
}

impl Method for Implicit {
    fn name(&self) -> &'static str {
        "lfvi"
    }

    fn description(&self) -> &'static str {
        "variational Gaussian on a likelihood ratio that a classifier estimates (LFVI; Tran et al. 2017)"
    }

    fn reference(&self) -> &'static str {
        "Tran, Ranganath & Blei, NeurIPS 2017"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        if self.rounds == 0 || self.hidden == 0 {
            return Err(Error::invalid("rounds or hidden units", 0.0, "each must be at least 1"));
        }
        let pilot = Pilot::with_calls(task, Units::Spread, task.calls.budget().div_ceil(self.rounds + 1))?;
        let mut pairs = Pairs { x: pilot.differences.iter().map(drawn_in).collect(), z: pilot.z.iter().map(<[f64]>::to_vec).collect() };
        let mut q = GaussianFamily::around(task, &pilot)?;
        let origin = vec![0.0; pilot.yardstick.columns()];
        for round in 0..=self.rounds {
            go_on(task)?;
            let ratio = Ratio::train(task, &Points::from_rows(&pairs.x)?, &Points::from_rows(&pairs.z)?, self.hidden, round as u64)?;
            q = follow(task, &ratio, &origin, q, round)?;
            let calls = task.calls.left() / (self.rounds - round).max(1);
            if round == self.rounds || calls == 0 {
                break;
            }
            let (_, z) = q.draws(calls, task.seed ^ 1, round as u64);
            let x = task.calls.at(&task.prior.from_latent_points(&z))?;
            pairs.add(&pilot.yardstick.differences(&x), &z);
        }
        q.answer(task)
    }
}

struct Pairs {
    x: Vec<Vec<f64>>,
    z: Vec<Vec<f64>>,
}

impl Pairs {
    /// Those that succeeded.
    fn add(&mut self, x: &Points, z: &Points) {
        for (x, z) in x.iter().zip(z.iter()).filter(|(x, _)| x.iter().all(|v| v.is_finite())) {
            self.x.push(drawn_in(x));
            self.z.push(z.to_vec());
        }
    }
}

/// asinh: one wild statistic would drown the rest.
fn drawn_in(x: &[f64]) -> Vec<f64> {
    x.iter().map(|v| v.asinh()).collect()
}

/// q after some steps up E_q[ln ratio] − KL(q ‖ prior).
fn follow(task: &Task<'_>, ratio: &Ratio, observed: &[f64], mut q: GaussianFamily, round: usize) -> Result<GaussianFamily, Error> {
    let mut adam = Adam::new(q.parameters.len(), RATE);
    let mut average = Average::new(&q);
    for step in 0..STEPS {
        if step % 50 == 0 {
            go_on(task)?;
        }
        let (noise, z) = q.draws(DRAWS, task.seed, (round * STEPS + step) as u64);
        let slopes: Vec<Vec<f64>> = z.iter().map(|z| ratio.ln_ratio(observed, z).1).collect();
        let gain = q.from_slopes(&noise, &slopes);
        let loss: Vec<f64> = q.divergence_gradient().iter().zip(&gain).map(|(kl, gain)| kl - gain).collect();
        adam.step(&mut q.parameters, &loss);
        if 2 * step >= STEPS {
            average.add(&q);
        }
    }
    Ok(average.or(q))
}
