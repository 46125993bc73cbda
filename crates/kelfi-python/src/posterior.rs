//! `Posterior`: what the posterior says, its samples, and its written form.

use crate::arrays::{Table, Vector, points, require_room, table, vector};
use crate::compute::compute;
use crate::errors::{InputError, method};
use crate::explain;
use crate::prior::Prior;
use kelfi::checks::Status;
use kelfi::diagnostics::Halves;
use kelfi::fit::{Account, Examination, Subject};
use kelfi::learning::surface::surface;
use kelfi::learning::{LearnSettings, RegularizationChoice};
use kelfi::model::saved::SavedModel;
use kelfi::posterior::Form;
use kelfi::samples::slice::CHAINS;
use kelfi::samples::{Candidates, Herding, independent_while, slice};
use kelfi::simulations::scales::{StatisticScale, statistic_scales};
use kelfi::{Error, Fit, KernelMeansLikelihood, Kind, Likelihood, Observation, Points, Recorded};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// A posterior with the model and the observation it comes from.
#[pyclass(frozen, module = "kelfi._kelfi")]
pub struct Posterior {
    inner: Arc<kelfi::Posterior>,
    likelihood: Likelihood,
    observation: Vec<f64>,
    seed: u64,
    /// How the hyperparameters were learned, where they were learned here.
    account: Option<Account>,
    /// How halves of the simulations are fitted.
    halves: Halves,
    examination: Arc<Examination>,
}

