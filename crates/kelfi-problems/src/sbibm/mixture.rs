//! gaussian_mixture: the common mean of a wide and a narrow Gaussian.

use super::Model;
use super::rejection::Attempt;
use crate::problem::{SimulationFailure, numbered, take};
use kelfi::prior::{Marginal, Prior};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

/// Standard deviations of the two equally likely components.
const STDS: [f64; 2] = [1.0, 0.1];
/// The prior is uniform on the square of this half width.
const HALF_WIDTH: f64 = 10.0;

/// x ~ ½ N(θ, I) + ½ N(θ, 0.01 I), one choice for both coordinates. The posterior is the same around x, cut to the box.
pub(super) struct Mixture;

impl Model for Mixture {
    fn prior(&self) -> Prior {
        let uniform = |name| (name, Marginal::Uniform { low: -HALF_WIDTH, high: HALF_WIDTH });
        Prior::independent(numbered("theta", 2).into_iter().map(uniform).collect()).expect("two names and an interval")
    }

    fn statistic_names(&self) -> Vec<String> {
        numbered("x", 2)
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        Ok(around(take(theta)?, rng).to_vec())
    }

    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> f64 {
        let square = (x[0] - theta[0]).powi(2) + (x[1] - theta[1]).powi(2);
        let component = |std: f64| -0.5 * square / (std * std) - 2.0 * std.ln();
        let [wide, narrow] = STDS.map(component);
        let highest = wide.max(narrow);
        highest + ((wide - highest).exp() + (narrow - highest).exp()).ln() - (2.0 * std::f64::consts::TAU).ln()
    }

    fn sampler<'a>(&'a self, x: &'a [f64]) -> Option<Attempt<'a>> {
        Some(Box::new(|rng| {
            let theta = around([x[0], x[1]], rng);
            theta.iter().all(|value| value.abs() <= HALF_WIDTH).then(|| theta.to_vec())
        }))
    }
}

fn around(centre: [f64; 2], rng: &mut dyn Rng) -> [f64; 2] {
    let std = STDS[usize::from(rng.random::<bool>())];
    centre.map(|centre| {
        let z: f64 = StandardNormal.sample(rng);
        centre + std * z
    })
}
