//! The numbers a user reads first: each parameter's mean, spread, mode and quantiles.

use crate::Error;
use crate::posterior::Posterior;
use serde::{Deserialize, Serialize};

/// One parameter of the posterior, in the user's units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParameterSummary {
    /// Name of the parameter.
    pub name: String,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Its coordinate of the joint mode.
    pub mode: f64,
    /// Quantiles: 2.5 %, 25 %, 50 %, 75 %, 97.5 %.
    pub quantiles: [f64; 5],
}

/// The probabilities of [`ParameterSummary::quantiles`].
pub const PROBABILITIES: [f64; 5] = [0.025, 0.25, 0.5, 0.75, 0.975];

/// Mean and standard deviation of each parameter under the clipped density, as its quantiles are.
pub fn moments(posterior: &Posterior) -> Result<Vec<(f64, f64)>, Error> {
    let (mean, covariance) = (posterior.mean(), posterior.covariance());
    (0..mean.len()).map(|d| Ok((mean[d], posterior.std_by(&covariance, d)?))).collect()
}

/// Every parameter in order.
pub fn summary(posterior: &Posterior) -> Result<Vec<ParameterSummary>, Error> {
    let (moments, mode) = (moments(posterior)?, posterior.mode()?);
    let one = |(d, name): (usize, &String)| -> Result<ParameterSummary, Error> {
        let found = posterior.quantile(d, &PROBABILITIES)?;
        let mut quantiles = [0.0; 5];
        quantiles.copy_from_slice(&found);
        Ok(ParameterSummary { name: name.clone(), mean: moments[d].0, sd: moments[d].1, mode: mode[d], quantiles })
    };
    posterior.prior().names().iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};
    use crate::{Hyperparameters, KernelMeansLikelihood, Marginal, Observation, Points, Prior, Question, Recorded, Simulations};
    use std::sync::Arc;

    const LOW: f64 = 0.01;
    const HIGH: f64 = 10.0;

    /// ln θ seen with noise.
    fn posterior(epsilon: f64, length_scale: f64, regularization: f64) -> Posterior {
        let prior = Prior::independent(vec![("rate".into(), Marginal::LogUniform { low: LOW, high: HIGH })]).unwrap();
        let theta = prior.draw(80, 3);
        let mut rng = stream(3, Purpose::Experiment, 0);
        let x = Points::from_column(theta.iter().map(|theta| theta[0].ln() + standard_normal(&mut rng)).collect());
        let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, x).unwrap()));
        let hyperparameters = Hyperparameters::isotropic(epsilon, length_scale, regularization);
        let model =
            KernelMeansLikelihood::new(&Question::new(&prior, &recorded, &Observation::Statistics(vec![1.5])), &hyperparameters).unwrap();
        Posterior::new(Arc::new(model), 0).unwrap()
    }

    #[test]
    fn moments_of_a_posterior_far_from_a_density_are_those_of_its_positive_part() {
        let posterior = posterior(0.1, 0.3, 1e-5);
        let ratio = posterior.negative_mass().ratio;
        assert!(ratio > 0.25, "{ratio}");
        let (mean, sd) = moments(&posterior).unwrap()[0];
        assert!(mean > LOW && mean < HIGH, "{mean}");
        // The same by a sum over ln θ.
        let step = (HIGH / LOW).ln() / 20_000.0;
        let grid: Vec<f64> = (0..20_000).map(|k| LOW * ((f64::from(k) + 0.5) * step).exp()).collect();
        let mass: Vec<f64> = posterior.marginal(0, &grid).unwrap().iter().zip(&grid).map(|(p, theta)| p * theta * step).collect();
        let sum = |f: &dyn Fn(f64) -> f64| grid.iter().zip(&mass).map(|(theta, mass)| f(*theta) * mass).sum::<f64>();
        let expected = sum(&|theta| theta);
        assert!((mean - expected).abs() < 1e-5 * expected, "{mean} {expected}");
        let expected = sum(&|theta| (theta - mean).powi(2)).sqrt();
        assert!((sd - expected).abs() < 1e-5 * expected, "{sd} {expected}");
    }

    #[test]
    fn moments_of_a_posterior_close_to_a_density_are_close_to_the_exact_sums() {
        let posterior = posterior(2.0, 3.0, 1e-1);
        let ratio = posterior.negative_mass().ratio;
        assert!(ratio > 1e-9 && ratio < 1e-4, "{ratio}");
        let (mean, sd) = moments(&posterior).unwrap()[0];
        let signed = (posterior.signed_mean()[0], posterior.signed_covariance().row(0)[0].sqrt());
        // The negative parts lie within the prior, ten standard deviations away at most.
        assert!((mean - signed.0).abs() < 10.0 * ratio * sd, "{mean} {signed:?}");
        assert!((sd - signed.1).abs() < 50.0 * ratio * sd, "{sd} {signed:?}");
    }
}
