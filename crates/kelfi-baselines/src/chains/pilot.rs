//! A first share of the budget at draws of the prior: it tells a chain where to start, how far to step and how near is near.

use super::path::go_on;
use super::walk::Walk;
use crate::nearest::{Acceptance, Nearest};
use crate::yardstick::{Units, Yardstick};
use kelfi::method::Task;
use kelfi::{Error, Points};

/// Share of the budget a pilot takes, and how many calls it takes at least where the budget allows.
const SHARE: f64 = 0.2;
const LEAST: usize = 20;
/// Best scale of a Gaussian random walk in D dimensions, over √D (Roberts, Gelman & Gilks, Ann. Appl. Probab. 7, 1997).
const BEST_SCALE: f64 = 2.38;
/// Added to the covariance of the nearest in z, where the prior has 1.
const LEAST_VARIANCE: f64 = 1e-4;

/// How far a chain steps, in z coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Steps {
    /// 2.38²/D times the covariance of the nearest tenth of the pilot to begin with; longer or shorter as proposals are taken or not.
    #[default]
    FromPilot,
    /// Independent steps of this standard deviation in every coordinate, in prior standard deviations.
    Fixed(f64),
}

/// What the pilot found.
pub struct Pilot {
    /// The units of the statistics.
    pub yardstick: Yardstick,
    /// z of the successful draws, nearest first.
    pub z: Points,
    /// Their differences to the observation.
    pub differences: Points,
    /// Euclidean lengths of these.
    pub distances: Vec<f64>,
}

impl Pilot {
    /// Takes a fifth of the budget, at least 20 calls, at most half.
    pub fn new(task: &Task<'_>, units: Units) -> Result<Self, Error> {
        let budget = task.calls.budget();
        let share = ((SHARE * budget as f64).ceil() as usize).max(LEAST).min(budget.div_ceil(2));
        Self::with_calls(task, units, share)
    }

    /// Takes `calls` calls.
    pub fn with_calls(task: &Task<'_>, units: Units, calls: usize) -> Result<Self, Error> {
        let simulations = task.calls.from_prior(calls)?;
        go_on(task)?;
        let yardstick = Yardstick::new(&simulations, task.observation, units)?;
        let Nearest { theta, differences, distances } = Nearest::among(&simulations, &yardstick, &Acceptance { share: 1.0, least: 1 });
        Ok(Self { yardstick, z: task.prior.to_latent_points(&theta)?, differences, distances })
    }

    /// The distance below which this share of the pilot lies, per statistic: √(d²/n).
    pub fn tolerance(&self, share: f64) -> f64 {
        let last = ((share * self.distances.len() as f64) as usize).min(self.distances.len() - 1);
        let per_statistic = self.distances[last] / (self.yardstick.columns().max(1) as f64).sqrt();
        per_statistic.max(f64::MIN_POSITIVE)
    }

    /// z of the nearest draw.
    pub fn start(&self) -> Vec<f64> {
        self.z.row(0).to_vec()
    }

    /// The steps of a chain.
    pub fn steps(&self, steps: Steps) -> Result<Walk, Error> {
        let dimension = self.z.columns();
        match steps {
            Steps::Fixed(std) => {
                Error::require_positive("step of the chain", std)?;
                let mut covariance = vec![0.0; dimension * dimension];
                (0..dimension).for_each(|d| covariance[d * dimension + d] = std * std);
                Walk::new(covariance, dimension)
            }
            Steps::FromPilot => {
                let near = (self.z.rows() / 10).max(2 * dimension).max(5).min(self.z.rows());
                let scale = BEST_SCALE * BEST_SCALE / dimension as f64;
                let mut covariance = covariance_of(&self.z.select(&(0..near).collect::<Vec<_>>()));
                covariance.iter_mut().for_each(|c| *c *= scale);
                (0..dimension).for_each(|d| covariance[d * dimension + d] += LEAST_VARIANCE);
                Ok(Walk::new(covariance, dimension)?.that_adapts())
            }
        }
    }
}

/// Covariance of rows, with divisor m.
pub fn covariance_of(z: &Points) -> Vec<f64> {
    weighted_covariance(z, &vec![1.0 / z.rows() as f64; z.rows()])
}

/// Covariance of rows with weights that sum to 1.
pub fn weighted_covariance(z: &Points, weights: &[f64]) -> Vec<f64> {
    let dimension = z.columns();
    let mean: Vec<f64> = (0..dimension).map(|d| z.iter().zip(weights).map(|(z, w)| w * z[d]).sum()).collect();
    let mut covariance = vec![0.0; dimension * dimension];
    for (z, w) in z.iter().zip(weights) {
        for i in 0..dimension {
            (0..dimension).for_each(|j| covariance[i * dimension + j] += w * (z[i] - mean[i]) * (z[j] - mean[j]));
        }
    }
    covariance
}
