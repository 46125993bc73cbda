//! Priors known by their draws: given as such, or made from a user's own distribution.

use super::standardise::Standardise;
use crate::random::{Purpose, stream};
use crate::{Error, Points};
use std::sync::Arc;

/// Equally weighted draws; no density.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplesPrior {
    pub(super) names: Vec<String>,
    pub(super) draws: Points,
    pub(super) standardise: Standardise,
}

impl SamplesPrior {
    /// From at least two distinct draws.
    pub(super) fn new(names: Vec<String>, draws: Points) -> Result<Self, Error> {
        if draws.columns() != names.len() {
            return Err(Error::Shape {
                left: "the draws of the prior".into(),
                left_rows: draws.rows(),
                left_columns: draws.columns(),
                right: "the list of names".into(),
                right_rows: 1,
                right_columns: names.len(),
                advice: "one column of draws for each name".into(),
            });
        }
        if draws.rows() < 2 {
            return Err(Error::invalid("number of prior draws", draws.rows() as f64, "at least two are needed; a thousand are better"));
        }
        draws.require_finite("the draws of the prior")?;
        let standardise = Standardise::of_draws(&names, &draws)?;
        Ok(Self { names, draws, standardise })
    }

    /// The draws in θ units.
    pub fn draws(&self) -> &Points {
        &self.draws
    }

    /// The draws in z units.
    pub(super) fn latent_draws(&self) -> Points {
        self.draws.map_rows(self.draws.columns(), |theta| self.standardise.to_latent(theta))
    }
}

/// A prior of the user's own: anything that can draw and give a density.
pub trait PriorDistribution: std::fmt::Debug + Send + Sync {
    /// Names of the parameters, in order.
    fn names(&self) -> Vec<String>;
    /// One draw of θ, from this generator only.
    fn draw(&self, rng: &mut dyn rand::Rng) -> Vec<f64>;
    /// ln p(θ), normalised; −∞ outside the support.
    fn ln_density(&self, theta: &[f64]) -> f64;
}

/// A [`PriorDistribution`] with the draws that stand for it in integrals.
#[derive(Debug, Clone)]
pub struct CustomPrior {
    pub(super) distribution: Arc<dyn PriorDistribution>,
    pub(super) samples: SamplesPrior,
}

impl CustomPrior {
    /// `draws` draws, the one of index t from the stream (seed, integration, t).
    pub(super) fn new(distribution: Arc<dyn PriorDistribution>, draws: usize, seed: u64) -> Result<Self, Error> {
        let rows: Vec<Vec<f64>> = (0..draws).map(|t| distribution.draw(&mut stream(seed, Purpose::Integration, t as u64))).collect();
        let samples = SamplesPrior::new(distribution.names(), Points::from_rows(&rows)?)?;
        Ok(Self { distribution, samples })
    }

    /// The distribution as given.
    pub fn distribution(&self) -> &Arc<dyn PriorDistribution> {
        &self.distribution
    }

    /// The draws that stand for it, which is also what a saved model keeps.
    pub fn samples(&self) -> &SamplesPrior {
        &self.samples
    }
}
