//! slcp: four planar points from a Gaussian whose mean and covariance are the parameters.

use super::Model;
use crate::problem::{SimulationFailure, finite, numbered, take};
use kelfi::prior::{Marginal, Prior};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::TAU;

/// Added to both variances.
const JITTER: f64 = 1e-6;

/// θ ~ U[−3, 3]⁵: mean (θ₁, θ₂), standard deviations θ₃² and θ₄², correlation tanh θ₅.
pub(super) struct Slcp;

/// Lower Cholesky factor of the covariance: [[a, 0], [b, c]].
struct Factor {
    a: f64,
    b: f64,
    c: f64,
}

impl Factor {
    fn new(theta: &[f64]) -> Self {
        let (s1, s2, rho) = (theta[2] * theta[2], theta[3] * theta[3], theta[4].tanh());
        let a = (s1 * s1 + JITTER).sqrt();
        let b = rho * s1 * s2 / a;
        // Never below the jitter: s₂² + j − ρ² s₁² s₂²/(s₁² + j) ≥ j.
        Self { a, b, c: (s2 * s2 + JITTER - b * b).sqrt() }
    }
}

impl Model for Slcp {
    fn prior(&self) -> Prior {
        let uniform = |name| (name, Marginal::Uniform { low: -3.0, high: 3.0 });
        Prior::independent(numbered("theta", 5).into_iter().map(uniform).collect()).expect("five names and an interval")
    }

    fn statistic_names(&self) -> Vec<String> {
        (1..=4).flat_map(|point| [format!("x_{point}a"), format!("x_{point}b")]).collect()
    }

    fn repeats(&self) -> usize {
        4
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        let theta = take::<5>(theta)?;
        let factor = Factor::new(&theta);
        let mut point = || {
            let (z, w): (f64, f64) = (StandardNormal.sample(rng), StandardNormal.sample(rng));
            [theta[0] + factor.a * z, theta[1] + factor.b * z + factor.c * w]
        };
        finite((0..4).flat_map(|_| point()).collect())
    }

    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> f64 {
        let factor = Factor::new(theta);
        let ln_scale = factor.a.ln() + factor.c.ln() + TAU.ln();
        x.chunks_exact(2)
            .map(|point| {
                let z = (point[0] - theta[0]) / factor.a;
                let w = (point[1] - theta[1] - factor.b * z) / factor.c;
                -0.5 * (z * z + w * w) - ln_scale
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factor_times_its_transpose_is_the_covariance() {
        let Factor { a, b, c } = Factor::new(&[0.0, 0.0, -1.2, 0.7, 0.4]);
        let (s1, s2, rho) = (1.44, 0.49, 0.4_f64.tanh());
        assert!((a * a - (s1 * s1 + JITTER)).abs() < 1e-12);
        assert!((a * b - rho * s1 * s2).abs() < 1e-12);
        assert!((b * b + c * c - (s2 * s2 + JITTER)).abs() < 1e-12);
    }
}
