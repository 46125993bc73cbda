//! bernoulli_glm: spikes of a neuron as logistic regression on a frozen stimulus and its recent past.

use super::Model;
use crate::problem::{SimulationFailure, numbered, take};
use crate::small_matrix::SmallCholesky;
use kelfi::{Points, Prior};
use rand::{Rng, RngExt};

const STIMULUS: &str = include_str!("../../data/bernoulli_glm_stimulus.csv");
/// Offset and nine filter taps.
const DIMENSION: usize = 10;
const TAPS: usize = DIMENSION - 1;

/// y_t ~ Bernoulli(logistic(X_t θ)); the data are Xᵀy, which is sufficient.
pub(super) struct BernoulliGlm {
    design: Vec<[f64; DIMENSION]>,
}

impl BernoulliGlm {
    /// Row t of the design: 1, then the stimulus at t, t − 1, …, t − 8 (0 before the start).
    pub(super) fn new() -> Self {
        let stimulus: Vec<f64> = STIMULUS.lines().filter_map(|line| line.parse().ok()).collect();
        let entry = |t: usize, column: usize| match column {
            0 => 1.0,
            _ if t + 1 >= column => stimulus[t + 1 - column],
            _ => 0.0,
        };
        Self { design: (0..stimulus.len()).map(|t| std::array::from_fn(|column| entry(t, column))).collect() }
    }
}

impl Model for BernoulliGlm {
    fn prior(&self) -> Prior {
        let covariance = SmallCholesky::new(&precision(), DIMENSION).expect("FᵀF of a regular F is positive definite").inverse();
        let mut names = vec!["offset".to_owned()];
        names.extend(numbered("filter", TAPS));
        let covariance = Points::new(covariance, DIMENSION, DIMENSION).expect("the inverse has the precision's shape");
        Prior::multivariate_normal(names, vec![0.0; DIMENSION], &covariance).expect("a positive definite covariance")
    }

    fn statistic_names(&self) -> Vec<String> {
        let mut names = vec!["spikes".to_owned()];
        names.extend((0..TAPS).map(|lag| format!("spike_triggered_sum_{lag}")));
        names
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        let theta = take::<DIMENSION>(theta)?;
        let mut x = vec![0.0; DIMENSION];
        for row in &self.design {
            let spike = rng.random::<f64>() < (1.0 + (-dot(row, &theta)).exp()).recip();
            if spike {
                x.iter_mut().zip(row).for_each(|(x, entry)| *x += entry);
            }
        }
        Ok(x)
    }

    /// θ · x − Σ_t ln(1 + exp(X_t θ)), up to the number of spike trains with these sums, which is free of θ.
    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> f64 {
        dot(theta, x) - self.design.iter().map(|row| softplus(dot(row, theta))).sum::<f64>()
    }
}

/// ½ for the offset; FᵀF for the filter, F = D D + diag √(i/9), D first differences: smooth filters are likely.
fn precision() -> Vec<f64> {
    let difference = |i: usize, j: usize| f64::from(i8::from(i == j) - i8::from(i == j + 1));
    let f = |i: usize, j: usize| {
        let twice: f64 = (0..TAPS).map(|k| difference(i, k) * difference(k, j)).sum();
        twice + if i == j { (i as f64 / TAPS as f64).sqrt() } else { 0.0 }
    };
    let mut precision = vec![0.0; DIMENSION * DIMENSION];
    precision[0] = 0.5;
    for i in 0..TAPS {
        for j in 0..TAPS {
            precision[(i + 1) * DIMENSION + j + 1] = (0..TAPS).map(|k| f(k, i) * f(k, j)).sum();
        }
    }
    precision
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// ln(1 + eᵛ) without overflow.
fn softplus(v: f64) -> f64 {
    v.max(0.0) + (-v.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn design_delays_the_stimulus_by_one_bin_a_column() {
        let model = BernoulliGlm::new();
        assert_eq!(model.design.len(), 100);
        let first = 0.4967141530112327;
        assert_eq!(model.design[0], [1.0, first, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        // The second and the last of the 100 values, where they come.
        assert_eq!((model.design[1][1], model.design[99][1]), (-0.13826430117118466, -0.23458713337514692));
        for t in 0..100 {
            for delay in 0..TAPS {
                let delayed = if t >= delay { model.design[t - delay][1] } else { 0.0 };
                assert_eq!(model.design[t][1 + delay], delayed, "bin {t}, delay {delay}");
            }
        }
    }

    #[test]
    fn prior_covariance_is_that_of_an_independent_inversion() {
        let covariance = SmallCholesky::new(&precision(), DIMENSION).unwrap().inverse();
        let filter = |i: usize, j: usize| covariance[(i + 1) * DIMENSION + j + 1];
        assert!((covariance[0] - 2.0).abs() < 1e-12);
        let reference = [(0, 0, 1.0), (4, 4, 1.4795061959009566), (8, 8, 0.7749075405590652), (0, 1, 1.5), (3, 5, 0.23496607272414752)];
        for (i, j, value) in reference {
            assert!((filter(i, j) - value).abs() < 1e-9, "({i}, {j})");
        }
    }
}
