//! Two parameters on a parabola: a banana-shaped posterior.

use crate::problem::{BenchmarkProblem, Facts, Reference, SimulationFailure, finite, names, take};
use kelfi::prior::{Marginal, Prior};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Noise of the two statistics: the first is vague, so the ridge b = y₂ − a² keeps its length.
const NOISE: [f64; 2] = [1.0, 0.25];

/// x = (a + N(0, 1), b + a² + N(0, 0.25²)), a, b ~ N(0, 1). The posterior comes from quadrature.
#[derive(Debug, Clone)]
pub struct Banana {
    facts: Facts,
}

impl Banana {
    /// The problem with this observation.
    pub fn new(observation: [f64; 2]) -> Self {
        let normal = |name: &str| (name.to_owned(), Marginal::Normal { mean: 0.0, std: 1.0 });
        let prior = Prior::independent(vec![normal("a"), normal("b")]).expect("two names and positive standard deviations");
        Self {
            facts: Facts {
                name: "banana",
                description: "b + a² is observed precisely, a imprecisely; the posterior bends around a parabola",
                prior,
                statistic_names: names(&["a_noisy", "b_plus_a_squared"]),
                observation: observation.to_vec(),
                truth: None,
            },
        }
    }

    /// Noise-free statistics at θ.
    fn expectation([a, b]: [f64; 2]) -> [f64; 2] {
        [a, b + a * a]
    }
}

impl Default for Banana {
    /// Observation (0, 1): the whole arch around a = 0.
    fn default() -> Self {
        Self::new([0.0, 1.0])
    }
}

impl BenchmarkProblem for Banana {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        let centre = Self::expectation(take(theta)?);
        finite(
            centre
                .iter()
                .zip(NOISE)
                .map(|(centre, noise)| centre + noise * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, rng))
                .collect(),
        )
    }

    fn reference(&self) -> Reference {
        Reference::Density
    }

    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> Option<f64> {
        let centre = Self::expectation(take(theta).ok()?);
        Some((0..2).map(|k| -0.5 * ((x[k] - centre[k]) / NOISE[k]).powi(2)).sum())
    }
}
