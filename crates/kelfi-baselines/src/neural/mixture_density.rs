//! Mixture density networks (Papamakarios & Murray, NeurIPS 2016): statistics in, a Gaussian mixture of z out. From draws of the prior, or
//! with proposals that are the last answer divided by the last proposal.

use super::head::Head;
use super::network::Network;
use super::training::{HELD_OUT, Training};
use crate::chains::path::go_on;
use crate::gaussians::{Gaussian, Gaussians};
use crate::kernel::kernel_abc::factored;
use crate::yardstick::{Units, Yardstick};
use kelfi::method::{Answer, Density, Method, Task};
use kelfi::{Error, Points, Simulations};
use std::sync::Arc;

const RATE: f64 = 1e-3;

/// A network for the posterior.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MixtureDensity {
    /// Rounds of proposals; 1: all simulations at draws of the prior.
    pub rounds: usize,
    /// Gaussians of the mixture; with several rounds there is one.
    pub components: usize,
    /// Units of each of two hidden layers.
    pub hidden: usize,
    /// Epochs at most.
    pub epochs: usize,
}

impl MixtureDensity {
    /// One Gaussian and two layers of 50 units, as the authors for Lotka-Volterra; stops by a tenth held out, as their 1,000 epochs would
    /// learn a few hundred simulations by heart.
    pub fn from_prior() -> Self {
        Self { rounds: 1, components: 1, hidden: 50, epochs: 1_000 }
    }

    /// Four rounds.
    pub fn with_proposals() -> Self {
        Self { rounds: 4, ..Self::from_prior() }
    }
}

impl Method for MixtureDensity {
    fn name(&self) -> &'static str {
        if self.rounds > 1 { "mdn-proposals" } else { "mdn" }
    }

    fn description(&self) -> &'static str {
        match self.rounds {
            1 => "mixture density network on draws of the prior (MDN; Papamakarios & Murray 2016)",
            _ => "mixture density network in four rounds, corrected for their proposals",
        }
    }

    fn reference(&self) -> &'static str {
        "Papamakarios & Murray, NeurIPS 2016"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        if [self.rounds, self.components, self.hidden, self.epochs].contains(&0) {
            return Err(Error::invalid("rounds, components, hidden units or epochs", 0.0, "each must be at least 1"));
        }
        if self.rounds > 1 && !task.prior.latent().is_standard_normal() {
            return Err(Error::Unavailable {
                what: "proposals of a mixture density network".into(),
                reason: "dividing by them needs a prior with Gaussian coordinates; use `mdn`".into(),
            });
        }
        let each = task.calls.budget() / self.rounds;
        let simulations = task.calls.from_prior(task.calls.budget() - each * (self.rounds - 1))?;
        let inputs = Inputs::new(&simulations, task.observation)?;
        let mut posterior = self.fit(task, &simulations, &inputs, self.rounds == 1)?;
        for round in 1..self.rounds {
            go_on(task)?;
            let z = posterior.samples(each, task.seed.wrapping_add(round as u64));
            let theta = task.prior.from_latent_points(&z);
            let x = task.calls.at(&theta)?;
            // A round of which every call failed says nothing new.
            let Ok(simulations) = Simulations::new(theta, x) else { break };
            let answer = self.fit(task, &simulations, &inputs, false)?;
            posterior = divided(&answer.0[0], &posterior.0[0]).map_or(answer, |divided| Gaussians(vec![divided]));
        }
        Ok(Answer::Density { prior: task.prior.clone(), density: Arc::new(posterior) })
    }
}

impl MixtureDensity {
    fn fit(&self, task: &Task<'_>, simulations: &Simulations, inputs: &Inputs, mixture: bool) -> Result<Gaussians, Error> {
        let good = simulations.successful_rows();
        let z = task.prior.to_latent_points(&simulations.theta().select(&good))?;
        let x = inputs.of(&simulations.outputs().select(&good));
        let head = Head { components: if mixture { self.components } else { 1 }, dimension: z.columns() };
        let mut network = Network::new(&[x.columns(), self.hidden, self.hidden, head.outputs()], task.seed);
        network.soften_output(0.1);
        train(task, &mut network, &head, &x, &z, self.epochs)?;
        head.gaussians(network.forward(&inputs.observed).output())
    }
}

