//! The benchmark problems: prior, simulator, observation, and the truth where it is known.

use crate::arrays::{Table, Vector, points, require_room, table, vector};
use crate::compute::compute;
use crate::errors::{InferenceError, InputError};
use crate::prior::Prior;
use kelfi::Error;
use kelfi::random::{Purpose, stream};
use kelfi_problems::{all, by_name, simulate_many};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use std::sync::Arc;

/// Names of all problems.
#[pyfunction]
pub fn problem_names() -> Vec<&'static str> {
    all().iter().map(|problem| problem.name()).collect()
}

/// A benchmark problem.
#[pyclass(frozen, module = "kelfi._kelfi")]
pub struct Problem {
    inner: Arc<dyn kelfi_problems::BenchmarkProblem>,
}

#[pymethods]
impl Problem {
    #[new]
    fn new(name: &str) -> PyResult<Self> {
        let found = by_name(name).map_err(|error| InputError::new_err(error.to_string()))?;
        Ok(Self { inner: Arc::from(found) })
    }

    #[getter]
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    #[getter]
    fn description(&self) -> &'static str {
        self.inner.description()
    }

    #[getter]
    fn prior(&self) -> Prior {
        Prior { inner: self.inner.prior().clone() }
    }

    #[getter]
    fn statistic_names(&self) -> Vec<String> {
        self.inner.statistic_names().to_vec()
    }

    #[getter]
    fn observation<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.inner.observation())
    }

    #[getter]
    fn truth<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.inner.truth().map(|truth| PyArray1::from_slice(py, truth))
    }

    /// One call of the simulator.
    fn call<'py>(&self, py: Python<'py>, theta: Vector<'py>, seed: u64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (problem, theta) = (self.inner.clone(), vector(&theta));
        let called = compute(py, move |_| Ok::<_, Error>(problem.simulate(&theta, &mut stream(seed, Purpose::Simulator, 0))))?;
        called.map(|statistics| PyArray1::from_vec(py, statistics)).map_err(|failure| InferenceError::new_err(failure.to_string()))
    }

    /// `count` draws of the prior with a call of the simulator at each, and (row, reason) of the failed ones.
    #[allow(clippy::type_complexity)]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Vec<(usize, String)>)> {
        require_room("num_simulations", count, self.inner.statistic_names().len())?;
        let problem = self.inner.clone();
        let found = compute(py, move |_| Ok::<_, Error>(simulate_many(&*problem, count, seed)))?;
        let failures = found.failures.iter().map(|(row, failure)| (*row, failure.to_string())).collect();
        Ok((table(py, &found.theta)?, table(py, &found.x)?, failures))
    }

    /// Draws of the exact posterior, where there is a sampler.
    fn reference_samples<'py>(&self, py: Python<'py>, x_o: Vector<'py>, count: usize, seed: u64) -> PyResult<Bound<'py, PyArray2<f64>>> {
        require_room("num_samples", count, self.inner.prior().dimension())?;
        let (problem, y) = (self.inner.clone(), vector(&x_o));
        table(py, &compute(py, move |_| problem.reference_samples(&y, count, seed))?)
    }

    /// ln p(x|θ) + ln p(θ) of each row up to a constant; `None` where it cannot be computed.
    fn log_posterior<'py>(&self, py: Python<'py>, theta: Table<'py>, x_o: Vector<'py>) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let (problem, theta, y) = (self.inner.clone(), points(&theta)?, vector(&x_o));
        let values: Option<Vec<f64>> =
            compute(py, move |_| Ok::<_, Error>(theta.iter().map(|row| problem.ln_posterior(row, &y)).collect()))?;
        Ok(values.map(|values| PyArray1::from_vec(py, values)))
    }
}
