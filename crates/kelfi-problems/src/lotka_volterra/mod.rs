//! Predators and prey as a Markov jump process: 4 log rates, 9 statistics (Papamakarios & Murray, NeurIPS 2016, arXiv:1605.06376).

/// Exact simulation of the jump process.
pub mod gillespie;
/// Mean and standard deviation of prior runs, by which the statistics are normalised.
pub mod pilot;
/// The nine statistics of a run.
pub mod statistics;

pub use pilot::Pilot;

use crate::problem::{BenchmarkProblem, Facts, Reference, SimulationFailure, finite, names, take};
use kelfi::Error;
use kelfi::prior::{Marginal, Prior};
use rand::Rng;

/// ln of the rates (0.01, 0.5, 1, 0.01) the observation was made with.
const TRUTH: [f64; 4] = [0.01, 0.5, 1.0, 0.01];

/// The stochastic Lotka-Volterra model. Parameters are logarithms of the four rates.
#[derive(Debug, Clone)]
pub struct LotkaVolterra {
    facts: Facts,
    pilot: Option<Pilot>,
}

impl LotkaVolterra {
    /// Statistics normalised by the published pilot, observation as published.
    pub fn new() -> Self {
        Self::with(Some(Pilot::published()))
    }

    /// Statistics as they are, observation as published.
    pub fn raw() -> Self {
        Self::with(None)
    }

    /// Statistics normalised by a pilot of one's own.
    pub fn normalised_by(pilot: Pilot) -> Self {
        Self::with(Some(pilot))
    }

    fn with(pilot: Option<Pilot>) -> Self {
        let raw = pilot::published_observation();
        let observation = pilot.as_ref().map_or_else(|| raw.clone(), |pilot| pilot.normalise(&raw));
        let facts = Facts {
            name: "lotka_volterra",
            description: "stochastic predators and prey, four log rates, nine statistics normalised by the published pilot runs",
            prior: prior(),
            statistic_names: names(&[
                "mean_predators",
                "mean_prey",
                "log_variance_predators",
                "log_variance_prey",
                "autocorrelation_1_predators",
                "autocorrelation_2_predators",
                "autocorrelation_1_prey",
                "autocorrelation_2_prey",
                "cross_correlation",
            ]),
            observation,
            truth: Some(TRUTH.map(f64::ln).to_vec()),
        };
        Self { facts, pilot }
    }
}

impl Default for LotkaVolterra {
    fn default() -> Self {
        Self::new()
    }
}

impl BenchmarkProblem for LotkaVolterra {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        let rates = take::<4>(theta)?.map(f64::exp);
        let (predators, prey) = gillespie::run(&rates, rng)?;
        let raw = finite(statistics::statistics(&predators, &prey).to_vec())?;
        Ok(self.pilot.as_ref().map_or_else(|| raw.clone(), |pilot| pilot.normalise(&raw)))
    }

    fn reference(&self) -> Reference {
        Reference::TruthOnly("the likelihood of a partly observed jump process through nine statistics is intractable")
    }
}

/// ln θ_i ~ U[−5, 2], independent.
fn prior() -> Prior {
    let uniform = |name: &str| (name.to_owned(), Marginal::Uniform { low: -5.0, high: 2.0 });
    Prior::independent(["log_predator_birth", "log_predator_death", "log_prey_birth", "log_prey_death"].map(uniform).to_vec())
        .expect("four names and an interval that is not empty")
}

/// Runs the pilot of one's own: mean and standard deviation of the statistics of `accepted` prior runs that finish.
pub fn own_pilot(accepted: usize, seed: u64) -> Result<Pilot, Error> {
    Pilot::simulate(&LotkaVolterra::raw(), accepted, seed)
}
