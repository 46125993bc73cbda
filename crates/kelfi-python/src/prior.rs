//! `Prior`: draws, densities and quantiles in the user's units.

use crate::arrays::{Table, Vector, points, require_room, table, vector};
use crate::compute::compute;
use crate::errors::{InputError, method};
use kelfi::{Error, Marginal, Points};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

/// A prior, made from its written form.
#[pyclass(frozen, module = "kelfi._kelfi")]
#[derive(Debug, Clone)]
pub struct Prior {
    pub inner: kelfi::Prior,
}

#[pymethods]
impl Prior {
    /// A prior from JSON such as `{"independent": {"parameters": [["rate", {"normal": {"mean": 0, "std": 1}}]]}}`.
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let inner = serde_json::from_str(text).map_err(|error| InputError::new_err(said(&error)))?;
        Ok(Self { inner })
    }

    /// The prior as JSON.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.inner).map_err(|error| InputError::new_err(error.to_string()))
    }

    /// Names of the parameters.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.inner.names().to_vec()
    }

    /// `count` draws; draw j depends on (seed, j) only.
    fn sample<'py>(&self, py: Python<'py>, count: usize, seed: u64) -> PyResult<Bound<'py, PyArray2<f64>>> {
        require_room("num_samples", count, self.inner.dimension())?;
        let prior = self.inner.clone();
        table(py, &compute(py, move |_| Ok::<_, Error>(prior.draw(count, seed)))?)
    }

    /// ln p(θ) of each row.
    fn log_prob<'py>(&self, py: Python<'py>, theta: Table<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (prior, theta) = (self.inner.clone(), points(&theta)?);
        let values = compute(py, move |_| theta.iter().map(|row| prior.ln_density(row)).collect::<Result<Vec<f64>, _>>())?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Quantiles of every parameter, one probability a row.
    fn quantile<'py>(&self, py: Python<'py>, probabilities: Vector<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (marginals, probabilities) = (self.marginals().map_err(|error| method(&error))?, vector(&probabilities));
        if let Some(p) = probabilities.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            return Err(InputError::new_err(format!("probability {p} is not allowed: it must lie between 0 and 1")));
        }
        let values = probabilities.iter().flat_map(|&p| marginals.iter().map(move |marginal| marginal.quantile(p))).collect();
        let found = Points::new(values, probabilities.len(), marginals.len()).map_err(|error| method(&error))?;
        table(py, &found)
    }

    /// P(Θ ≤ θ) of every parameter, row for row.
    fn cdf<'py>(&self, py: Python<'py>, theta: Table<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (marginals, theta) = (self.marginals().map_err(|error| method(&error))?, points(&theta)?);
        table(py, &theta.map_rows(marginals.len(), |row| row.iter().zip(&marginals).map(|(&value, m)| m.cdf(value)).collect()))
    }
}

impl Prior {
    /// One-dimensional marginals, where they are of a known family.
    fn marginals(&self) -> Result<Vec<Marginal>, Error> {
        match &self.inner {
            kelfi::Prior::Independent(prior) => Ok(prior.marginals().to_vec()),
            kelfi::Prior::MultivariateNormal(prior) => {
                let one = |(d, &mean): (usize, &f64)| Marginal::Normal { mean, std: prior.covariance().row(d)[d].sqrt() };
                Ok(prior.mean().iter().enumerate().map(one).collect())
            }
            _ => Err(Error::Unavailable {
                what: "a marginal of this prior in closed form".into(),
                reason: "it is a mixture or a set of draws; use `sample` and NumPy's quantiles".into(),
            }),
        }
    }
}

/// An error when a family's settings, as JSON, are outside their domain.
#[pyfunction]
pub fn check_marginal(text: &str) -> PyResult<()> {
    let marginal: Marginal = serde_json::from_str(text).map_err(|error| InputError::new_err(said(&error)))?;
    marginal.validate().map_err(|error| method(&error))
}

/// What serde says without the position in a text the user never saw.
fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
