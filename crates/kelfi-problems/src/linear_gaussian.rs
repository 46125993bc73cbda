//! Linear regression with known noise and a Gaussian prior: the posterior is Gaussian in closed form.

use crate::problem::{BenchmarkProblem, Facts, Reference, SimulationFailure, finite, numbered, require_parameters};
use crate::small_matrix::SmallCholesky;
use kelfi::prior::{Marginal, Prior};
use kelfi::random::{Purpose, stream};
use kelfi::{Error, Points};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// x = A θ + N(0, s² I), θ ~ N(0, I).
#[derive(Debug, Clone)]
pub struct LinearGaussian {
    facts: Facts,
    matrix: Points,
    noise: f64,
}

impl LinearGaussian {
    /// The problem with matrix A (a row for each statistic, a column for each parameter), noise s and observation.
    pub fn new(matrix: Points, noise: f64, observation: Vec<f64>) -> Result<Self, Error> {
        Error::require_positive("noise", noise)?;
        matrix.require_finite("the matrix")?;
        if observation.len() != matrix.rows() {
            return Err(Error::Shape {
                left: "the matrix".into(),
                left_rows: matrix.rows(),
                left_columns: matrix.columns(),
                right: "the observation".into(),
                right_rows: observation.len(),
                right_columns: 1,
                advice: "the matrix needs a row for each statistic".into(),
            });
        }
        let normal = |name| (name, Marginal::Normal { mean: 0.0, std: 1.0 });
        let prior = Prior::independent(numbered("theta", matrix.columns()).into_iter().map(normal).collect())?;
        let facts = Facts {
            name: "linear_gaussian",
            description: "linear regression with known noise and a standard normal prior; the posterior is Gaussian",
            prior,
            statistic_names: numbered("x", matrix.rows()),
            observation,
            truth: None,
        };
        Ok(Self { facts, matrix, noise })
    }

    /// Two correlated parameters, three statistics, noise 0.5.
    pub fn standard() -> Self {
        let matrix = Points::from_rows(&[[1.0, 0.5], [0.5, 1.0], [1.0, 1.0]]).expect("rows of equal length");
        Self::new(matrix, 0.5, vec![0.8, -0.1, 0.6]).expect("positive noise and three observed values")
    }

    /// Mean, and Cholesky factor of the precision I + AᵀA/s², of the exact posterior.
    fn posterior(&self, x: &[f64]) -> (Vec<f64>, SmallCholesky) {
        let order = self.matrix.columns();
        let weight = self.noise.powi(-2);
        let mut precision = vec![0.0; order * order];
        let mut right = vec![0.0; order];
        for (row, x) in self.matrix.iter().zip(x) {
            for i in 0..order {
                right[i] += weight * row[i] * x;
                for j in 0..order {
                    precision[i * order + j] += weight * row[i] * row[j];
                }
            }
        }
        (0..order).for_each(|i| precision[i * order + i] += 1.0);
        let factor = SmallCholesky::new(&precision, order).expect("I + AᵀA/s² is positive definite for finite A");
        (factor.solve(&right), factor)
    }

    /// Mean and covariance (row by row) of the exact posterior given x.
    pub fn posterior_moments(&self, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mean, factor) = self.posterior(x);
        (mean, factor.inverse())
    }

    fn expectation(&self, theta: &[f64]) -> impl Iterator<Item = f64> {
        self.matrix.iter().map(move |row| row.iter().zip(theta).map(|(a, theta)| a * theta).sum())
    }
}

impl BenchmarkProblem for LinearGaussian {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        require_parameters(theta, self.matrix.columns())?;
        let noisy = |centre: f64, z: f64| centre + self.noise * z;
        finite(self.expectation(theta).map(|centre| noisy(centre, StandardNormal.sample(rng))).collect())
    }

    fn reference(&self) -> Reference {
        Reference::Sampler
    }

    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> Option<f64> {
        Some(self.expectation(theta).zip(x).map(|(centre, x)| -0.5 * ((x - centre) / self.noise).powi(2)).sum())
    }

    fn reference_samples(&self, x: &[f64], count: usize, seed: u64) -> Result<Points, Error> {
        let (mean, factor) = self.posterior(x);
        let draw = |index: usize| {
            let mut rng = stream(seed, Purpose::Samples, index as u64);
            let z: Vec<f64> = mean.iter().map(|_| StandardNormal.sample(&mut rng)).collect();
            factor.solve_transposed(&z).iter().zip(&mean).map(|(deviation, mean)| mean + deviation).collect::<Vec<_>>()
        };
        Points::from_rows(&(0..count).map(draw).collect::<Vec<_>>())
    }
}
