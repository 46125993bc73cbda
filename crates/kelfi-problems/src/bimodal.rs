//! θ² observed with noise: two modes of equal height.

use crate::problem::{BenchmarkProblem, Facts, Reference, SimulationFailure, finite, names, take};
use kelfi::prior::{Marginal, Prior};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Noise of the observed square.
const NOISE: f64 = 0.2;

/// x = θ² + N(0, 0.2²), θ ~ U(−2, 2). The posterior comes from quadrature.
#[derive(Debug, Clone)]
pub struct Bimodal {
    facts: Facts,
}

impl Bimodal {
    /// The problem with this observation of θ².
    pub fn new(observation: f64) -> Self {
        let prior = Prior::independent(vec![("theta".to_owned(), Marginal::Uniform { low: -2.0, high: 2.0 })])
            .expect("an interval that is not empty");
        Self {
            facts: Facts {
                name: "bimodal",
                description: "the square of a parameter is observed with noise; the posterior has two equal modes",
                prior,
                statistic_names: names(&["square"]),
                observation: vec![observation],
                truth: None,
            },
        }
    }
}

impl Default for Bimodal {
    /// Observation 1: modes near −1 and 1.
    fn default() -> Self {
        Self::new(1.0)
    }
}

impl BenchmarkProblem for Bimodal {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        let [theta] = take(theta)?;
        let noise: f64 = StandardNormal.sample(rng);
        finite(vec![theta * theta + NOISE * noise])
    }

    fn reference(&self) -> Reference {
        Reference::Density
    }

    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> Option<f64> {
        Some(-0.5 * ((x[0] - theta[0] * theta[0]) / NOISE).powi(2))
    }
}