/// Statistics as the network sees them.
struct Inputs {
    yardstick: Yardstick,
    centre: Vec<f64>,
    observed: Vec<f64>,
}

/// Inputs beyond this many spreads are drawn in: one wild statistic would drown the rest.
const FAR: f64 = 5.0;

impl Inputs {
    fn new(simulations: &Simulations, observation: &[f64]) -> Result<Self, Error> {
        let yardstick = Yardstick::new(simulations, observation, Units::Spread)?;
        let differences = yardstick.differences(&simulations.outputs().select(&simulations.successful_rows()));
        let middle = |k: usize| kelfi::simulations::scales::median(differences.column(k)).unwrap_or(0.0);
        let centre: Vec<f64> = (0..differences.columns()).map(middle).collect();
        let observed = centre.iter().map(|c| drawn_in(-c)).collect();
        Ok(Self { yardstick, centre, observed })
    }

    fn of(&self, x: &Points) -> Points {
        let differences = self.yardstick.differences(x);
        differences.map_rows(differences.columns(), |row| row.iter().zip(&self.centre).map(|(v, c)| drawn_in(v - c)).collect())
    }
}

fn drawn_in(value: f64) -> f64 {
    FAR * (value / FAR).asinh()
}

/// Trains on all simulations but the last ones, which it stops by.
fn train(task: &Task<'_>, network: &mut Network, head: &Head, x: &Points, z: &Points, epochs: usize) -> Result<(), Error> {
    let m = z.rows();
    let held_out = ((HELD_OUT * m as f64) as usize).max(1).min(m - 1);
    let plan = Training { rate: RATE, epochs, trained: m - held_out, stream: 1 };
    let loss_held_out = |network: &Network| -> f64 {
        (m - held_out..m).map(|i| head.loss(network.forward(x.row(i)).output(), z.row(i)).0).sum::<f64>() / held_out as f64
    };
    plan.run(task, network, loss_held_out, |network, batch, gradient| {
        for &i in batch {
            let pass = network.forward(x.row(i));
            let slope: Vec<f64> = head.loss(pass.output(), z.row(i)).1.iter().map(|s| s / batch.len() as f64).collect();
            network.backward(&pass, &slope, gradient);
        }
    })
}

/// q(z) N(z|0, I) / proposal(z), where that is a Gaussian.
fn divided(answer: &Gaussian, proposal: &Gaussian) -> Option<Gaussian> {
    let d = answer.mean.len();
    let (of_answer, of_proposal) = (answer.factor.inverse(), proposal.factor.inverse());
    let mut precision: Vec<f64> = of_answer.iter().zip(&of_proposal).map(|(a, p)| a - p).collect();
    (0..d).for_each(|i| precision[i * d + i] += 1.0);
    let shift = |inverse: &[f64], mean: &[f64], i: usize| (0..d).map(|j| inverse[i * d + j] * mean[j]).sum::<f64>();
    let right: Vec<f64> = (0..d).map(|i| shift(&of_answer, &answer.mean, i) - shift(&of_proposal, &proposal.mean, i)).collect();
    let factor = factored(precision, d, 0.0).ok()?;
    Gaussian::new(1.0, factor.solve(&right), factor.inverse()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dividing_by_the_proposal_undoes_it() {
        // Likelihood N(z|1, 0.5), proposal N(0.5, 0.3) as prior: the answer under it, divided, is the posterior under N(0, 1).
        let gaussian = |mean: f64, variance: f64| Gaussian::new(1.0, vec![mean], vec![variance]).unwrap();
        let product = |a: (f64, f64), b: (f64, f64)| {
            let precision = 1.0 / a.1 + 1.0 / b.1;
            ((a.0 / a.1 + b.0 / b.1) / precision, 1.0 / precision)
        };
        let under_proposal = product((1.0, 0.5), (0.5, 0.3));
        let found = divided(&gaussian(under_proposal.0, under_proposal.1), &gaussian(0.5, 0.3)).unwrap();
        let exact = product((1.0, 0.5), (0.0, 1.0));
        assert!((found.mean[0] - exact.0).abs() < 1e-12 && (found.factor.pivot(0).powi(2) - exact.1).abs() < 1e-12);
    }
}
