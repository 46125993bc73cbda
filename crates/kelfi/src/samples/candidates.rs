//! Where super-samples may lie: prior draws, points given by the user, or draws concentrated on the posterior.

use crate::posterior::Posterior;
use crate::posterior::independent;
use crate::random::Purpose;
use crate::{Error, Points};

/// The query points of Algorithm 1.
#[derive(Debug, Clone)]
pub enum Candidates {
    /// These parameter vectors, in θ units.
    Given(Points),
    /// This many draws of the prior: simple, but coarse where the posterior is narrow.
    Prior(usize),
    /// This many draws of the positive part of the posterior: the default.
    Posterior(usize),
}

impl Candidates {
    /// The query points in z coordinates.
    pub(crate) fn latent(&self, posterior: &Posterior, seed: u64) -> Result<Points, Error> {
        let z = match self {
            Self::Given(theta) => posterior.prior().to_latent_points(theta)?,
            Self::Prior(count) => posterior.prior().latent().draws(*count, seed, Purpose::Candidates),
            Self::Posterior(count) => independent::latent(posterior, *count, seed, &mut || true)?.0,
        };
        if z.is_empty() {
            return Err(Error::Empty { what: "the set of candidates".into(), advice: "herding needs at least one query point".into() });
        }
        Ok(z)
    }
}
