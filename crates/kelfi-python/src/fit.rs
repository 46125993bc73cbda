//! Learning: settings as Python gives them; a posterior, what was learned and how the model was chosen out.

use crate::arrays::{Table, Vector, vector};
use crate::compute::compute_telling;
use crate::errors::{InputError, method};
use crate::explain::{chosen, learned};
use crate::outputs::{observation, recorded};
use crate::posterior::Posterior;
use crate::prior::Prior;
use kelfi::kernel::Family;
use kelfi::learning::{EpsilonChoice, KernelMeansOptions, LengthScaleChoice, Objective, RegularizationChoice};
use kelfi::solver::SolverChoice;
use kelfi::words::meant;
use kelfi::{Fit, FitOptions, ModelChoice, Question};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A posterior, how its hyperparameters were chosen, and how its model was where that was left open.
pub type Fitted<'py> = (Posterior, Bound<'py, PyDict>, Option<Bound<'py, PyDict>>);

/// Learns what is left open. `epsilon` and `length_scale`: values, or what is learned ("common" or "each"). `regularization`: a number,
/// "free" or "tied". `listener(done, expected)`, if any, hears how far it is.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn fit<'py>(
    py: Python<'py>,
    theta: Table<'py>,
    x: &Bound<'py, PyAny>,
    x_o: &Bound<'py, PyAny>,
    prior: &Prior,
    model: &str,
    objective: &str,
    epsilon: &Bound<'py, PyAny>,
    length_scale: &Bound<'py, PyAny>,
    regularization: &Bound<'py, PyAny>,
    kernel: &str,
    solver: &str,
    seed: u64,
    listener: Option<&Bound<'py, PyAny>>,
) -> PyResult<Fitted<'py>> {
    let settings = settings(model, objective, epsilon, length_scale, regularization, kernel, solver, seed)?;
    let observation = observation(x_o)?;
    let question = Question::new(&prior.inner, &recorded(&theta, x, &observation)?, &observation);
    fitted(py, compute_telling(py, listener, move |stop| Fit::new(&question, &settings, &mut |progress| stop.told(&progress)))?)
}

/// A fit with its accounts.
pub fn fitted(py: Python<'_>, fit: Fit) -> PyResult<Fitted<'_>> {
    let account = learned(py, &fit)?.unwrap_or_else(|| PyDict::new(py));
    let comparison = fit.comparison.as_ref().map(|comparison| chosen(py, comparison)).transpose()?;
    Ok((Posterior::new(fit), account, comparison))
}

/// Which model, and what is learned of it.
#[allow(clippy::too_many_arguments)]
pub fn settings(
    model: &str,
    objective: &str,
    epsilon: &Bound<'_, PyAny>,
    length_scale: &Bound<'_, PyAny>,
    regularization: &Bound<'_, PyAny>,
    kernel: &str,
    solver: &str,
    seed: u64,
) -> PyResult<FitOptions> {
    let model = ModelChoice::named(model).map_err(|error| method(&error))?;
    let learn = KernelMeansOptions {
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
        solver: self::solver(solver)?,
        seed,
        ..KernelMeansOptions::default()
    };
    Ok(FitOptions { model, learn })
}

/// The names of all solvers.
#[pyfunction]
pub fn solvers() -> Vec<&'static str> {
    SolverChoice::ALL.iter().map(|(name, _, _)| *name).collect()
}

/// The kernel with this name.
pub fn family(name: &str) -> PyResult<Family> {
    let kernels: Vec<(&str, Family)> = Family::ALL.iter().map(|family| (family.name(), *family)).collect();
    named("kernel", name, &kernels)
}

/// The names of all kernels.
#[pyfunction]
pub fn kernels() -> Vec<&'static str> {
    Family::ALL.iter().map(|family| family.name()).collect()
}

/// The solver of this name.
pub fn solver(name: &str) -> PyResult<SolverChoice> {
    named("solver", name, &SolverChoice::ALL.map(|(name, choice, _)| (name, choice)))
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
        let hint =
            meant(name, choices.iter().map(|(known, _)| *known)).map_or_else(String::new, |meant| format!("\n  did you mean {meant:?}?"));
        InputError::new_err(format!("{what} = {name:?} is not allowed: it must be {}{hint}", names.join(" or ")))
    })
}

/// The one of `known` that `word` probably stands for: a synonym, or few slips away.
#[pyfunction]
pub fn meant_by(word: &str, known: Vec<String>) -> Option<String> {
    meant(word, known.iter().map(String::as_str)).map(str::to_owned)
}

/// What a user may ask for: `auto` and every model, with whether its hyperparameters may be given.
#[pyfunction]
pub fn models() -> Vec<(&'static str, bool)> {
    let takes = |name| !matches!(ModelChoice::named(name), Ok(ModelChoice::Use(family)) if !family.takes_settings);
    ModelChoice::names().into_iter().map(|name| (name, takes(name))).collect()
}
