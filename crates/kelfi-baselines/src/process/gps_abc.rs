//! Gaussian process surrogate ABC (Meeds & Welling, UAI 2014): a process on every statistic; a chain that simulates only where it is unsure
//! whether to step.

use super::gaussian_process::{GaussianProcess, Joint, ProcessHyperparameters, learn};
use crate::chains::adaptive_synthetic::{acceptance, error_of_decision, median, require_error};
use crate::chains::mcmc_abc::repeats;
use crate::chains::path::{Path, go_on, ln_prior};
use crate::chains::pilot::{Pilot, Steps};
use crate::yardstick::Units;
use kelfi::kernel::Family;
use kelfi::method::{Answer, Method, Task};
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{Error, Points};
use rand::{Rng, RngExt};

/// Rounds of further simulations in one step.
const MOST_ROUNDS: usize = 10;
/// Hyperparameters are learned anew when the simulations have grown by this factor.
const GROWTH: f64 = 1.5;

/// A chain on a Gaussian process surrogate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GpsAbc {
    /// ξ, the probability of a wrong decision that is put up with.
    pub error: f64,
    /// M, draws behind that probability.
    pub draws: usize,
    /// ΔS, calls added at a time.
    pub more: usize,
    /// ε, added to every variance as ε².
    pub tolerance: f64,
    /// Steps of the chain, most of which cost no call.
    pub length: usize,
    /// Shape of the kernel.
    pub family: Family,
    /// How far the chain steps.
    pub steps: Steps,
    /// Units of the statistics.
    pub units: Units,
}

impl Default for GpsAbc {
    /// ξ = 0.05 and ΔS = 5 as in the KELFI paper, Matérn 3/2 as in the authors' code; 5,000 steps; more draws than its 10.
    fn default() -> Self {
        Self {
            error: 0.05,
            draws: 30,
            more: 5,
            tolerance: 0.1,
            length: 5_000,
            family: Family::Matern32,
            steps: Steps::default(),
            units: Units::default(),
        }
    }
}

impl Method for GpsAbc {
    fn name(&self) -> &'static str {
        "gps-abc"
    }

    fn description(&self) -> &'static str {
        "a Gaussian process for each statistic, a chain that simulates where it is uncertain (GPS-ABC; Meeds & Welling 2014)"
    }

    fn reference(&self) -> &'static str {
        "Meeds & Welling, UAI 2014"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        require_error(self.error)?;
        Error::require_positive("tolerance", self.tolerance)?;
        if self.more == 0 || self.draws == 0 || self.length == 0 {
            return Err(Error::invalid("calls added, draws or steps", 0.0, "each must be at least 1"));
        }
        let pilot = Pilot::new(task, self.units)?;
        let mut walk = pilot.steps(self.steps)?;
        let mut surrogates = Surrogates::new(&pilot, self.family)?;
        let mut path = Path::new(pilot.start());
        for index in 0..self.length {
            go_on(task)?;
            let mut rng = stream(task.seed, Purpose::Chains, index as u64);
            let to = walk.step(path.here(), &mut rng);
            let ln_prior_ratio = ln_prior(task, &to)? - ln_prior(task, path.here())?;
            let mut threshold = 0.0;
            for _ in 0..MOST_ROUNDS {
                let acceptances = self.acceptances(&surrogates.joint(path.here(), &to)?, ln_prior_ratio, &mut rng);
                threshold = median(&acceptances);
                if error_of_decision(&acceptances, threshold) <= self.error || task.calls.left() < self.more {
                    break;
                }
                let z = if rng.random::<bool>() { path.here().to_vec() } else { to.clone() };
                surrogates.add(&pilot, &z, &repeats(task, &z, self.more)?)?;
            }
            let accepted = rng.random::<f64>() <= threshold;
            walk.adapt(accepted);
            path.step(accepted.then_some(to));
        }
        path.answer(task)
    }
}

impl GpsAbc {
    /// Acceptance probabilities for joint draws of the means at both ends.
    fn acceptances(&self, ends: &[(Joint, f64)], ln_prior_ratio: f64, rng: &mut dyn Rng) -> Vec<f64> {
        let epsilon2 = self.tolerance * self.tolerance;
        let one = |_| {
            let mut ln = [0.0, ln_prior_ratio];
            for (joint, noise) in ends {
                let (a, b) = (standard_normal(rng), standard_normal(rng));
                let first = joint.variances[0].sqrt();
                let slope = if first > 0.0 { joint.covariance / first } else { 0.0 };
                let rest = (joint.variances[1] - slope * slope).max(0.0).sqrt();
                let means = [joint.means[0] + first * a, joint.means[1] + slope * a + rest * b];
                let variance = noise + epsilon2;
                (0..2).for_each(|end| ln[end] -= 0.5 * means[end] * means[end] / variance);
            }
            acceptance(ln[0], ln[1])
        };
        (0..self.draws).map(one).collect()
    }
}

/// A process for every statistic, on all simulations so far.
struct Surrogates {
    family: Family,
    z: Vec<Vec<f64>>,
    /// x − y in units, one list for each statistic.
    values: Vec<Vec<f64>>,
    hyperparameters: Vec<ProcessHyperparameters>,
    processes: Vec<GaussianProcess>,
    learned_at: usize,
}

impl Surrogates {
    fn new(pilot: &Pilot, family: Family) -> Result<Self, Error> {
        let z: Vec<Vec<f64>> = pilot.z.iter().map(<[f64]>::to_vec).collect();
        let values = (0..pilot.differences.columns()).map(|k| pilot.differences.column(k)).collect();
        let mut new = Self { family, z, values, hyperparameters: vec![], processes: vec![], learned_at: 0 };
        new.fit()?;
        Ok(new)
    }

    /// Simulations of one z. Those that failed say nothing about a mean.
    fn add(&mut self, pilot: &Pilot, z: &[f64], x: &Points) -> Result<(), Error> {
        for difference in pilot.yardstick.differences(x).iter().filter(|d| d.iter().all(|v| v.is_finite())) {
            self.z.push(z.to_vec());
            self.values.iter_mut().zip(difference).for_each(|(values, value)| values.push(*value));
        }
        self.fit()
    }

    fn fit(&mut self) -> Result<(), Error> {
        let z = Points::from_rows(&self.z)?;
        if self.z.len() as f64 >= GROWTH * self.learned_at as f64 {
            self.hyperparameters = self.values.iter().map(|values| learn(&z, values, self.family)).collect::<Result<_, Error>>()?;
            self.learned_at = self.z.len();
        }
        let one = |(values, h): (&Vec<f64>, &ProcessHyperparameters)| GaussianProcess::new(&z, values, h.clone());
        self.processes = self.values.iter().zip(&self.hyperparameters).map(one).collect::<Result<_, Error>>()?;
        Ok(())
    }

    /// Means at both ends for each statistic, with its noise.
    fn joint(&self, here: &[f64], there: &[f64]) -> Result<Vec<(Joint, f64)>, Error> {
        self.processes.iter().map(|process| Ok((process.joint(here, there)?, process.hyperparameters().noise))).collect()
    }
}
