//! Densities and draws that the cases are made of. Densities are in logarithms, up to terms free of the parameters.

use kelfi::prior::{Marginal, Prior};
use kelfi::special::gamma::ln_gamma;
use rand::{Rng, RngExt};
use rand_distr::{Binomial, Distribution, Gamma, Poisson};

pub use kelfi::random::standard_normal as gauss;

/// N(mean, sd²).
pub fn ln_normal(x: f64, mean: f64, sd: f64) -> f64 {
    -0.5 * ((x - mean) / sd).powi(2) - sd.ln()
}

/// Student's t.
pub fn ln_student(x: f64, location: f64, scale: f64, df: f64) -> f64 {
    -0.5 * (df + 1.0) * (((x - location) / scale).powi(2) / df).ln_1p() - scale.ln()
}

/// Gamma by shape and rate.
pub fn ln_gamma_density(x: f64, shape: f64, rate: f64) -> f64 {
    if x > 0.0 { shape * rate.ln() - ln_gamma(shape) + (shape - 1.0) * x.ln() - rate * x } else { f64::NEG_INFINITY }
}

/// Poisson with this mean.
pub fn ln_poisson(count: f64, mean: f64) -> f64 {
    power(count, mean) - mean
}

/// Successes among trials.
pub fn ln_binomial(successes: f64, trials: f64, p: f64) -> f64 {
    power(successes, p) + power(trials - successes, 1.0 - p)
}

/// k ln p with 0 ln 0 = 0.
pub fn power(k: f64, p: f64) -> f64 {
    if k == 0.0 { 0.0 } else { k * p.ln() }
}

/// ln(e^a + e^b).
pub fn ln_sum(a: f64, b: f64) -> f64 {
    let top = a.max(b);
    if top == f64::NEG_INFINITY { top } else { top + ((a - top).exp() + (b - top).exp()).ln() }
}

/// In (0, 1).
pub fn unit(rng: &mut dyn Rng) -> f64 {
    rng.random::<f64>().max(f64::MIN_POSITIVE)
}

/// Exponential with mean 1.
pub fn exponential(rng: &mut dyn Rng) -> f64 {
    -unit(rng).ln()
}

/// Gamma with this shape and rate 1.
pub fn gamma(rng: &mut dyn Rng, shape: f64) -> f64 {
    Gamma::new(shape, 1.0).expect("a positive shape").sample(rng)
}

/// A Poisson count.
pub fn poisson(rng: &mut dyn Rng, mean: f64) -> f64 {
    if mean < 1e-12 { 0.0 } else { Poisson::new(mean).expect("a positive mean").sample(rng) }
}

/// A binomial count.
pub fn binomial(rng: &mut dyn Rng, trials: u64, p: f64) -> f64 {
    Binomial::new(trials, p.clamp(0.0, 1.0)).expect("a probability").sample(rng) as f64
}

/// Student's t with this many degrees of freedom.
pub fn student(rng: &mut dyn Rng, df: f64) -> f64 {
    gauss(rng) / (gamma(rng, 0.5 * df) / (0.5 * df)).sqrt()
}

/// 1/(1 + e^-u).
pub fn logistic(u: f64) -> f64 {
    1.0 / (1.0 + (-u).exp())
}

/// Independent parameters.
pub fn prior(marginals: &[(&str, Marginal)]) -> Prior {
    Prior::independent(marginals.iter().map(|(name, marginal)| ((*name).to_string(), marginal.clone())).collect()).expect("a valid prior")
}

/// theta_1, …, each N(0, 1).
pub fn standard_prior(dimension: usize) -> Prior {
    Prior::independent((1..=dimension).map(|d| (format!("theta_{d}"), normal(0.0, 1.0))).collect()).expect("a valid prior")
}

/// A normal marginal.
pub fn normal(mean: f64, std: f64) -> Marginal {
    Marginal::Normal { mean, std }
}

/// A uniform marginal.
pub fn uniform(low: f64, high: f64) -> Marginal {
    Marginal::Uniform { low, high }
}
