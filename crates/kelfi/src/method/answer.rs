//! What a method answers: samples and the density at a point, whatever the posterior is made of.

use crate::method::Particles;
use crate::samples::independent;
use crate::{Error, Points, Posterior, Prior};

/// A posterior in the form the method has it.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Of a surrogate likelihood.
    Posterior(Box<Posterior>),
    /// Weighted parameter vectors.
    Particles(Particles),
    /// The prior itself: nothing was learned.
    Prior(Prior),
}

impl Answer {
    /// `count` samples, one a row.
    pub fn samples(&self, count: usize, seed: u64) -> Result<Points, Error> {
        match self {
            Self::Posterior(posterior) => Ok(independent(posterior, count, seed)?.samples),
            Self::Particles(particles) => Ok(particles.samples(count, seed)),
            Self::Prior(prior) => Ok(prior.draw(count, seed)),
        }
    }

    /// ln q(θ|y) − ln p(θ): what was gained on the prior, in nats. −∞ where the posterior is zero.
    pub fn gain(&self, theta: &[f64]) -> Result<f64, Error> {
        match self {
            Self::Posterior(posterior) => {
                let ln = posterior.log_prob(&Points::from_rows(&[theta])?)?;
                Ok(ln[0] - posterior.prior().ln_density(theta)?)
            }
            Self::Particles(particles) => particles.gain(theta),
            Self::Prior(_) => Ok(0.0),
        }
    }
}
