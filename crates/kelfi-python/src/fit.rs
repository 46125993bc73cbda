//! Learning: settings as Python gives them, a posterior and what was learned out.

use crate::arrays::{Table, Vector, points, vector};
use crate::compute::compute;
use crate::errors::{InputError, method};
use crate::posterior::Posterior;
use crate::prior::Prior;
use kelfi::kernel::Family;
use kelfi::learning::{EpsilonChoice, LearnSettings, Learned, LengthScaleChoice, Objective, RegularizationChoice};
use kelfi::{Inference, Observation, Recorded, Simulations};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Learns what is left open. `epsilon` and `length_scale`: values, or what is learned ("common" or "each"). `regularization`: a number,
/// "free" or "tied". Returns the posterior and a dictionary on the choice.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn fit<'py>(
    py: Python<'py>,
    theta: Table<'py>,
    x: Table<'py>,
    x_o: Vector<'py>,
    prior: &Prior,
    objective: &str,
    epsilon: &Bound<'py, PyAny>,
    length_scale: &Bound<'py, PyAny>,
    regularization: &Bound<'py, PyAny>,
    kernel: &str,
    seed: u64,
) -> PyResult<(Posterior, Bound<'py, PyDict>)> {
    let settings = LearnSettings {
        objective: named("objective", objective, &[("loo", Objective::LeaveOneOut), ("mkml", Objective::Evidence)])?,
        epsilon: match given_or_word(epsilon)? {
            Given::Values(values) => EpsilonChoice::Fixed(values),
            Given::Word(word) => named("epsilon", &word, &[("common", EpsilonChoice::Isotropic), ("each", EpsilonChoice::PerStatistic)])?,
        },
        length_scale: match given_or_word(length_scale)? {
            Given::Values(values) => LengthScaleChoice::Fixed(values),
            Given::Word(word) => {
                named("length_scale", &word, &[("common", LengthScaleChoice::Isotropic), ("each", LengthScaleChoice::PerParameter)])?
            }
        },
        regularization: match regularization.extract::<f64>() {
            Ok(value) => RegularizationChoice::Fixed(value),
            Err(_) => {
                let word: String = regularization.extract()?;
                named("regularization", &word, &[("free", RegularizationChoice::Free), ("tied", RegularizationChoice::Tied)])?
            }
        },
        family: family(kernel)?,
        seed,
        ..LearnSettings::default()
    };
    let (recorded, y, prior) = (recorded(&theta, &x)?, vector(&x_o), prior.inner.clone());
    let inference = compute(py, move |stop| {
        let observation = Observation::Statistics(y.clone());
        Inference::new(&recorded, &observation, &prior, &settings, &mut |_| stop.go_on()).map(|inference| (inference, y))
    })?;
    let (Inference { posterior, model, learned }, y) = inference;
    let choice = explained(py, &learned)?;
    Ok((Posterior::new(posterior, model, y, seed), choice))
}

/// What learning says about its choice, with the names of `summary.json`.
fn explained<'py>(py: Python<'py>, learned: &Learned) -> PyResult<Bound<'py, PyDict>> {
    let choice = PyDict::new(py);
    choice.set_item("objective", if learned.objective == Objective::LeaveOneOut { "loo" } else { "mkml" })?;
    choice.set_item("score", learned.score)?;
    choice.set_item("score_standard_error", learned.score_standard_error)?;
    choice.set_item("log_marginal_likelihood", learned.log_marginal_likelihood)?;
    choice.set_item("at_bound", &learned.at_bound)?;
    choice.set_item("factorisations", learned.factorisations)?;
    choice.set_item("stopped", format!("{:?}", learned.stopped).to_lowercase())?;
    let optima: Vec<_> = learned.optima.iter().map(|optimum| (&optimum.hyperparameters, optimum.objective)).collect();
    let describe = |(h, objective): &(&kelfi::Hyperparameters, f64)| -> PyResult<Bound<'py, PyDict>> {
        let one = hyperparameters(py, h)?;
        one.set_item("objective", objective)?;
        Ok(one)
    };
    choice.set_item("optima", optima.iter().map(describe).collect::<PyResult<Vec<_>>>()?)?;
    Ok(choice)
}

/// ε, β and λ as a dictionary.
pub fn hyperparameters<'py>(py: Python<'py>, h: &kelfi::Hyperparameters) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("epsilon", PyArray1::from_slice(py, &h.epsilon))?;
    found.set_item("length_scale", PyArray1::from_slice(py, &h.length_scale))?;
    found.set_item("regularization", h.regularization)?;
    found.set_item("kernel", kernel_name(h.family))?;
    Ok(found)
}

/// Simulations from their arrays.
pub fn recorded(theta: &Table<'_>, x: &Table<'_>) -> PyResult<Recorded> {
    let simulations = Simulations::new(points(theta)?, points(x)?).map_err(|error| method(&error))?;
    Ok(Recorded::Statistics(Arc::new(simulations)))
}

const KERNELS: [(&str, Family); 3] = [("gaussian", Family::Gaussian), ("matern32", Family::Matern32), ("matern52", Family::Matern52)];

/// The kernel with this name.
pub fn family(name: &str) -> PyResult<Family> {
    named("kernel", name, &KERNELS)
}

fn kernel_name(family: Family) -> &'static str {
    KERNELS.iter().find(|(_, known)| *known == family).map_or("unknown", |(name, _)| name)
}

enum Given {
    Values(Vec<f64>),
    Word(String),
}

fn given_or_word(value: &Bound<'_, PyAny>) -> PyResult<Given> {
    match value.extract::<String>() {
        Ok(word) => Ok(Given::Word(word)),
        Err(_) => Ok(Given::Values(vector(&value.extract::<Vector<'_>>()?))),
    }
}

/// The choice with this name, or an error that lists them all.
fn named<T: Clone>(what: &str, name: &str, choices: &[(&str, T)]) -> PyResult<T> {
    let found = choices.iter().find(|(known, _)| *known == name).map(|(_, choice)| choice.clone());
    found.ok_or_else(|| {
        let names: Vec<String> = choices.iter().map(|(known, _)| format!("{known:?}")).collect();
        InputError::new_err(format!("{what} = {name:?} is not allowed: it must be {}", names.join(" or ")))
    })
}
