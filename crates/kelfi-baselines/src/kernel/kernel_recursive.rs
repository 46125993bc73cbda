//! Kernel recursive ABC (Kajihara et al., ICML 2018): kernel ABC and herding in turn with the same observation. Each round multiplies the
//! posterior by the likelihood once more, so that the points contract to the parameters of maximum likelihood.

use super::herding::herd;
use super::kernel_abc::{counted, weights};
use super::median_kernel;
use crate::chains::path::go_on;
use crate::yardstick::{Units, Yardstick};
use kelfi::method::{Answer, Method, Particles, Task};
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::words;
use kelfi::{Error, Points, Simulations};

/// Herded points are chosen among so many candidates for each: earlier points moved a little.
const CANDIDATES: usize = 10;
/// How far candidates lie from earlier points, in length scales.
const JITTER: f64 = 0.5;

/// Rounds of kernel ABC and herding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelRecursive {
    /// Rounds; the budget is divided evenly.
    pub rounds: usize,
    /// λ.
    pub ridge: f64,
    /// Units of the statistics.
    pub units: Units,
}

impl Default for KernelRecursive {
    /// Five rounds, λ = 10⁻⁴.
    fn default() -> Self {
        Self { rounds: 5, ridge: 1e-4, units: Units::Spread }
    }
}

impl Method for KernelRecursive {
    fn name(&self) -> &'static str {
        "kernel-recursive-abc"
    }

    fn description(&self) -> &'static str {
        "kernel ABC and herding in turn, contracting to the maximum likelihood: a point estimate, not a posterior (KR-ABC; Kajihara et al. 2018)"
    }

    fn reference(&self) -> &'static str {
        "Kajihara et al., ICML 2018"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        Error::require_positive("ridge", self.ridge)?;
        if self.rounds == 0 {
            return Err(Error::invalid("number of rounds", 0.0, "it must be at least 1"));
        }
        let (budget, a_round) = (task.calls.budget(), task.calls.budget() / self.rounds);
        if a_round < 2 {
            return Err(Error::TooFew {
                what: "kernel recursive ABC".into(),
                reason: format!(
                    "{} of at least two calls each need more than {}; allow at least {} calls",
                    words::counted(self.rounds as u64, "round"),
                    words::counted(budget as u64, "call"),
                    2 * self.rounds
                ),
            });
        }
        let simulations = task.calls.from_prior(a_round)?;
        let yardstick = Yardstick::new(&simulations, task.observation, self.units)?;
        let (mut z, mut outputs) = succeeded(task, &simulations, &yardstick)?;
        let mut herded = z.clone();
        for round in 0..self.rounds {
            go_on(task)?;
            let weights = weights(&median_kernel(&outputs, 1.0)?, self.ridge, &outputs, &vec![0.0; outputs.columns()])?;
            let kernel = median_kernel(&z, 1.0)?;
            let candidates = around(&z, kernel.length_scales()[0], task.seed, round as u64)?;
            herded = herd(&kernel, &z, &weights, &candidates, a_round);
            if round + 1 == self.rounds {
                break;
            }
            let theta = task.prior.from_latent_points(&herded);
            let x = task.calls.at(&theta)?;
            // A round of which every call failed says nothing new.
            let Ok(simulations) = Simulations::new(theta, x) else { break };
            (z, outputs) = succeeded(task, &simulations, &yardstick)?;
        }
        let (points, times) = counted(&herded)?;
        Ok(Answer::Particles(Particles::from_latent(task.prior, &points, &times)?))
    }
}

fn succeeded(task: &Task<'_>, simulations: &Simulations, yardstick: &Yardstick) -> Result<(Points, Points), Error> {
    let good = simulations.successful_rows();
    let z = task.prior.to_latent_points(&simulations.theta().select(&good))?;
    Ok((z, yardstick.differences(&simulations.outputs().select(&good))))
}

/// The points themselves, and each moved several times.
fn around(z: &Points, length_scale: f64, seed: u64, round: u64) -> Result<Points, Error> {
    let mut rng = stream(seed, Purpose::Candidates, round);
    let mut rows: Vec<Vec<f64>> = z.iter().map(<[f64]>::to_vec).collect();
    for z in z.iter() {
        for _ in 1..CANDIDATES {
            rows.push(z.iter().map(|z| z + JITTER * length_scale * standard_normal(&mut rng)).collect());
        }
    }
    Points::from_rows(&rows)
}
