//! `KernelMeansLikelihood`: the paper's surrogate at fixed hyperparameters.

use crate::arrays::{Table, Vector, points, vector};
use crate::compute::compute;
use crate::errors::method;
use crate::explain::hyperparameters;
use crate::fit::family;
use crate::outputs::{observation, recorded};
use crate::posterior::Posterior;
use crate::prior::Prior;
use kelfi::learning::evidence::gradient;
use kelfi::{Fit, Hyperparameters, Question};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// A surrogate likelihood at one observation.
#[pyclass(frozen, module = "kelfi._kelfi")]
pub struct KernelMeansLikelihood {
    pub inner: Arc<kelfi::KernelMeansLikelihood>,
}

#[pymethods]
impl KernelMeansLikelihood {
    #[new]
    fn new(
        py: Python<'_>,
        theta: Table<'_>,
        x: &Bound<'_, PyAny>,
        x_o: &Bound<'_, PyAny>,
        prior: &Prior,
        epsilon: Vector<'_>,
        length_scale: Vector<'_>,
        regularization: f64,
        kernel: &str,
        solver: &str,
    ) -> PyResult<Self> {
        let observation = observation(x_o)?;
        let hyperparameters = Hyperparameters {
            epsilon: vector(&epsilon),
            length_scale: vector(&length_scale),
            regularization,
            family: family(kernel)?,
            solver: crate::fit::solver(solver)?,
        };
        let question = Question::new(&prior.inner, &recorded(&theta, x, &observation)?, &observation);
        let inner = compute(py, move |_| kelfi::KernelMeansLikelihood::new(&question, &hyperparameters).map(Arc::new))?;
        Ok(Self { inner })
    }

    /// v = (L + mλI)⁻¹ κ.
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.inner.weights())
    }

    /// ε, β and λ.
    fn hyperparameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        hyperparameters(py, &self.inner.hyperparameters())
    }

    /// q(y|θ) of each row; may be negative.
    fn value<'py>(&self, py: Python<'py>, theta: Table<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (model, theta) = (self.inner.clone(), points(&theta)?);
        Ok(PyArray1::from_vec(py, compute(py, move |_| model.value(&theta))?))
    }

    /// q(y); may be negative.
    fn marginal_likelihood(&self) -> f64 {
        self.inner.marginal_likelihood()
    }

    /// ln q(y).
    fn log_marginal_likelihood(&self) -> PyResult<f64> {
        self.inner.log_marginal_likelihood().map_err(|error| method(&error))
    }

    /// The gradient of ln q(y) in ln ε, ln β and ln λ.
    fn gradient<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let model = self.inner.clone();
        let found = compute(py, move |_| gradient(&model))?;
        let slopes = PyDict::new(py);
        slopes.set_item("log_epsilon", PyArray1::from_vec(py, found.log_epsilon))?;
        slopes.set_item("log_length_scale", PyArray1::from_vec(py, found.log_length_scale))?;
        slopes.set_item("log_regularization", found.log_regularization)?;
        Ok(slopes)
    }

    /// Each simulation as the observation of a model without it: (likelihood, marginal likelihood), NaN for failed ones.
    #[allow(clippy::type_complexity)]
    fn leave_one_out<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let model = self.inner.clone();
        let (m, found) = compute(py, move |_| model.leave_one_out().map(|found| (model.recorded().theta().rows(), found)))?;
        let spread = |values: &[f64]| {
            let mut all = vec![f64::NAN; m];
            found.indices.iter().zip(values).for_each(|(&i, &value)| all[i] = value);
            PyArray1::from_vec(py, all)
        };
        Ok((spread(&found.likelihood), spread(&found.marginal_likelihood)))
    }

    /// The posterior.
    fn posterior(&self, py: Python<'_>, seed: u64) -> PyResult<Posterior> {
        let model = self.inner.clone();
        Ok(Posterior::new(compute(py, move |stop| Fit::of_model(model, seed, &mut || stop.go_on()))?))
    }

    /// The same simulations and factorisation at another observation.
    fn condition(&self, py: Python<'_>, x_o: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (model, y) = (self.inner.clone(), observation(x_o)?);
        Ok(Self { inner: compute(py, move |_| model.condition(&y).map(Arc::new))? })
    }
}
