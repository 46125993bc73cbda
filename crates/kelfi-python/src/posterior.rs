//! `Posterior`: what the posterior says, its samples, and its written form.

use crate::arrays::{Table, Vector, points, require_room, table, vector};
use crate::compute::compute;
use crate::errors::{InputError, method};
use crate::fit::hyperparameters;
use crate::prior::Prior;
use kelfi::learning::statistics::statistic_scales;
use kelfi::learning::surface::surface;
use kelfi::learning::{LearnSettings, RegularizationChoice};
use kelfi::model::saved::SavedModel;
use kelfi::posterior::checks::{Status, hyperparameter_at_bound};
use kelfi::samples::{Candidates, Herding, independent};
use kelfi::{Error, KernelMeansLikelihood, Observation, Points, Recorded};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// A posterior with the model and the observation it comes from.
#[pyclass(frozen, module = "kelfi._kelfi")]
pub struct Posterior {
    inner: Arc<kelfi::Posterior>,
    model: Arc<KernelMeansLikelihood>,
    observation: Vec<f64>,
    seed: u64,
}

impl Posterior {
    /// From its parts; `seed` is the one of its integrals.
    pub fn new(posterior: kelfi::Posterior, model: Arc<KernelMeansLikelihood>, observation: Vec<f64>, seed: u64) -> Self {
        Self { inner: Arc::new(posterior), model, observation, seed }
    }

    /// A function of the posterior, in our pool.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&kelfi::Posterior) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let posterior = self.inner.clone();
        compute(py, move |_| question(&posterior))
    }

    /// A function of points, one number each.
    fn at<'py>(
        &self,
        py: Python<'py>,
        theta: &Table<'py>,
        question: impl FnOnce(&kelfi::Posterior, &Points) -> Result<Vec<f64>, Error> + Send + 'static,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let theta = points(theta)?;
        Ok(PyArray1::from_vec(py, self.ask(py, move |posterior| question(posterior, &theta))?))
    }
}

