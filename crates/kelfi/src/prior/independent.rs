//! Named parameters, each with its own marginal, independent of each other.

use super::Marginal;
use crate::Error;

/// Π_d p_d(θ_d).
#[derive(Debug, Clone, PartialEq)]
pub struct Independent {
    pub(super) names: Vec<String>,
    pub(super) marginals: Vec<Marginal>,
}

impl Independent {
    /// The product of valid marginals.
    pub(super) fn new(parameters: Vec<(String, Marginal)>) -> Result<Self, Error> {
        for (name, marginal) in &parameters {
            marginal.validate().map_err(|error| of_parameter(name, error))?;
        }
        let (names, marginals) = parameters.into_iter().unzip();
        Ok(Self { names, marginals })
    }

    /// The marginal of each parameter, in order.
    pub fn marginals(&self) -> &[Marginal] {
        &self.marginals
    }

    pub(super) fn ln_density(&self, theta: &[f64]) -> f64 {
        let terms: Vec<f64> = self.marginals.iter().zip(theta).map(|(marginal, &value)| marginal.ln_density(value)).collect();
        // A value outside its support decides, whatever the others are.
        if terms.contains(&f64::NEG_INFINITY) { f64::NEG_INFINITY } else { terms.iter().sum() }
    }

    pub(super) fn to_latent(&self, theta: &[f64]) -> Result<Vec<f64>, Error> {
        let of_coordinate = |d: usize| self.marginals[d].to_latent(theta[d]).map_err(|error| of_parameter(&self.names[d], error));
        (0..theta.len()).map(of_coordinate).collect()
    }

    pub(super) fn from_latent(&self, z: &[f64]) -> Vec<f64> {
        self.marginals.iter().zip(z).map(|(marginal, &value)| marginal.from_latent(value)).collect()
    }
}

/// The same error, saying which parameter it is about.
fn of_parameter(parameter: &str, error: Error) -> Error {
    match error {
        Error::OutsideSupport { value, low, high, .. } => Error::OutsideSupport { name: parameter.into(), value, low, high },
        Error::Invalid { what, value, requirement } => {
            Error::Invalid { what: format!("{what} (parameter {parameter})"), value, requirement }
        }
        other => other,
    }
}
