//! The g-and-k distribution, defined by its quantile function (Drovandi & Pettitt 2011, doi:10.1016/j.csda.2011.03.019).

use crate::moments::quantile;
use crate::problem::{BenchmarkProblem, Facts, Reference, SimulationFailure, finite, names, require_data, take};
use kelfi::Error;
use kelfi::prior::{Marginal, Prior};
use kelfi::random::{Purpose, stream};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Data points.
const COUNT: usize = 1_000;
/// The customary value of c.
const C: f64 = 0.8;
/// (A, B, g, k) of the observed data.
const TRUTH: [f64; 4] = [3.0, 1.0, 2.0, 0.5];
/// Seed of the observed data.
const SEED: u64 = 2011;

/// y = Q(z), z ~ N(0, 1): location A, scale B, skewness g, tail weight k, each U(0, 10); octile statistics of 1,000 values.
#[derive(Debug, Clone)]
pub struct GAndK {
    facts: Facts,
    data: Vec<f64>,
}

impl GAndK {
    /// The problem with data simulated at (3, 1, 2, 0.5) with a fixed seed.
    pub fn new() -> Self {
        let data = simulate_data(TRUTH, &mut stream(SEED, Purpose::Experiment, 0));
        Self::with_data(data, Some(TRUTH.to_vec())).expect("a thousand finite values")
    }

    /// The problem with other observed data, and the parameters that made them if known.
    pub fn with_data(data: Vec<f64>, truth: Option<Vec<f64>>) -> Result<Self, Error> {
        require_data("the data", &data, 9)?;
        let uniform = |name: &str| (name.to_owned(), Marginal::Uniform { low: 0.0, high: 10.0 });
        let prior = Prior::independent(["A", "B", "g", "k"].map(uniform).to_vec()).expect("four names and an interval that is not empty");
        let facts = Facts {
            name: "g_and_k",
            description: "location, scale, skewness and tails of a distribution known by its quantiles only",
            prior,
            statistic_names: names(&["median", "log_interquartile_range", "skewness", "log_tail_weight"]),
            observation: statistics(data.clone()),
            truth,
        };
        Ok(Self { facts, data })
    }
}

impl Default for GAndK {
    fn default() -> Self {
        Self::new()
    }
}

impl BenchmarkProblem for GAndK {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        let theta = take(theta)?;
        if theta[1].is_nan() || theta[1] <= 0.0 {
            return Err(SimulationFailure::OutsideDomain { index: 1, value: theta[1], requirement: "positive" });
        }
        finite(statistics(simulate_data(theta, rng)))
    }

    fn reference(&self) -> Reference {
        Reference::RawDensity
    }

    /// Σ_i [ln φ(z_i) − ln Q'(z_i)], z_i = Q⁻¹(y_i).
    fn ln_raw_likelihood(&self, theta: &[f64]) -> Option<f64> {
        let theta = take(theta).ok()?;
        Some(self.data.iter().map(|&y| ln_density(y, theta)).sum())
    }
}

fn simulate_data(theta: [f64; 4], rng: &mut dyn Rng) -> Vec<f64> {
    (0..COUNT).map(|_| quantile_function(StandardNormal.sample(rng), theta)).collect()
}

/// Median, ln interquartile range, octile skewness, ln octile tail weight.
/// Logarithms, because the prior lets the raw scale and tails span many orders of magnitude.
fn statistics(mut data: Vec<f64>) -> Vec<f64> {
    data.sort_unstable_by(f64::total_cmp);
    let octile: Vec<f64> = (0..=8).map(|eighth| quantile(&data, f64::from(eighth) / 8.0)).collect();
    let range = octile[6] - octile[2];
    let skewness = (octile[6] + octile[2] - 2.0 * octile[4]) / range;
    let tails = (octile[7] - octile[5] + octile[3] - octile[1]) / range;
    vec![octile[4], range.ln(), skewness, tails.ln()]
}

/// Q(z) = A + B (1 + c tanh(g z/2)) (1 + z²)^k z.
fn quantile_function(z: f64, [a, b, g, k]: [f64; 4]) -> f64 {
    a + b * (1.0 + C * (0.5 * g * z).tanh()) * (1.0 + z * z).powf(k) * z
}

/// dQ/dz = B (1 + z²)^k [ (1 + c tanh u) (1 + (2k + 1) z²)/(1 + z²) + c g z / (2 cosh² u) ], u = g z/2.
fn quantile_slope(z: f64, [_, b, g, k]: [f64; 4]) -> f64 {
    let (u, square) = (0.5 * g * z, z * z);
    let skew = (1.0 + C * u.tanh()) * (1.0 + (2.0 * k + 1.0) * square) / (1.0 + square);
    b * (1.0 + square).powf(k) * (skew + 0.5 * C * g * z / u.cosh().powi(2))
}

/// ln density by inversion of the quantile function: bisection, as Q is increasing for k ≥ 0.
fn ln_density(y: f64, theta: [f64; 4]) -> f64 {
    /// Beyond 39 standard deviations φ(z) is below the smallest double.
    const REACH: f64 = 39.0;
    let (mut low, mut high) = (-REACH, REACH);
    if y < quantile_function(low, theta) || y > quantile_function(high, theta) {
        return f64::NEG_INFINITY;
    }
    // 78 / 2⁵⁶ is below the spacing of doubles near 1.
    for _ in 0..56 {
        let middle = 0.5 * (low + high);
        if quantile_function(middle, theta) < y { low = middle } else { high = middle }
    }
    let z = 0.5 * (low + high);
    -0.5 * (z * z + std::f64::consts::TAU.ln()) - quantile_slope(z, theta).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUADRATURE: f64 = 1e-4;

    #[test]
    fn density_integrates_to_one() {
        let cells = 400_000;
        let (low, high) = (-20.0, 180.0);
        let width = (high - low) / f64::from(cells);
        let mass: f64 = (0..cells).map(|cell| ln_density(low + (f64::from(cell) + 0.5) * width, TRUTH).exp() * width).sum();
        assert!((mass - 1.0).abs() < QUADRATURE, "{mass}");
    }

    #[test]
    fn slope_agrees_with_differences() {
        let h = 1e-6;
        for z in [-2.0, -0.3, 0.0, 0.7, 2.5] {
            let difference = (quantile_function(z + h, TRUTH) - quantile_function(z - h, TRUTH)) / (2.0 * h);
            assert!((quantile_slope(z, TRUTH) / difference - 1.0).abs() < 1e-7, "z = {z}");
        }
    }

    #[test]
    fn raw_likelihood_prefers_the_truth_to_far_parameters() {
        let problem = GAndK::new();
        let at = |theta: [f64; 4]| problem.ln_raw_likelihood(&theta).unwrap();
        for other in [[3.5, 1.0, 2.0, 0.5], [3.0, 1.5, 2.0, 0.5], [3.0, 1.0, 0.5, 0.5], [3.0, 1.0, 2.0, 1.0]] {
            assert!(at(TRUTH) > at(other) + 10.0, "{other:?}");
        }
    }
}
