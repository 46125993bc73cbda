//! Priors in the user's units, and the coordinates z in which all kernel algebra happens (method: §1).

// `from_latent` is the inverse of `to_latent`; both need the prior they belong to.
#![allow(clippy::wrong_self_convention)]

/// Named parameters, each with its own marginal.
pub mod independent;
/// The prior in z coordinates: what the closed forms need.
pub mod latent;
mod line;
/// One-dimensional families.
pub mod marginal;
/// Mixtures of axis-aligned Gaussians.
pub mod mixture;
/// Normal priors with any covariance.
pub mod multivariate_normal;
/// Fixed points for integrals over the prior.
pub mod quadrature;
/// Priors known by their draws.
pub mod samples;
mod saved;
mod standardise;
mod transform;
pub(crate) mod uniform;

pub use independent::Independent;
pub use latent::{GaussianComponent, LatentPrior};
pub use marginal::{LATENT_LIMIT, Marginal};
pub use mixture::GaussianMixture;
pub use multivariate_normal::MultivariateNormal;
pub use samples::{CustomPrior, PriorDistribution, SamplesPrior};

use crate::random::{Purpose, stream};
use crate::{Error, Points};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The prior of the parameters.
///
/// Saved as its settings; a [`Prior::Custom`] is saved as its draws and loads as [`Prior::Samples`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "saved::SavedPrior", try_from = "saved::SavedPrior")]
pub enum Prior {
    /// Independent parameters; z is N(0, I).
    Independent(Independent),
    /// Correlated normal parameters; z is N(0, I).
    MultivariateNormal(MultivariateNormal),
    /// A mixture of axis-aligned Gaussians; z is standardised.
    Mixture(GaussianMixture),
    /// Draws without a density; z is standardised.
    Samples(SamplesPrior),
    /// The user's own distribution, integrated by its draws; z is standardised.
    Custom(CustomPrior),
}

/// How one parameter depends on z.
#[derive(Debug, Clone, PartialEq)]
pub enum Coordinate {
    /// θ_d is an increasing function of z_d and depends on no other coordinate.
    Monotone,
    /// θ_d = offset + Σ_e coefficients_e z_e.
    Linear {
        /// One factor for each coordinate of z.
        coefficients: Vec<f64>,
        /// θ_d at z = 0.
        offset: f64,
    },
}

impl Prior {
    /// Independent parameters, each with a name and a marginal.
    pub fn independent(marginals: Vec<(String, Marginal)>) -> Result<Self, Error> {
        require_names(&marginals.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>())?;
        Independent::new(marginals).map(Self::Independent)
    }

    /// N(mean, covariance) with a symmetric positive definite covariance.
    pub fn multivariate_normal(names: Vec<String>, mean: Vec<f64>, covariance: &Points) -> Result<Self, Error> {
        require_names(&names)?;
        MultivariateNormal::new(names, mean, covariance).map(Self::MultivariateNormal)
    }

    /// A mixture of axis-aligned Gaussians in θ units. Weights are normalised.
    pub fn gaussian_mixture(names: Vec<String>, components: Vec<GaussianComponent>) -> Result<Self, Error> {
        require_names(&names)?;
        GaussianMixture::new(names, components).map(Self::Mixture)
    }

    /// A prior known only by equally weighted draws.
    pub fn samples(names: Vec<String>, draws: Points) -> Result<Self, Error> {
        require_names(&names)?;
        SamplesPrior::new(names, draws).map(Self::Samples)
    }

    /// The user's own distribution; `draws` draws of it, made with `seed`, stand for it in integrals.
    pub fn custom(distribution: Arc<dyn PriorDistribution>, draws: usize, seed: u64) -> Result<Self, Error> {
        require_names(&distribution.names())?;
        CustomPrior::new(distribution, draws, seed).map(Self::Custom)
    }

    /// Names of the parameters, in order.
    pub fn names(&self) -> &[String] {
        match self {
            Self::Independent(prior) => &prior.names,
            Self::MultivariateNormal(prior) => &prior.names,
            Self::Mixture(prior) => &prior.names,
            Self::Samples(prior) => &prior.names,
            Self::Custom(prior) => &prior.samples.names,
        }
    }

    /// Number of parameters D.
    pub fn dimension(&self) -> usize {
        self.names().len()
    }

    /// ln p(θ); −∞ outside the support. A prior known by draws only has none.
    pub fn ln_density(&self, theta: &[f64]) -> Result<f64, Error> {
        self.require_point(theta)?;
        match self {
            Self::Independent(prior) => Ok(prior.ln_density(theta)),
            Self::MultivariateNormal(prior) => Ok(prior.ln_density(theta)),
            Self::Mixture(prior) => Ok(prior.ln_density(theta)),
            Self::Samples(_) => Err(Error::Unavailable {
                what: "the prior density".into(),
                reason: "this prior is given only as draws; give it as a distribution, or work with samples".into(),
            }),
            Self::Custom(prior) => Ok(prior.distribution.ln_density(theta)),
        }
    }

    /// `count` draws; θ_j depends on (seed, j) only.
    pub fn draw(&self, count: usize, seed: u64) -> Points {
        let mut points = Points::zeros(count, self.dimension());
        for j in 0..count {
            points.row_mut(j).copy_from_slice(&self.draw_with(&mut stream(seed, Purpose::Parameters, j as u64)));
        }
        points
    }

    /// One draw of θ.
    pub fn draw_with(&self, rng: &mut dyn rand::Rng) -> Vec<f64> {
        match self {
            Self::Custom(prior) => prior.distribution.draw(rng),
            Self::Samples(prior) => prior.draws.row(uniform::index(rng, prior.draws.rows())).to_vec(),
            _ => self.from_latent(&self.latent().draw_with(rng)),
        }
    }
}

/// An error unless there is at least one name and each is non-empty and different from the others.
fn require_names(names: &[String]) -> Result<(), Error> {
    if names.is_empty() {
        return Err(Error::Empty { what: "the list of parameters".into(), advice: "give at least one parameter with a name".into() });
    }
    for (d, name) in names.iter().enumerate() {
        if name.trim().is_empty() {
            return Err(Error::Empty { what: format!("the name of parameter {d}"), advice: "every parameter needs a name".into() });
        }
        if let Some(first) = names[..d].iter().position(|other| other == name) {
            return Err(Error::invalid(
                format!("the position of the name {name}"),
                d as f64,
                format!("parameter {first} has the same name; names must differ"),
            ));
        }
    }
    Ok(())
}
