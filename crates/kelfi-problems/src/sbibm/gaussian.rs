//! gaussian_linear and gaussian_linear_uniform: the mean of a 10-dimensional Gaussian with variance 0.1.

use super::Model;
use super::rejection::Attempt;
use crate::problem::{SimulationFailure, numbered, take};
use kelfi::prior::{Marginal, Prior};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

const DIMENSION: usize = 10;
/// Variance of the data, and of the Gaussian prior.
const VARIANCE: f64 = 0.1;

/// θ ~ N(0, 0.1 I): the posterior is N(x/2, 0.05 I).
pub(super) struct Linear;

/// θ ~ U[−1, 1]¹⁰: the posterior is N(x, 0.1 I) cut to the box.
pub(super) struct Uniform;

impl Model for Linear {
    fn prior(&self) -> Prior {
        independent(Marginal::Normal { mean: 0.0, std: VARIANCE.sqrt() })
    }

    fn statistic_names(&self) -> Vec<String> {
        numbered("x", DIMENSION)
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        noisy(theta, rng)
    }

    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> f64 {
        ln_gaussian(theta, x)
    }

    fn sampler<'a>(&'a self, x: &'a [f64]) -> Option<Attempt<'a>> {
        Some(Box::new(|rng| {
            let std = (0.5 * VARIANCE).sqrt();
            Some(x.iter().map(|x| 0.5 * x + std * standard_normal(rng)).collect())
        }))
    }
}

impl Model for Uniform {
    fn prior(&self) -> Prior {
        independent(Marginal::Uniform { low: -1.0, high: 1.0 })
    }

    fn statistic_names(&self) -> Vec<String> {
        numbered("x", DIMENSION)
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        noisy(theta, rng)
    }

    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> f64 {
        ln_gaussian(theta, x)
    }

    fn sampler<'a>(&'a self, x: &'a [f64]) -> Option<Attempt<'a>> {
        /// Attempts for one coordinate: coordinates are independent, so each is rejected on its own.
        const ATTEMPTS: usize = 100;
        Some(Box::new(|rng| {
            x.iter()
                .map(|x| (0..ATTEMPTS).map(|_| x + VARIANCE.sqrt() * standard_normal(rng)).find(|theta| (-1.0..=1.0).contains(theta)))
                .collect()
        }))
    }
}

fn independent(marginal: Marginal) -> Prior {
    Prior::independent(numbered("theta", DIMENSION).into_iter().map(|name| (name, marginal.clone())).collect())
        .expect("ten names and a proper marginal")
}

fn noisy(theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
    Ok(take::<DIMENSION>(theta)?.iter().map(|theta| theta + VARIANCE.sqrt() * standard_normal(rng)).collect())
}

fn standard_normal(rng: &mut dyn Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// ln N(x | θ, 0.1 I).
fn ln_gaussian(theta: &[f64], x: &[f64]) -> f64 {
    theta.iter().zip(x).map(|(theta, x)| -0.5 * ((x - theta).powi(2) / VARIANCE + (std::f64::consts::TAU * VARIANCE).ln())).sum()
}
