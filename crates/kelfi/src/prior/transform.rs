//! θ ↔ z for whole priors, points and tables of them (method: §1).

use super::{Coordinate, LatentPrior, Prior};
use crate::{Error, Points};

impl Prior {
    /// z of θ. An error if θ has the wrong length, is not finite, or lies outside the support.
    pub fn to_latent(&self, theta: &[f64]) -> Result<Vec<f64>, Error> {
        self.require_point(theta)?;
        match self {
            Self::Independent(prior) => prior.to_latent(theta),
            Self::MultivariateNormal(prior) => Ok(prior.to_latent(theta)),
            Self::Mixture(prior) => Ok(prior.standardise.to_latent(theta)),
            Self::Samples(prior) => Ok(prior.standardise.to_latent(theta)),
            Self::Custom(prior) => Ok(prior.samples.standardise.to_latent(theta)),
        }
    }

    /// θ of z, which must have D coordinates.
    pub fn from_latent(&self, z: &[f64]) -> Vec<f64> {
        match self {
            Self::Independent(prior) => prior.from_latent(z),
            Self::MultivariateNormal(prior) => prior.from_latent(z),
            Self::Mixture(prior) => prior.standardise.from_latent(z),
            Self::Samples(prior) => prior.standardise.from_latent(z),
            Self::Custom(prior) => prior.samples.standardise.from_latent(z),
        }
    }

    /// z of every row. Errors name the row and column that is not finite.
    pub fn to_latent_points(&self, theta: &Points) -> Result<Points, Error> {
        if theta.columns() != self.dimension() {
            return Err(self.shape_error(theta.rows(), theta.columns()));
        }
        theta.require_finite("the parameters")?;
        let mut z = Points::zeros(theta.rows(), theta.columns());
        for i in 0..theta.rows() {
            z.row_mut(i).copy_from_slice(&self.to_latent(theta.row(i))?);
        }
        Ok(z)
    }

    /// θ of every row.
    pub fn from_latent_points(&self, z: &Points) -> Points {
        z.map_rows(self.dimension(), |row| self.from_latent(row))
    }

    /// The prior in z coordinates.
    pub fn latent(&self) -> LatentPrior {
        match self {
            Self::Independent(_) | Self::MultivariateNormal(_) => LatentPrior::standard_normal(self.dimension()),
            Self::Mixture(prior) => LatentPrior::Gaussians(prior.latent_components()),
            Self::Samples(prior) => LatentPrior::Draws(prior.latent_draws()),
            Self::Custom(prior) => LatentPrior::Draws(prior.samples.latent_draws()),
        }
    }

    /// How θ_d depends on z.
    pub fn coordinate(&self, d: usize) -> Coordinate {
        match self {
            Self::MultivariateNormal(prior) => Coordinate::Linear { coefficients: prior.factor().row(d).to_vec(), offset: prior.mean[d] },
            _ => Coordinate::Monotone,
        }
    }

    /// An error unless θ is one finite point of the right length.
    pub(super) fn require_point(&self, theta: &[f64]) -> Result<(), Error> {
        if theta.len() != self.dimension() {
            return Err(self.shape_error(1, theta.len()));
        }
        match theta.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(column) => Err(Error::NotFinite { what: "the parameter vector".into(), row: 0, column, value: theta[column] }),
        }
    }

    /// The parameters do not fit the prior.
    fn shape_error(&self, rows: usize, columns: usize) -> Error {
        Error::Shape {
            left: "the table of parameters".into(),
            left_rows: rows,
            left_columns: columns,
            right: "the prior".into(),
            right_rows: 1,
            right_columns: self.dimension(),
            advice: format!("one column for each of {}", self.names().join(", ")),
        }
    }
}
