//! What several tests need: random problems and Gauss-Legendre quadrature.
#![allow(dead_code)] // every test file compiles this module and uses its own part of it

use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{
    Error, Hyperparameters, KernelMeansLikelihood, Marginal, Observation, Points, Posterior, Prior, Question, Recorded, Simulations,
};
use rand::RngExt;
use std::sync::Arc;

/// Random numbers of one test case.
pub struct Random(rand_chacha::ChaCha8Rng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(stream(seed, Purpose::Experiment, 0))
    }

    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.random::<f64>()
    }

    /// exp of a uniform draw between the logarithms.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        self.uniform(low.ln(), high.ln()).exp()
    }

    pub fn normal(&mut self) -> f64 {
        standard_normal(&mut self.0)
    }

    pub fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.normal()).collect()
    }

    /// An integer in low..=high.
    pub fn integer(&mut self, low: usize, high: usize) -> usize {
        (low + (self.0.random::<f64>() * (high - low + 1) as f64) as usize).min(high)
    }

    /// The indices 0..count in random order.
    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            order.swap(i, self.integer(0, i));
        }
        order
    }
}

/// Everything a model is built from.
#[derive(Debug, Clone)]
pub struct Problem {
    pub theta: Vec<Vec<f64>>,
    pub x: Vec<Vec<f64>>,
    pub y: Vec<f64>,
    pub prior: Prior,
    pub hyperparameters: Hyperparameters,
}

impl Problem {
    /// m parameters from the prior, statistics that depend on them through sines and noise, an observation made the same way.
    pub fn random(random: &mut Random, m: usize, n: usize, prior: Prior) -> Self {
        let d = prior.dimension();
        let mixing: Vec<Vec<f64>> = (0..n).map(|_| random.normals(d)).collect();
        let mut theta = vec![];
        let mut outputs = vec![];
        for _ in 0..=m {
            let t = prior.draw(1, (random.uniform(0.0, 1e15)) as u64).row(0).to_vec();
            let z = prior.to_latent(&t).unwrap();
            let mut signal = |a: &[f64]| a.iter().zip(&z).map(|(a, z)| a * z + 0.3 * z.sin()).sum::<f64>() + 0.4 * random.normal();
            outputs.push(mixing.iter().map(|a| signal(a)).collect::<Vec<f64>>());
            theta.push(t);
        }
        let y = outputs.pop().unwrap();
        theta.pop();
        let hyperparameters = Hyperparameters {
            epsilon: (0..n).map(|_| random.log_uniform(0.3, 2.0)).collect(),
            length_scale: (0..d).map(|_| random.log_uniform(0.3, 2.0)).collect(),
            regularization: random.log_uniform(1e-4, 0.1),
            family: Default::default(),
            solver: Default::default(),
        };
        Self { theta, x: outputs, y, prior, hyperparameters }
    }

    pub fn dimension(&self) -> usize {
        self.prior.dimension()
    }

    pub fn recorded(&self) -> Result<Recorded, Error> {
        let simulations = Simulations::new(Points::from_rows(&self.theta)?, Points::from_rows(&self.x)?)?;
        Ok(Recorded::Statistics(Arc::new(simulations)))
    }

    pub fn model(&self) -> Result<KernelMeansLikelihood, Error> {
        let observation = Observation::Statistics(self.y.clone());
        KernelMeansLikelihood::new(&Question::new(&self.prior, &self.recorded()?, &observation), &self.hyperparameters)
    }

    pub fn posterior(&self) -> Result<Posterior, Error> {
        Posterior::new(Arc::new(self.model()?), 1)
    }
}

pub fn names(dimension: usize) -> Vec<String> {
    (0..dimension).map(|d| format!("theta_{d}")).collect()
}

/// Independent parameters with these marginals.
pub fn independent(marginals: &[Marginal]) -> Prior {
    Prior::independent(names(marginals.len()).into_iter().zip(marginals.iter().cloned()).collect()).unwrap()
}

/// Independent normal parameters.
pub fn normal_prior(mean: &[f64], std: &[f64]) -> Prior {
    let marginals: Vec<Marginal> = mean.iter().zip(std).map(|(&mean, &std)| Marginal::Normal { mean, std }).collect();
    independent(&marginals)
}

pub fn standard_prior(dimension: usize) -> Prior {
    normal_prior(&vec![0.0; dimension], &vec![1.0; dimension])
}

/// A normal prior with random means and standard deviations.
pub fn random_normal_prior(random: &mut Random, dimension: usize) -> Prior {
    let std: Vec<f64> = (0..dimension).map(|_| random.log_uniform(0.01, 100.0)).collect();
    let mean: Vec<f64> = std.iter().map(|s| 3.0 * s * random.normal()).collect();
    normal_prior(&mean, &std)
}

/// Nodes and weights of the composite Gauss-Legendre rule with ten points per panel.
pub fn gauss_legendre(low: f64, high: f64, panels: usize) -> Vec<(f64, f64)> {
    const POINTS: usize = 10;
    let rule: Vec<(f64, f64)> = (0..POINTS).map(|k| legendre_node(POINTS, k)).collect();
    let half = 0.5 * (high - low) / panels as f64;
    let centre = |p: usize| low + half * (2 * p + 1) as f64;
    (0..panels).flat_map(|p| rule.iter().map(move |&(t, w)| (centre(p) + half * t, half * w)).collect::<Vec<_>>()).collect()
}

/// The k-th root of the Legendre polynomial of this degree on [-1, 1] by Newton's method, with its weight 2/((1-t²) P'²).
fn legendre_node(degree: usize, k: usize) -> (f64, f64) {
    let mut t = (std::f64::consts::PI * (k as f64 + 0.75) / (degree as f64 + 0.5)).cos();
    let mut slope = 0.0;
    for _ in 0..50 {
        let (mut previous, mut value) = (1.0, t);
        for i in 2..=degree {
            (previous, value) = (value, ((2 * i - 1) as f64 * t * value - (i - 1) as f64 * previous) / i as f64);
        }
        slope = degree as f64 * (t * value - previous) / (t * t - 1.0);
        t -= value / slope;
    }
    (t, 2.0 / ((1.0 - t * t) * slope * slope))
}

/// Asserts |found - expected| ≤ tolerance · max(|expected|, scale).
pub fn assert_close(what: &str, found: f64, expected: f64, tolerance: f64, scale: f64) {
    let allowed = tolerance * expected.abs().max(scale);
    assert!((found - expected).abs() <= allowed, "{what}: {found:e}, expected {expected:e}, allowed error {allowed:e}");
}

/// Asserts that every entry agrees within `tolerance` of the largest.
pub fn assert_all_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: lengths");
    let largest = expected.iter().fold(f64::MIN_POSITIVE, |l, e| l.max(e.abs()));
    for (k, (f, e)) in found.iter().zip(expected).enumerate() {
        assert_close(&format!("{what}[{k}]"), *f, *e, tolerance, largest);
    }
}
