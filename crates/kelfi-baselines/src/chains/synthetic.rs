//! Synthetic likelihood (Wood, Nature 466, 2010): statistics are Gaussian, their moments estimated from S calls at every step.

use super::mcmc_abc::{Memory, chain, repeats};
use super::pilot::{Pilot, Steps};
use crate::yardstick::{Units, Yardstick};
use kelfi::linalg::Cholesky;
use kelfi::method::{Answer, Method, Task};
use kelfi::{Error, Points};

/// A chain on the synthetic likelihood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SyntheticLikelihood {
    /// S, calls for each estimate.
    pub repeats: usize,
    /// ε, added to every variance as ε²: S calls leave the covariance of n ≥ S statistics singular.
    pub tolerance: f64,
    /// Whether the current estimate is kept or made anew.
    pub memory: Memory,
    /// How far the chain steps.
    pub steps: Steps,
    /// Units of the statistics.
    pub units: Units,
}

impl Default for SyntheticLikelihood {
    /// Ten calls, a tenth of the prior spread of each statistic as tolerance, estimates kept.
    fn default() -> Self {
        Self { repeats: 10, tolerance: 0.1, memory: Memory::PseudoMarginal, steps: Steps::default(), units: Units::default() }
    }
}

impl Method for SyntheticLikelihood {
    fn name(&self) -> &'static str {
        "synthetic-likelihood"
    }

    fn description(&self) -> &'static str {
        "Markov chain on a Gaussian likelihood with moments from 10 calls a step (SL-ABC; Wood 2010)"
    }

    fn reference(&self) -> &'static str {
        "Wood, Nature 466, 2010"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        require_settings(self.repeats, self.tolerance)?;
        let pilot = Pilot::new(task, self.units)?;
        let estimate =
            |z: &[f64]| Ok(Moments::new(&pilot.yardstick, &repeats(task, z, self.repeats)?, self.tolerance).ln_density_at_zero(None));
        let known = if task.calls.left() >= self.repeats { estimate(&pilot.start())? } else { f64::NEG_INFINITY };
        chain(task, &pilot, self.steps, self.memory, self.repeats, known, estimate)
    }
}

/// Refuses fewer than two calls for an estimate and a tolerance below zero.
pub fn require_settings(repeats: usize, tolerance: f64) -> Result<(), Error> {
    if repeats < 2 {
        return Err(Error::invalid("calls for each estimate", repeats as f64, "a covariance needs at least 2"));
    }
    Error::require_positive("tolerance", tolerance).map(drop)
}

/// Mean and covariance of x − y from a few calls.
#[derive(Debug, Clone)]
pub struct Moments {
    /// The mean; `None` when fewer than two calls succeeded.
    pub mean: Option<Vec<f64>>,
    /// C of Σ + ε² I = C Cᵀ.
    factor: Option<Cholesky>,
    /// C of Σ/S.
    of_mean: Option<Cholesky>,
    /// Share of calls that succeeded: the probability that there is an output at all.
    success: f64,
}

impl Moments {
    /// From calls at one θ; those that failed only lower the probability of success.
    pub fn new(yardstick: &Yardstick, x: &Points, tolerance: f64) -> Self {
        let differences = yardstick.differences(x);
        let good: Vec<usize> = (0..differences.rows()).filter(|&i| differences.row(i).iter().all(|d| d.is_finite())).collect();
        let success = good.len() as f64 / differences.rows() as f64;
        if good.len() < 2 {
            return Self { mean: None, factor: None, of_mean: None, success };
        }
        let (count, n) = (good.len() as f64, differences.columns());
        let mean: Vec<f64> = (0..n).map(|k| good.iter().map(|&i| differences.row(i)[k]).sum::<f64>() / count).collect();
        let mut covariance = vec![0.0; n * n];
        for &i in &good {
            let d = differences.row(i);
            for a in 0..n {
                (0..n).for_each(|b| covariance[a * n + b] += (d[a] - mean[a]) * (d[b] - mean[b]) / (count - 1.0));
            }
        }
        let plus = |share: f64, ridge: f64| {
            let mut matrix: Vec<f64> = covariance.iter().map(|c| c * share).collect();
            (0..n).for_each(|k| matrix[k * n + k] += ridge);
            Cholesky::new(matrix, n).ok()
        };
        let epsilon2 = tolerance * tolerance;
        Self { mean: Some(mean), factor: plus(1.0, epsilon2), of_mean: plus(1.0 / count, 1e-12 + 1e-6 * epsilon2), success }
    }

    /// ln [success · N(0 | mean, Σ + ε² I)]; another mean may be given.
    pub fn ln_density_at_zero(&self, mean: Option<&[f64]>) -> f64 {
        let (Some(own), Some(factor)) = (&self.mean, &self.factor) else { return f64::NEG_INFINITY };
        let mut whitened = mean.unwrap_or(own).to_vec();
        factor.half_solve_in_place(&mut whitened);
        let squared: f64 = whitened.iter().map(|w| w * w).sum();
        self.success.ln() - 0.5 * (squared + factor.ln_determinant() + whitened.len() as f64 * std::f64::consts::TAU.ln())
    }

    /// A draw of the mean from what is known about it, N(mean, Σ/S), made of these standard normals.
    pub fn perturbed_mean(&self, noise: &[f64]) -> Option<Vec<f64>> {
        let (mean, factor) = (self.mean.as_ref()?, self.of_mean.as_ref()?);
        Some((0..mean.len()).map(|a| mean[a] + (0..=a).map(|b| factor.entry(a, b) * noise[b]).sum::<f64>()).collect())
    }
}
