//! `Posterior`: what the posterior says, its samples, and its written form.

use crate::arrays::{Table, Vector, points, require_room, table, vector};
use crate::compute::{Stop, compute};
use crate::errors::{InputError, method};
use crate::explain;
use crate::outputs;
use crate::prior::Prior;
use kelfi::checks::Status;
use kelfi::learning::surface::surface;
use kelfi::learning::{KernelMeansOptions, RegularizationChoice};
use kelfi::model::saved::SavedModel;
use kelfi::posterior::Representation;
use kelfi::samples::slice::CHAINS;
use kelfi::samples::{Candidates, Herding, independent_while, slice};
use kelfi::{Error, Fit, KernelMeansLikelihood, Points};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// A fit: a posterior with the model and the observation it comes from.
#[pyclass(frozen, module = "kelfi._kelfi")]
pub struct Posterior {
    fit: Arc<Fit>,
}

/// Name, status, value, limit, message, question, what was found and advice.
type Check = (String, &'static str, f64, f64, String, &'static str, String, String);

impl Posterior {
    /// Of a fit.
    pub fn new(fit: Fit) -> Self {
        Self { fit: Arc::new(fit) }
    }

    /// A question about the whole fit, in our pool; what checks look at is found once.
    pub fn examined<T: Send + 'static>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&Fit) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let fit = self.fit.clone();
        compute(py, move |_| question(&fit))
    }

    /// The kernel means model, or an error for what only that one has.
    fn kernel_means(&self, what: &str) -> PyResult<KernelMeansLikelihood> {
        let model = self.fit.model_as::<KernelMeansLikelihood>().cloned();
        model.ok_or_else(|| {
            InputError::new_err(format!(
                "the {} model has no {what}\n  only the kernel means model has one: fit with model=\"kernel-means\"",
                self.fit.model.family().title
            ))
        })
    }

    /// A function of the posterior, in our pool.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&kelfi::Posterior) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let fit = self.fit.clone();
        compute(py, move |_| question(&fit.posterior))
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
    /// A posterior from the text `to_json` gave, or from a saved model; `learned` is the record of its learning as the command line has it.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: String, learned: Option<&str>, seed: u64) -> PyResult<Self> {
        let saved = SavedModel::from_json(&text).map_err(|error| method(&error))?;
        let learned: Option<serde_json::Value> = learned.and_then(|text| serde_json::from_str(text).ok());
        let load = move |stop: &Stop| match Fit::load(&saved, learned.as_ref(), seed, &mut || stop.go_on()) {
            // Files of older versions tell how it was learned in words of their own.
            Err(Error::Format { .. }) => Fit::load(&saved, None, seed, &mut || stop.go_on()),
            other => other,
        };
        Ok(Self::new(compute(py, load)?))
    }

    /// Simulations, observation, prior and hyperparameters as JSON: all that is needed to build it again.
    fn to_json(&self) -> PyResult<String> {
        SavedModel::new(self.fit.model.as_ref()).to_json().map_err(|error| method(&error))
    }

    /// How it was learned, as JSON, for [`Posterior::from_json`]; `None` where nothing was.
    fn record(&self) -> Option<String> {
        self.fit.score().map(|_| self.fit.record().to_string())
    }

    /// How it was learned, for people.
    fn learned<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        explain::learned(py, &self.fit)
    }

    /// Which model.
    #[getter]
    fn model(&self) -> &'static str {
        self.fit.model.family().name
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.fit.seed()
    }

    #[getter]
    fn observation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        outputs::observed(py, &self.fit.question().observation)
    }

    #[getter]
    fn prior(&self) -> Prior {
        Prior { inner: self.fit.posterior.prior().clone() }
    }

    #[getter]
    fn theta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        table(py, self.fit.question().recorded.theta())
    }

    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        outputs::given(py, &self.fit.question().recorded)
    }

    fn hyperparameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fit = self.fit.clone();
        let reports = compute(py, move |_| Ok::<_, Error>(fit.statistics()))?;
        let found = explain::hyperparameters_of(py, self.fit.model.as_ref(), &reports)?;
        found.set_item("model", self.model())?;
        Ok(found)
    }

    /// How much every statistic decides; 0 for one that is constant or repeats another. Kernel means: spread / ε.
    /// Location-scale: signal over noise.
    fn relevance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let found = self.examined(py, |fit| Ok(fit.statistics().iter().map(|report| report.relevance).collect()))?;
        Ok(PyArray1::from_vec(py, found))
    }

    /// The same with these names for its statistics, which its checks use.
    fn named(&self, statistics: Vec<String>) -> Self {
        Self::new((*self.fit).clone().named(statistics))
    }

    /// Every check.
    fn checks(&self, py: Python<'_>) -> PyResult<Vec<Check>> {
        let all = self.examined(py, |fit| Ok(fit.checks()))?;
        let word = |status| match status {
            Status::Ok => "ok",
            Status::Warn => "warn",
            Status::Fail => "fail",
        };
        let parts = |check: kelfi::checks::Check| {
            let (message, question) = (check.message(), check.question());
            (check.name, word(check.status), check.value, check.limit, message, question, check.found, check.advice)
        };
        Ok(all.into_iter().map(parts).collect())
    }

    fn log_evidence(&self) -> f64 {
        self.fit.posterior.log_evidence()
    }

    fn log_evidence_error(&self) -> f64 {
        self.fit.posterior.log_evidence_error()
    }

    fn negative_mass(&self) -> f64 {
        self.fit.posterior.negative_mass().ratio
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

    /// Monte Carlo standard error of the mean in posterior standard deviations.
    fn mean_error(&self, py: Python<'_>) -> PyResult<f64> {
        self.ask(py, |posterior| Ok(posterior.mean_error()))
    }

    fn signed_mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.ask(py, |posterior| Ok(posterior.signed_mean()))?))
    }

    fn signed_covariance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        table(py, &self.ask(py, |posterior| Ok(posterior.signed_covariance()))?)
    }

    /// The share and the mean of each separate mode.
    fn modes(&self, py: Python<'_>) -> PyResult<Vec<(f64, Vec<f64>)>> {
        let found = self.ask(py, |posterior| posterior.modes())?;
        Ok(found.into_iter().map(|mode| (mode.weight, mode.centre)).collect())
    }

    /// Chains that independent samples come from, those of one step together; 0 for truly independent ones.
    #[getter]
    fn chains(&self) -> usize {
        if matches!(self.fit.posterior.form(), Representation::Chained(_)) { CHAINS } else { 0 }
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

    /// Ends of central intervals of every parameter, calibrated by leaving out: a row a parameter.
    fn calibrated_interval<'py>(&self, py: Python<'py>, share: f64) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let found = self.examined(py, move |fit| {
            let calibration = fit.calibration()?;
            let interval = |d: usize| calibration.interval(&fit.posterior, d, share).map(|(low, high)| vec![low, high]);
            Points::from_rows(&(0..fit.posterior.prior().dimension()).map(interval).collect::<Result<Vec<_>, _>>()?)
        })?;
        table(py, &found)
    }

    /// Samples of the posterior moved to where these intervals end.
    fn calibrated_samples<'py>(&self, py: Python<'py>, samples: Table<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let samples = points(&samples)?;
        let found = self.examined(py, move |fit| fit.calibration()?.samples(&fit.posterior, &samples))?;
        table(py, &found)
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
        require_room("num_samples", count, self.fit.posterior.prior().dimension())?;
        let posterior = self.fit.posterior.clone();
        let found = compute(py, move |stop| independent_while(&posterior, count, seed, &mut || stop.go_on()))?;
        Ok((table(py, &found.samples)?, found.effective_sample_size))
    }

    /// Samples by elliptical slice sampling; split R-hat and effective number for each coordinate.
    #[allow(clippy::type_complexity)]
    fn slice<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        require_room("num_samples", count, self.fit.posterior.prior().dimension())?;
        let posterior = self.fit.posterior.clone();
        let drawn = compute(py, move |stop| slice(&posterior, count, seed, &mut || stop.go_on()))?;
        Ok((table(py, &drawn.samples)?, PyArray1::from_vec(py, drawn.r_hat), PyArray1::from_vec(py, drawn.effective)))
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
        require_room("num_samples", count, self.fit.posterior.prior().dimension())?;
        require_room("number of candidates", number, self.fit.posterior.prior().dimension())?;
        let candidates = match candidates {
            Some(given) => Candidates::Given(points(&given)?),
            None => Candidates::Posterior(number),
        };
        let herding = Herding { seed, ..Herding::new(candidates) };
        let found = self.ask(py, move |posterior| herding.super_samples(posterior, count))?;
        Ok((table(py, &found.samples)?, found.indices))
    }

    /// The same simulations and hyperparameters at another observation.
    fn condition(&self, py: Python<'_>, x_o: &Bound<'_, PyAny>) -> PyResult<Self> {
        let y = outputs::observation(x_o)?;
        Ok(Self::new(self.examined(py, move |fit| fit.condition(&y, fit.seed()))?))
    }

    /// ln q(y) over common tolerances (columns, in units of each statistic's spread) and length scales (rows), λ as it is.
    fn profile<'py>(&self, py: Python<'py>, epsilons: Vector<'py>, length_scales: Vector<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.kernel_means("profile of ln q(y) over tolerances and length scales")?;
        let (epsilons, length_scales) = (vector(&epsilons), vector(&length_scales));
        let found = compute(py, move |stop| {
            let h = model.hyperparameters();
            let regularization = RegularizationChoice::Fixed(h.regularization);
            let settings = KernelMeansOptions { regularization, family: h.family, solver: h.solver, ..KernelMeansOptions::default() };
            surface(kelfi::Model::question(&model), &settings, &epsilons, &length_scales, &mut |_| stop.go_on())
        })?;
        table(py, &found.log_marginal_likelihood)
    }
}
