//! Exponential data with a gamma prior on the rate: the toy whose posterior is a gamma distribution.

use crate::problem::{BenchmarkProblem, Facts, Reference, SimulationFailure, numbered, positive, take};
use kelfi::prior::{Marginal, Prior};
use kelfi::random::{Purpose, stream};
use kelfi::{Error, Points};
use rand::Rng;
use rand_distr::{Distribution, Exp1, Gamma, StandardNormal};
use statrs::function::gamma::ln_gamma;

/// What is reported of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// ȳ.
    Mean,
    /// ln ȳ.
    LogMean,
}

impl Statistic {
    /// The statistic of data with this mean.
    pub fn of(self, mean: f64) -> f64 {
        match self {
            Self::Mean => mean,
            Self::LogMean => mean.ln(),
        }
    }

    /// The mean behind a value of the statistic.
    pub fn mean(self, value: f64) -> f64 {
        match self {
            Self::Mean => value,
            Self::LogMean => value.exp(),
        }
    }
}

/// y_i ~ Exponential(rate θ), i = 1..n; θ ~ Gamma(shape α, rate β). Posterior Gamma(α + n, rate β + n ȳ).
#[derive(Debug, Clone)]
pub struct ExponentialGamma {
    facts: Facts,
    shape: f64,
    rate: f64,
    count: usize,
    statistic: Statistic,
}

impl ExponentialGamma {
    /// The problem with prior Gamma(`shape`, `rate`), `count` data with mean `observed_mean`, and `noise_statistics`
    /// further statistics that are N(0, 1) whatever θ is (observed as 0).
    pub fn new(
        shape: f64,
        rate: f64,
        count: usize,
        observed_mean: f64,
        statistic: Statistic,
        noise_statistics: usize,
    ) -> Result<Self, Error> {
        Error::require_positive("observed mean", observed_mean)?;
        Error::require_positive("number of data", count as f64)?;
        let prior = Prior::independent(vec![("rate".to_owned(), Marginal::Gamma { shape, rate })])?;
        let first = match statistic {
            Statistic::Mean => "mean",
            Statistic::LogMean => "log_mean",
        };
        let mut statistic_names = vec![first.to_owned()];
        statistic_names.extend(numbered("noise", noise_statistics));
        let mut observation = vec![statistic.of(observed_mean)];
        observation.resize(1 + noise_statistics, 0.0);
        let facts = Facts {
            name: "exponential_gamma",
            description: "rate of exponential waiting times from their mean; the posterior is a gamma distribution",
            prior,
            statistic_names,
            observation,
            truth: None,
        };
        Ok(Self { facts, shape, rate, count, statistic })
    }

    /// Our choice where the paper gives no constants: Gamma(2, 0.5), n = 15, ȳ = 0.25 (the expectation at θ = 4), statistic ȳ.
    pub fn standard() -> Self {
        let mut problem = Self::new(2.0, 0.5, 15, 0.25, Statistic::Mean, 0).expect("positive constants");
        problem.facts.truth = Some(vec![4.0]);
        problem
    }

    /// Shape and rate of the exact gamma posterior given statistics x: (α + n, β + n ȳ).
    pub fn posterior(&self, x: &[f64]) -> (f64, f64) {
        let n = self.count as f64;
        (self.shape + n, self.rate + n * self.statistic.mean(x[0]))
    }

    /// Normalised ln density of the exact posterior at θ.
    pub fn ln_posterior_density(&self, theta: f64, x: &[f64]) -> f64 {
        let (shape, rate) = self.posterior(x);
        ln_gamma_density(theta, shape, rate)
    }
}

impl BenchmarkProblem for ExponentialGamma {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        take::<1>(theta)?;
        let rate = positive(theta, 0)?;
        let sum: f64 = (0..self.count).map(|_| -> f64 { Exp1.sample(rng) }).sum();
        let mut x = vec![self.statistic.of(sum / rate / self.count as f64)];
        x.extend((1..self.facts.statistic_names.len()).map(|_| -> f64 { StandardNormal.sample(rng) }));
        crate::problem::finite(x)
    }

    fn reference(&self) -> Reference {
        Reference::Sampler
    }

    /// ȳ | θ ~ Gamma(n, rate n θ); ln ȳ has the Jacobian ȳ. Noise statistics carry no θ and are left out.
    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> Option<f64> {
        let n = self.count as f64;
        let mean = self.statistic.mean(x[0]);
        let jacobian = match self.statistic {
            Statistic::Mean => 0.0,
            Statistic::LogMean => x[0],
        };
        Some(ln_gamma_density(mean, n, n * theta[0]) + jacobian)
    }

    fn reference_samples(&self, x: &[f64], count: usize, seed: u64) -> Result<Points, Error> {
        let (shape, rate) = self.posterior(x);
        let gamma =
            Gamma::new(shape, rate.recip()).map_err(|_| Error::invalid("posterior rate", rate, "it must be positive and finite"))?;
        Ok(Points::from_column((0..count).map(|index| gamma.sample(&mut stream(seed, Purpose::Samples, index as u64))).collect()))
    }
}

fn ln_gamma_density(value: f64, shape: f64, rate: f64) -> f64 {
    if value > 0.0 { shape * rate.ln() - ln_gamma(shape) + (shape - 1.0) * value.ln() - rate * value } else { f64::NEG_INFINITY }
}
