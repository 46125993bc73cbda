//! The numbers a user reads first, as the command line writes them.

use crate::posterior::Posterior;
use kelfi::posterior::summary::summary as of_posterior;
use pyo3::prelude::*;

/// Name; mean, sd, mode and the quantiles at 2.5 %, 50 % and 97.5 %; the ends of the calibrated 95 % interval.
type Parameter = (String, [f64; 6], Option<(f64, f64)>);

/// Every parameter of a posterior. Without calibration its intervals are absent, and a check says why.
#[pyfunction]
pub fn summary(py: Python<'_>, posterior: &Posterior) -> PyResult<Vec<Parameter>> {
    posterior.examined(py, |fit| {
        let calibration = fit.calibration().ok();
        let found = of_posterior(&fit.posterior)?.into_iter().enumerate();
        let one = |(d, p): (usize, kelfi::posterior::summary::ParameterSummary)| {
            let [q025, _, q50, _, q975] = p.quantiles;
            let calibrated = calibration.as_ref().map(|calibration| calibration.interval(&fit.posterior, d, 0.95)).transpose()?;
            Ok((p.name, [p.mean, p.sd, p.mode, q025, q50, q975], calibrated))
        };
        found.map(one).collect()
    })
}