#[pymethods]
impl Posterior {
    /// A posterior from the text `to_json` gave, or from a saved model.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: String, seed: u64) -> PyResult<Self> {
        let saved = SavedModel::from_json(&text).map_err(|error| method(&error))?;
        let Observation::Statistics(observation) = saved.observation.clone() else {
            return Err(InputError::new_err("this model compares raw data sets, which the Python package does not read yet"));
        };
        let (model, posterior) = compute(py, move |_| {
            let model = Arc::new(saved.build()?);
            kelfi::Posterior::new(model.clone(), seed).map(|posterior| (model, posterior))
        })?;
        Ok(Self::new(posterior, model, observation, seed))
    }

    /// Simulations, observation, prior and hyperparameters as JSON: all that is needed to build it again.
    fn to_json(&self) -> PyResult<String> {
        let saved = SavedModel::new(&self.model, Observation::Statistics(self.observation.clone()));
        saved.to_json().map_err(|error| method(&error))
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    #[getter]
    fn observation<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.observation)
    }

    #[getter]
    fn prior(&self) -> Prior {
        Prior { inner: self.inner.prior().clone() }
    }

    #[getter]
    fn theta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        table(py, self.model.recorded().theta())
    }

    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        match self.model.recorded() {
            Recorded::Statistics(simulations) => table(py, simulations.outputs()),
            Recorded::DataSets(_) => Err(InputError::new_err("this model compares raw data sets and has no table of statistics")),
        }
    }

    fn hyperparameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        hyperparameters(py, &self.model.hyperparameters())
    }

    /// spread / ε of every statistic; 0 for one that is constant or repeats another.
    fn relevance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let epsilon = self.model.hyperparameters().epsilon;
        let scales = match self.model.recorded() {
            Recorded::Statistics(simulations) => statistic_scales(simulations),
            Recorded::DataSets(_) => vec![],
        };
        let one = |(scale, epsilon): (&kelfi::learning::statistics::StatisticScale, &f64)| match scale.dropped {
            Some(_) => 0.0,
            None => scale.scale / epsilon,
        };
        PyArray1::from_vec(py, scales.iter().zip(&epsilon).map(one).collect())
    }

    /// (name, status, value, limit, message) of every check; `at_bound` names learned hyperparameters on a bound, if any were learned.
    #[pyo3(signature = (at_bound=None))]
    fn checks(&self, at_bound: Option<Vec<String>>) -> Vec<(String, &'static str, f64, f64, String)> {
        let mut all = self.inner.checks();
        all.extend(at_bound.map(|names| hyperparameter_at_bound(&names)));
        let word = |status| match status {
            Status::Ok => "ok",
            Status::Warn => "warn",
            Status::Fail => "fail",
        };
        all.into_iter().map(|check| (check.name, word(check.status), check.value, check.limit, check.message)).collect()
    }

    fn log_evidence(&self) -> f64 {
        self.inner.log_evidence()
    }

    fn negative_mass(&self) -> f64 {
        self.inner.negative_mass().ratio
    }

    fn value<'py>(&self, py: Python<'py>, theta: Table<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.at(py, &theta, |posterior, theta| posterior.value(theta))
    }

    fn pdf<'py>(&self, py: Python<'py>, theta: Table<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.at(py, &theta, |posterior, theta| posterior.pdf(theta))
    }

    fn log_prob<'py>(&self, py: Python<'py>, theta: Table<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.at(py, &theta, |posterior, theta| posterior.log_prob(theta))
    }

    fn embedding<'py>(&self, py: Python<'py>, theta: Table<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.at(py, &theta, |posterior, theta| posterior.embedding(None, theta))
    }

    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.ask(py, |posterior| Ok(posterior.mean()))?))
    }

    fn covariance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        table(py, &self.ask(py, |posterior| Ok(posterior.covariance()))?)
    }

    fn std<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let found =
            self.ask(py, |posterior| (0..posterior.prior().dimension()).map(|d| posterior.std(d)).collect::<Result<Vec<_>, _>>())?;
        Ok(PyArray1::from_vec(py, found))
    }

    fn map<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.ask(py, |posterior| posterior.mode())?))
    }

    /// Quantiles of every parameter, one probability a row.
    fn quantile<'py>(&self, py: Python<'py>, probabilities: Vector<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let probabilities = vector(&probabilities);
        let found = self.ask(py, move |posterior| {
            let dimension = posterior.prior().dimension();
            let mut rows = Points::zeros(probabilities.len(), dimension);
            for d in 0..dimension {
                for (row, value) in posterior.quantile(d, &probabilities)?.into_iter().enumerate() {
                    rows.row_mut(row)[d] = value;
                }
            }
            Ok(rows)
        })?;
        table(py, &found)
    }

    fn marginal<'py>(&self, py: Python<'py>, d: usize, grid: Vector<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let grid = vector(&grid);
        Ok(PyArray1::from_vec(py, self.ask(py, move |posterior| posterior.marginal(d, &grid))?))
    }

    fn pair_marginal<'py>(&self, py: Python<'py>, d: usize, e: usize, pairs: Table<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.at(py, &pairs, move |posterior, pairs| posterior.pair_marginal(d, e, pairs))
    }

    fn cdf<'py>(&self, py: Python<'py>, d: usize, values: Vector<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = vector(&values);
        Ok(PyArray1::from_vec(py, self.ask(py, move |posterior| posterior.cdf(d, &values))?))
    }

    fn predictive(&self, py: Python<'_>, recorded: Vector<'_>) -> PyResult<f64> {
        let recorded = vector(&recorded);
        self.ask(py, move |posterior| posterior.predictive(&recorded))
    }

    /// Independent samples and how many they are worth.
    fn independent<'py>(&self, py: Python<'py>, count: usize, seed: u64) -> PyResult<(Bound<'py, PyArray2<f64>>, f64)> {
        require_room("num_samples", count, self.inner.prior().dimension())?;
        let found = self.ask(py, move |posterior| independent(posterior, count, seed))?;
        Ok((table(py, &found.samples)?, found.effective_sample_size))
    }

    /// Super-samples by herding among these candidates, or among `number` draws of the posterior, and which candidates were taken.
    #[allow(clippy::type_complexity)]
    fn super_samples<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        candidates: Option<Table<'py>>,
        number: usize,
        seed: u64,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Vec<usize>)> {
        require_room("num_samples", count, self.inner.prior().dimension())?;
        require_room("number of candidates", number, self.inner.prior().dimension())?;
        let candidates = match candidates {
            Some(given) => Candidates::Given(points(&given)?),
            None => Candidates::Posterior(number),
        };
        let herding = Herding { seed, ..Herding::new(candidates) };
        let found = self.ask(py, move |posterior| herding.super_samples(posterior, count))?;
        Ok((table(py, &found.samples)?, found.indices))
    }

    /// The same simulations and factorisation at another observation.
    fn condition(&self, py: Python<'_>, x_o: Vector<'_>) -> PyResult<Self> {
        let (model, observation, seed) = (self.model.clone(), vector(&x_o), self.seed);
        let y = Observation::Statistics(observation.clone());
        let (model, posterior) = compute(py, move |_| {
            let model = Arc::new(model.condition(&y)?);
            kelfi::Posterior::new(model.clone(), seed).map(|posterior| (model, posterior))
        })?;
        Ok(Self::new(posterior, model, observation, seed))
    }

    /// ln q(y) over common tolerances (columns, in units of each statistic's spread) and length scales (rows), λ as it is.
    fn profile<'py>(&self, py: Python<'py>, epsilons: Vector<'py>, length_scales: Vector<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (model, observation) = (self.model.clone(), Observation::Statistics(self.observation.clone()));
        let (epsilons, length_scales) = (vector(&epsilons), vector(&length_scales));
        let found = compute(py, move |stop| {
            let h = model.hyperparameters();
            let regularization = RegularizationChoice::Fixed(h.regularization);
            let settings = LearnSettings { regularization, family: h.family, ..LearnSettings::default() };
            let prior = kelfi::Surrogate::prior(&*model);
            surface(model.recorded(), &observation, prior, &settings, &epsilons, &length_scales, &mut |_| stop.go_on())
        })?;
        table(py, &found.log_marginal_likelihood)
    }
}
