//! What was learned and how the model was chosen, as dictionaries with the names of `summary.json`.

use kelfi::fit::{ModelChoiceReport, Score};
use kelfi::learning::{Learned, Objective, StatisticReport};
use kelfi::model::family::all;
use kelfi::model::kernel_means::SolverReport;
use kelfi::model::location_scale::shape::Centres;
use kelfi::model::location_scale::statistic::Statistic;
use kelfi::{Fit, Hyperparameters, KernelMeansLikelihood, LocationScaleLikelihood, Model, SummariesLikelihood};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What learning says about its choice.
pub fn learned<'py>(py: Python<'py>, fit: &Fit) -> PyResult<Option<Bound<'py, PyDict>>> {
    let kernel_means_of = fit.model_as::<KernelMeansLikelihood>().and_then(KernelMeansLikelihood::learned);
    match (kernel_means_of, fit.score()) {
        (Some(learned), _) => kernel_means(py, learned).map(Some),
        (None, Some(score)) => by_leaving_out(py, score).map(Some),
        (None, None) => Ok(None),
    }
}

fn kernel_means<'py>(py: Python<'py>, learned: &Learned) -> PyResult<Bound<'py, PyDict>> {
    let choice = PyDict::new(py);
    choice.set_item("objective", if learned.objective == Objective::LeaveOneOut { "loo" } else { "mkml" })?;
    choice.set_item("score", learned.score)?;
    choice.set_item("score_standard_error", learned.score_standard_error)?;
    choice.set_item("log_marginal_likelihood", learned.log_marginal_likelihood)?;
    choice.set_item("at_bound", &learned.at_bound)?;
    choice.set_item("factorisations", learned.factorisations)?;
    choice.set_item("stopped", format!("{:?}", learned.stopped).to_lowercase())?;
    let optima: Vec<_> = learned.optima.iter().map(|optimum| (&optimum.hyperparameters, optimum.objective)).collect();
    let describe = |(h, objective): &(&Hyperparameters, f64)| -> PyResult<Bound<'py, PyDict>> {
        let one = hyperparameters(py, h)?;
        one.set_item("objective", objective)?;
        Ok(one)
    };
    choice.set_item("optima", optima.iter().map(describe).collect::<PyResult<Vec<_>>>()?)?;
    Ok(choice)
}

fn by_leaving_out<'py>(py: Python<'py>, (score, standard_error): Score) -> PyResult<Bound<'py, PyDict>> {
    let choice = PyDict::new(py);
    choice.set_item("objective", "loo")?;
    choice.set_item("score", score)?;
    choice.set_item("score_standard_error", standard_error)?;
    Ok(choice)
}

/// ε, β and λ.
pub fn hyperparameters<'py>(py: Python<'py>, h: &Hyperparameters) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("epsilon", PyArray1::from_slice(py, &h.epsilon))?;
    found.set_item("length_scale", PyArray1::from_slice(py, &h.length_scale))?;
    found.set_item("regularization", h.regularization)?;
    found.set_item("kernel", h.family.name())?;
    Ok(found)
}

/// What a low-rank solver reached.
fn low_rank<'py>(py: Python<'py>, reached: &SolverReport) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("rank", reached.rank)?;
    found.set_item("error", reached.error)?;
    found.set_item("evidence_error", reached.evidence_error)?;
    Ok(found)
}

/// What was learned, in the detail that the kind of model has.
pub fn hyperparameters_of<'py>(py: Python<'py>, model: &dyn Model, reports: &[StatisticReport]) -> PyResult<Bound<'py, PyDict>> {
    let any = model.as_any();
    if let Some(model) = any.downcast_ref::<KernelMeansLikelihood>() {
        let found = hyperparameters(py, &model.hyperparameters())?;
        if let Some(reached) = model.solver_report() {
            found.set_item("low_rank", low_rank(py, &reached)?)?;
        }
        return Ok(found);
    }
    if let Some(model) = any.downcast_ref::<LocationScaleLikelihood>() {
        return location_scale(py, model, reports);
    }
    if let Some(model) = any.downcast_ref::<SummariesLikelihood>() {
        return summaries(py, model, reports);
    }
    let found = PyDict::new(py);
    found.set_item("epsilon", PyArray1::from_vec(py, reports.iter().map(|report| report.epsilon).collect()))?;
    Ok(found)
}

/// Tolerances, shape, the statistics that take part, and what ended on a bound.
pub fn location_scale<'py>(py: Python<'py>, model: &LocationScaleLikelihood, reports: &[StatisticReport]) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let h = model.hyperparameters().shape;
    let shape = PyDict::new(py);
    shape.set_item("length_scale", h.length_scale)?;
    shape.set_item("ridge", h.ridge)?;
    shape.set_item("tolerance", h.tolerance)?;
    shape.set_item("growth", h.growth)?;
    shape.set_item("centres", if h.centres == Centres::LocalMeans { "local means" } else { "residuals" })?;
    found.set_item("epsilon", PyArray1::from_vec(py, reports.iter().map(|report| report.epsilon).collect()))?;
    found.set_item("shape", shape)?;
    let statistics = model.statistics().iter().map(|one| statistic(py, one)).collect::<PyResult<Vec<_>>>()?;
    found.set_item("statistics", statistics)?;
    found.set_item("at_bound", model.statistics_at_bound())?;
    Ok(found)
}

/// The model of the summaries, and what each summary is: which parameter it predicts and how well.
fn summaries<'py>(py: Python<'py>, model: &SummariesLikelihood, reports: &[StatisticReport]) -> PyResult<Bound<'py, PyDict>> {
    let found = location_scale(py, model.of_summaries(), reports)?;
    let one = |(h, explained): (&kelfi::model::summaries::SummaryHyperparameters, f64)| -> PyResult<Bound<'py, PyDict>> {
        let summary = PyDict::new(py);
        summary.set_item("parameter", h.target)?;
        summary.set_item("explained", explained)?;
        summary.set_item("mean", h.regression.bend())?;
        Ok(summary)
    };
    let all = model.summaries().hyperparameters().iter().zip(model.summaries().explained()).map(one).collect::<PyResult<Vec<_>>>()?;
    found.set_item("summaries", all)?;
    found.del_item("statistics")?;
    Ok(found)
}

fn statistic<'py>(py: Python<'py>, statistic: &Statistic) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("index", statistic.hyperparameters().index)?;
    found.set_item("scale", statistic.hyperparameters().transform.scale.name())?;
    found.set_item("mean", statistic.mean().bend())?;
    found.set_item("spread_varies", statistic.spread_varies())?;
    found.set_item("heavy_tails", statistic.has_heavy_tails())?;
    found.set_item("explained", statistic.explained())?;
    Ok(found)
}

/// How the model was chosen.
pub fn chosen<'py>(py: Python<'py>, comparison: &ModelChoiceReport) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("chosen", &comparison.chosen)?;
    found.set_item("reason", &comparison.reason)?;
    for family in all().into_iter().filter(|family| family.in_auto) {
        found.set_item(family.name.replace('-', "_"), comparison.score(family.name))?;
    }
    found.set_item("difference", comparison.difference)?;
    Ok(found)
}
