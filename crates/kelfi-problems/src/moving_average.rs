//! A moving average of order two seen through two autocovariances (Marin, Pudlo, Robert & Ryder 2012, doi:10.1007/s11222-011-9288-2).

use crate::problem::{BenchmarkProblem, Facts, Reference, SimulationFailure, finite, names, require_data, take};
use kelfi::Error;
use kelfi::prior::{Marginal, Prior};
use kelfi::random::{Purpose, stream};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Length of the series.
const LENGTH: usize = 100;
/// Coefficients of the observed series: b₁ = 0.6, b₂ = 0.2.
const TRUTH: [f64; 2] = [0.5, 0.2];
/// Seed of the observed series.
const SEED: u64 = 2012;

/// y_t = w_t + b₁ w_{t−1} + b₂ w_{t−2}, w ~ N(0, 1), 100 values; statistics are the autocovariances at lags 1 and 2.
///
/// The customary prior is uniform on the triangle |b₁| < 1 + b₂, b₂ < 1 where the coefficients are identified.
/// In the parameters (r, b₂) with b₁ = r (1 + b₂) it is a product: r ~ U(−1, 1), b₂ ~ Triangular(−1, 1, 1).
#[derive(Debug, Clone)]
pub struct MovingAverage {
    facts: Facts,
    series: Vec<f64>,
}

impl MovingAverage {
    /// The problem with a series simulated at b = (0.6, 0.2) with a fixed seed.
    pub fn new() -> Self {
        let series = simulate_series(TRUTH, &mut stream(SEED, Purpose::Experiment, 0));
        Self::with_series(series, Some(TRUTH.to_vec())).expect("a series of a hundred finite values")
    }

    /// The problem with another observed series, and the parameters (r, b₂) that made it if known.
    pub fn with_series(series: Vec<f64>, truth: Option<Vec<f64>>) -> Result<Self, Error> {
        require_data("the series", &series, 3)?;
        let prior = Prior::independent(vec![
            ("ratio".to_owned(), Marginal::Uniform { low: -1.0, high: 1.0 }),
            ("b_2".to_owned(), Marginal::Triangular { low: -1.0, mode: 1.0, high: 1.0 }),
        ])
        .expect("two names and intervals that are not empty");
        let facts = Facts {
            name: "moving_average",
            description: "moving average of order two, its two coefficients from two autocovariances",
            prior,
            statistic_names: names(&["autocovariance_1", "autocovariance_2"]),
            observation: statistics(&series),
            truth,
        };
        Ok(Self { facts, series })
    }

    /// The observed series.
    pub fn series(&self) -> &[f64] {
        &self.series
    }
}

impl Default for MovingAverage {
    fn default() -> Self {
        Self::new()
    }
}

impl BenchmarkProblem for MovingAverage {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        finite(statistics(&simulate_series(take(theta)?, rng)))
    }

    fn reference(&self) -> Reference {
        Reference::RawDensity
    }

    fn ln_raw_likelihood(&self, theta: &[f64]) -> Option<f64> {
        Some(ln_series_density(&self.series, coefficients(take(theta).ok()?)))
    }
}

/// (b₁, b₂) from (r, b₂).
pub fn coefficients([ratio, second]: [f64; 2]) -> [f64; 2] {
    [ratio * (1.0 + second), second]
}

fn simulate_series(theta: [f64; 2], rng: &mut dyn Rng) -> Vec<f64> {
    let [first, second] = coefficients(theta);
    let noise: Vec<f64> = (0..LENGTH + 2).map(|_| StandardNormal.sample(rng)).collect();
    noise.windows(3).map(|w| w[2] + first * w[1] + second * w[0]).collect()
}

/// (1/(n − l)) Σ_t y_t y_{t+l}, l = 1, 2 (the mean is known to be 0).
fn statistics(series: &[f64]) -> Vec<f64> {
    let lagged = |lag: usize| series.iter().zip(&series[lag..]).map(|(a, b)| a * b).sum::<f64>() / (series.len() - lag) as f64;
    vec![lagged(1), lagged(2)]
}

/// ln N(y | 0, Γ), Γ with autocovariances γ₀ = 1 + b₁² + b₂², γ₁ = b₁ (1 + b₂), γ₂ = b₂ and bandwidth two.
/// One pass of banded Cholesky: O(n).
fn ln_series_density(series: &[f64], [first, second]: [f64; 2]) -> f64 {
    let gamma = [1.0 + first * first + second * second, first * (1.0 + second), second];
    // Row t of the factor: (C[t][t−2], C[t][t−1], C[t][t]); `solved` is C⁻¹ y.
    let mut rows: [[f64; 3]; 2] = [[0.0, 0.0, 1.0]; 2];
    let mut solved = [0.0; 2];
    let mut ln_density = 0.0;
    for (t, y) in series.iter().enumerate() {
        let far = if t >= 2 { gamma[2] / rows[0][2] } else { 0.0 };
        let near = if t >= 1 { (gamma[1] - far * rows[1][1]) / rows[1][2] } else { 0.0 };
        let pivot = gamma[0] - far * far - near * near;
        if pivot <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let residual = (y - far * solved[0] - near * solved[1]) / pivot.sqrt();
        ln_density -= 0.5 * (std::f64::consts::TAU * pivot).ln() + 0.5 * residual * residual;
        rows = [rows[1], [far, near, pivot.sqrt()]];
        solved = [solved[1], residual];
    }
    ln_density
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small_matrix::SmallCholesky;

    const ROUNDING: f64 = 1e-10;

    #[test]
    fn banded_density_agrees_with_the_dense_one() {
        let y = [0.3, -1.2, 0.7, 2.0, -0.4];
        let (first, second) = (0.6, 0.2);
        let gamma = [1.0 + first * first + second * second, first * (1.0 + second), second, 0.0, 0.0];
        let dense: Vec<f64> = (0..25_usize).map(|at| gamma[(at / 5).abs_diff(at % 5)]).collect();
        let factor = SmallCholesky::new(&dense, 5).unwrap();
        let whitened = factor.solve_lower(&y);
        let quadratic: f64 = whitened.iter().map(|v| v * v).sum();
        // |Γ| from the product of the inverse's pivots: C⁻¹ e_i has C_ii⁻¹ in place i.
        let ln_det: f64 = (0..5)
            .map(|i| {
                let mut unit = [0.0; 5];
                unit[i] = 1.0;
                -2.0 * factor.solve_lower(&unit)[i].ln()
            })
            .sum();
        let expected = -0.5 * (quadratic + ln_det + 5.0 * std::f64::consts::TAU.ln());
        assert!((ln_series_density(&y, [first, second]) - expected).abs() < ROUNDING);
    }

    #[test]
    fn simulated_autocovariances_have_their_expectation() {
        let problem = MovingAverage::new();
        let x = crate::simulate::replicate(&problem, &TRUTH, 4_000, 1).x;
        // γ₁ = b₁ (1 + b₂) = 0.72, γ₂ = 0.2; standard errors about 0.003.
        for (k, expected) in [0.72, 0.2].into_iter().enumerate() {
            assert!((crate::moments::mean(&x.column(k)) - expected).abs() < 0.015);
        }
    }
}
