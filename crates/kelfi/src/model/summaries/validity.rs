//! Hyperparameters from elsewhere, such as a file: do they fit?

use super::regressions::SummaryHyperparameters;
use crate::Error;
use crate::model::location_scale::validity::require_fitting_regression;

/// An error for a summary that does not fit this many coordinates and parameters.
pub fn require_fitting(summary: &SummaryHyperparameters, coordinates: usize, parameters: usize) -> Result<(), Error> {
    if summary.target >= parameters {
        let requirement = format!("there are {parameters} parameters, counted from 0");
        return Err(Error::invalid("parameter of a summary", summary.target as f64, requirement));
    }
    require_fitting_regression(&summary.regression, coordinates)
}
