//! Methods that embed the posterior by kernels on the outputs.

/// A regression from embedded outputs to parameters as a summary.
pub mod distribution_regression;
/// Samples of an embedding given by weights.
pub mod herding;
/// Weights of a kernel ridge regression on the outputs.
pub mod kernel_abc;
/// The kernel Bayes' rule.
pub mod kernel_bayes;
/// Kernel ABC and herding in turn.
pub mod kernel_recursive;
/// Discrepancies between raw samples.
pub mod maximum_mean;

use crate::yardstick::{Units, Yardstick};
use kelfi::kernel::Kernel;
use kelfi::kernel::empirical::median_distance;
use kelfi::method::Task;
use kelfi::words::counted;
use kelfi::{Error, Points};

/// Simulations that succeeded, as kernels want them.
pub struct Embedded {
    /// z of the simulations.
    pub z: Points,
    /// Their outputs less the observation, in units: the observation is the origin.
    pub outputs: Points,
}

impl Embedded {
    /// Spends the whole budget at draws of the prior.
    pub fn of(task: &Task<'_>, units: Units) -> Result<Self, Error> {
        let simulations = task.calls.all_from_prior()?;
        let yardstick = Yardstick::new(&simulations, task.observation, units)?;
        let good = simulations.successful_rows();
        let z = task.prior.to_latent_points(&simulations.theta().select(&good))?;
        Ok(Self { z, outputs: yardstick.differences(&simulations.outputs().select(&good)) })
    }
}

/// A Gaussian kernel with the median of pairwise distances, times `factor`, as its length scale.
pub fn median_kernel(points: &Points, factor: f64) -> Result<Kernel, Error> {
    let median = median_distance(points).filter(|m| *m > 0.0).unwrap_or(1.0);
    Kernel::gaussian(vec![factor * median; points.columns()])
}

/// Weights with their negative part left out; an error when nothing is left.
pub fn clipped(weights: &[f64]) -> Result<Vec<f64>, Error> {
    let clipped: Vec<f64> = weights.iter().map(|w| w.max(0.0)).collect();
    if clipped.iter().sum::<f64>() > 0.0 {
        return Ok(clipped);
    }
    Err(Error::TooFew {
        what: "a posterior from weighted simulations".into(),
        reason: format!(
            "none of {} has a positive weight, because the observation is far from all of them; allow more calls, and check that the observation has the units of the simulator's output",
            counted(weights.len() as u64, "successful simulation")
        ),
    })
}
