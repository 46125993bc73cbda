//! What a method answers: samples and the density at a point, whatever the posterior is made of.

use crate::method::{Density, Particles};
use crate::samples::independent;
use crate::{Error, Points, Posterior, Prior};
use std::sync::Arc;

/// A posterior in the form the method has it.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Of a surrogate likelihood.
    Posterior(Box<Posterior>),
    /// Weighted parameter vectors.
    Particles(Particles),
    /// A density in z coordinates.
    Density {
        /// The prior whose coordinates these are.
        prior: Prior,
        /// The density.
        density: Arc<dyn Density>,
    },
    /// The prior itself: nothing was learned.
    Prior(Prior),
}

impl Answer {
    /// `count` samples, one a row.
    pub fn samples(&self, count: usize, seed: u64) -> Result<Points, Error> {
        match self {
            Self::Posterior(posterior) => Ok(independent(posterior, count, seed)?.samples),
            Self::Particles(particles) => Ok(particles.samples(count, seed)),
            Self::Density { prior, density } => Ok(prior.from_latent_points(&density.samples(count, seed))),
            Self::Prior(prior) => Ok(prior.draw(count, seed)),
        }
    }

    /// What a reader of the answer has to know: that a chain never moved, say.
    pub fn remark(&self) -> Option<String> {
        match self {
            Self::Particles(particles) => particles.remark(),
            _ => None,
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
            Self::Density { prior, density } => {
                let z = prior.to_latent(theta)?;
                // The change of coordinates is the same for both densities.
                let ln_prior = prior.latent().ln_density(&z).ok_or_else(|| Error::Unavailable {
                    what: "the density over the prior".into(),
                    reason: "this prior is given only as draws; give it as a distribution".into(),
                })?;
                Ok(density.ln_density(&z) - ln_prior)
            }
            Self::Prior(_) => Ok(0.0),
        }
    }
}
