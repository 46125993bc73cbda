//! Markov chain Monte Carlo ABC (Marjoram et al., PNAS 100, 2003; with soft tolerances as in Meeds & Welling, UAI 2014):
//! Metropolis and Hastings on (1/S) Σ_s N(y | x_s, ε² I).

use super::path::{Path, accept, go_on, ln_prior};
use super::pilot::{Pilot, Steps};
use crate::weights::ln_mean_exp;
use crate::yardstick::{Units, Yardstick, squared_length};
use kelfi::method::{Answer, Method, Task};
use kelfi::random::{Purpose, stream};
use kelfi::{Error, Points};

/// How ε is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// The distance per statistic within which this share of the pilot lies.
    Share(f64),
    /// This, in the units of the statistics.
    Fixed(f64),
}

impl Tolerance {
    /// ε for this pilot.
    pub fn of(self, pilot: &Pilot) -> Result<f64, Error> {
        match self {
            Self::Fixed(epsilon) => Error::require_positive("tolerance", epsilon),
            Self::Share(share) if share > 0.0 && share <= 1.0 => Ok(pilot.tolerance(share)),
            Self::Share(share) => Err(Error::invalid("share of the pilot within the tolerance", share, "it must lie in (0, 1]")),
        }
    }
}

/// Whether the estimate at the current state is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Kept: the chain is exact for the soft posterior, and may stick where the estimate was lucky.
    PseudoMarginal,
    /// Made anew at every step: the chain moves freely, at twice the calls and with some bias.
    Marginal,
}

/// A chain on the ABC likelihood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct McmcAbc {
    /// Whether estimates are kept.
    pub memory: Memory,
    /// ε.
    pub tolerance: Tolerance,
    /// S, calls for each estimate.
    pub repeats: usize,
    /// How far the chain steps.
    pub steps: Steps,
    /// Units of the statistics.
    pub units: Units,
}

impl McmcAbc {
    /// One call for each estimate, the tolerance within which a twentieth of the pilot lies.
    pub fn new(memory: Memory) -> Self {
        Self { memory, tolerance: Tolerance::Share(0.05), repeats: 1, steps: Steps::default(), units: Units::default() }
    }
}

impl Method for McmcAbc {
    fn name(&self) -> &'static str {
        match self.memory {
            Memory::PseudoMarginal => "mcmc-abc",
            Memory::Marginal => "marginal-mcmc-abc",
        }
    }

    fn description(&self) -> &'static str {
        match self.memory {
            Memory::PseudoMarginal => "Markov chain on a soft-tolerance ABC likelihood, estimates kept (Marjoram et al. 2003)",
            Memory::Marginal => "Markov chain on a soft-tolerance ABC likelihood, current estimate renewed at every step",
        }
    }

    fn reference(&self) -> &'static str {
        "Marjoram et al., Proc. Natl. Acad. Sci. USA 100, 2003"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        if self.repeats == 0 {
            return Err(Error::invalid("calls for each estimate", 0.0, "it must be at least 1"));
        }
        let pilot = Pilot::new(task, self.units)?;
        let epsilon = self.tolerance.of(&pilot)?;
        let estimate = |z: &[f64]| -> Result<f64, Error> {
            let x = repeats(task, z, self.repeats)?;
            Ok(ln_abc_likelihood(&pilot.yardstick, &x, epsilon))
        };
        // The pilot has simulated at the start already.
        let known = -0.5 * (pilot.distances[0] / epsilon).powi(2);
        chain(task, &pilot, self.steps, self.memory, self.repeats, known, estimate)
    }
}

/// Metropolis and Hastings from the pilot's nearest draw until the budget ends. `known` is ln of the likelihood there.
pub fn chain(
    task: &Task<'_>,
    pilot: &Pilot,
    steps: Steps,
    memory: Memory,
    calls_for_each: usize,
    known: f64,
    estimate: impl Fn(&[f64]) -> Result<f64, Error>,
) -> Result<Answer, Error> {
    let mut walk = pilot.steps(steps)?;
    let mut path = Path::new(pilot.start());
    let mut here = known;
    let a_step = if memory == Memory::Marginal { 2 } else { 1 } * calls_for_each;
    for index in 0.. {
        if task.calls.left() < a_step {
            break;
        }
        go_on(task)?;
        let mut rng = stream(task.seed, Purpose::Chains, index);
        let to = walk.step(path.here(), &mut rng);
        if memory == Memory::Marginal {
            here = estimate(path.here())?;
        }
        let there = estimate(&to)?;
        let accepted = accept(there + ln_prior(task, &to)?, here + ln_prior(task, path.here())?, &mut rng);
        walk.adapt(accepted);
        if accepted {
            here = there;
        }
        path.step(accepted.then_some(to));
    }
    path.answer(task)
}

/// `count` calls at one z.
pub fn repeats(task: &Task<'_>, z: &[f64], count: usize) -> Result<Points, Error> {
    let theta = task.prior.from_latent(z);
    task.calls.at(&Points::new(theta.repeat(count), count, z.len())?)
}

/// ln (1/S) Σ_s exp(−½ |x_s − y|²/ε²); failed calls count as 0.
pub fn ln_abc_likelihood(yardstick: &Yardstick, x: &Points, epsilon: f64) -> f64 {
    let terms: Vec<f64> = yardstick.differences(x).iter().map(|d| -0.5 * squared_length(d) / (epsilon * epsilon)).collect();
    ln_mean_exp(&terms)
}