/// Name, status, value, limit and message.
type Check = (String, &'static str, f64, f64, String);

impl Posterior {
    /// From its parts; `seed` is the one of its integrals.
    pub fn new(posterior: kelfi::Posterior, likelihood: Likelihood, observation: Vec<f64>, seed: u64) -> Self {
        let halves = if likelihood.kind() == Kind::LocationScale { Halves::Learn } else { Halves::Keep };
        Self { inner: Arc::new(posterior), likelihood, observation, seed, account: None, halves, examination: Arc::default() }
    }

    /// Of a fit, with the account of its learning.
    pub fn of_fit(fit: Fit, observation: Vec<f64>, seed: u64) -> Self {
        let (account, halves) = (Some(fit.model.account()), fit.halves());
        Self { account, halves, ..Self::new(fit.posterior, fit.model.likelihood(), observation, seed) }
    }

    /// A question about what checks look at, in our pool; the answers are found once.
    fn examined<T: Send + 'static>(
        &self,
        py: Python<'_>,
        at_bound: Option<Vec<String>>,
        question: impl FnOnce(&Examination, &Subject<'_>) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let (posterior, likelihood, examination) = (self.inner.clone(), self.likelihood.clone(), self.examination.clone());
        let (observation, account, seed) = (Observation::Statistics(self.observation.clone()), self.account.clone(), self.seed);
        let halves = self.halves;
        compute(py, move |_| {
            let subject = Subject {
                posterior: &posterior,
                likelihood: &likelihood,
                observation: &observation,
                statistics: &[],
                left_out: if let Some(Account::LocationScale(left_out)) = &account { Some(left_out) } else { None },
                at_bound: if let Likelihood::LocationScale(model) = &likelihood { Some(model.at_bound()) } else { at_bound },
                halves,
                seed,
            };
            question(&examination, &subject)
        })
    }

    /// The posterior of a likelihood made in our pool.
    fn made(
        py: Python<'_>,
        observation: Vec<f64>,
        seed: u64,
        make: impl FnOnce() -> Result<Likelihood, Error> + Send + 'static,
    ) -> PyResult<Self> {
        let (likelihood, posterior) = compute(py, move |stop| {
            let likelihood = make()?;
            kelfi::Posterior::with_progress(likelihood.surrogate(), seed, &mut || stop.go_on()).map(|posterior| (likelihood, posterior))
        })?;
        Ok(Self::new(posterior, likelihood, observation, seed))
    }

    /// The kernel means model, or an error for what only that one has.
    fn kernel_means(&self, what: &str) -> PyResult<Arc<KernelMeansLikelihood>> {
        match &self.likelihood {
            Likelihood::KernelMeans(model) => Ok(model.clone()),
            Likelihood::LocationScale(_) => Err(InputError::new_err(format!(
                "the location-scale model has no {what}\n  only the kernel means model has one: fit with model=\"kernel-means\""
            ))),
        }
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
        Self::made(py, observation, seed, move || saved.build())
    }

    /// Simulations, observation, prior and hyperparameters as JSON: all that is needed to build it again.
    fn to_json(&self) -> PyResult<String> {
        let saved = SavedModel::new(&self.likelihood, Observation::Statistics(self.observation.clone()));
        saved.to_json().map_err(|error| method(&error))
    }

    /// Which surrogate likelihood.
    #[getter]
    fn model(&self) -> &'static str {
        self.likelihood.kind().name()
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
        table(py, self.likelihood.recorded().theta())
    }

    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        match self.likelihood.recorded() {
            Recorded::Statistics(simulations) => table(py, simulations.outputs()),
            Recorded::DataSets(_) => Err(InputError::new_err("this model compares raw data sets and has no table of statistics")),
        }
    }

    fn hyperparameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = match &self.likelihood {
            Likelihood::KernelMeans(model) => explain::hyperparameters(py, &model.hyperparameters())?,
            Likelihood::LocationScale(model) => {
                let model = model.clone();
                let (model, reports) = compute(py, move |_| Ok::<_, Error>((model.clone(), model.statistic_reports())))?;
                explain::location_scale(py, &model, &reports)?
            }
        };
        found.set_item("model", self.model())?;
        Ok(found)
    }

    /// How much every statistic decides; 0 for one that is constant or repeats another. Kernel means: spread / ε.
    /// Location-scale: signal over noise.
    fn relevance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let likelihood = self.likelihood.clone();
        let found = compute(py, move |_| {
            Ok::<_, Error>(match likelihood {
                Likelihood::KernelMeans(model) => spread_over_tolerance(&model),
                Likelihood::LocationScale(model) => model.statistic_reports().iter().map(|report| report.relevance).collect(),
            })
        })?;
        Ok(PyArray1::from_vec(py, found))
    }

    /// Every check; `at_bound` names learned hyperparameters of kernel means on a bound, if any were learned.
    #[pyo3(signature = (at_bound=None))]
    fn checks(&self, py: Python<'_>, at_bound: Option<Vec<String>>) -> PyResult<Vec<Check>> {
        let all = self.examined(py, at_bound, |examination, subject| Ok(examination.checks(subject).to_vec()))?;
        let word = |status| match status {
            Status::Ok => "ok",
            Status::Warn => "warn",
            Status::Fail => "fail",
        };
        Ok(all.into_iter().map(|check| (check.name, word(check.status), check.value, check.limit, check.message)).collect())
    }

    fn log_evidence(&self) -> f64 {
        self.inner.log_evidence()
    }

    fn log_evidence_error(&self) -> f64 {
        self.inner.log_evidence_error()
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
        if matches!(self.inner.form(), Form::Chained(_)) { CHAINS } else { 0 }
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
        let found = self.examined(py, None, move |examination, subject| {
            let calibration = examination.calibration(subject).map_err(Clone::clone)?;
            let interval = |d: usize| calibration.interval(subject.posterior, d, share).map(|(low, high)| vec![low, high]);
            Points::from_rows(&(0..subject.posterior.prior().dimension()).map(interval).collect::<Result<Vec<_>, _>>()?)
        })?;
        table(py, &found)
    }

    /// Samples of the posterior moved to where these intervals end.
    fn calibrated_samples<'py>(&self, py: Python<'py>, samples: Table<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let samples = points(&samples)?;
        let found = self.examined(py, None, move |examination, subject| {
            examination.calibration(subject).map_err(Clone::clone)?.samples(subject.posterior, &samples)
        })?;
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
        require_room("num_samples", count, self.inner.prior().dimension())?;
        let posterior = self.inner.clone();
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
        require_room("num_samples", count, self.inner.prior().dimension())?;
        let posterior = self.inner.clone();
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

    /// The same simulations and hyperparameters at another observation.
    fn condition(&self, py: Python<'_>, x_o: Vector<'_>) -> PyResult<Self> {
        let (likelihood, observation) = (self.likelihood.clone(), vector(&x_o));
        let y = Observation::Statistics(observation.clone());
        Self::made(py, observation, self.seed, move || likelihood.condition(&y))
    }

    /// ln q(y) over common tolerances (columns, in units of each statistic's spread) and length scales (rows), λ as it is.
    fn profile<'py>(&self, py: Python<'py>, epsilons: Vector<'py>, length_scales: Vector<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.kernel_means("profile of ln q(y) over tolerances and length scales")?;
        let observation = Observation::Statistics(self.observation.clone());
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

/// 1 / (ε / spread) of every statistic, as the report of learning has it.
fn spread_over_tolerance(model: &KernelMeansLikelihood) -> Vec<f64> {
    let Recorded::Statistics(simulations) = model.recorded() else { return vec![] };
    let epsilon = model.hyperparameters().epsilon;
    let one = |(i, scale): (usize, &StatisticScale)| match scale.dropped {
        Some(_) => 0.0,
        None => 1.0 / (epsilon[if epsilon.len() == 1 { 0 } else { i }] / scale.scale),
    };
    statistic_scales(simulations).iter().enumerate().map(one).collect()
}
