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

/// Every parameter in order.
pub fn summary(posterior: &Posterior) -> Result<Vec<ParameterSummary>, Error> {
    let (mean, mode) = (posterior.mean(), posterior.mode()?);
    let one = |(d, name): (usize, &String)| -> Result<ParameterSummary, Error> {
        let found = posterior.quantile(d, &PROBABILITIES)?;
        let mut quantiles = [0.0; 5];
        quantiles.copy_from_slice(&found);
        Ok(ParameterSummary { name: name.clone(), mean: mean[d], sd: posterior.std(d)?, mode: mode[d], quantiles })
    };
    posterior.prior().names().iter().enumerate().map(one).collect()
}
