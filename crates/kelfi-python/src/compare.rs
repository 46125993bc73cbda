//! Methods side by side, on a benchmark problem or with a simulator in Python.

use crate::arrays::{Vector, vector};
use crate::compute::compute;
use crate::errors::InputError;
use crate::prior::Prior;
use kelfi::method::Method;
use kelfi_baselines::comparison::{ComparisonPlan, Observations, compare as carried_out};
use kelfi_problems::{BenchmarkProblem, Facts, Reference, SimulationFailure};
use numpy::PyArray1;
use pyo3::prelude::*;
use rand::Rng;

/// Name, description and reference of every method.
#[pyfunction]
pub fn methods() -> Vec<(&'static str, &'static str, &'static str)> {
    kelfi_baselines::all().iter().map(|method| (method.name(), method.description(), method.reference())).collect()
}

/// A simulator in Python: called with parameters and a seed, gives statistics or None.
struct Called {
    facts: Facts,
    simulator: Py<PyAny>,
}

impl BenchmarkProblem for Called {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        // A seed that every generator takes.
        let seed = 1 + rng.next_u64() % ((1 << 31) - 1);
        let called: PyResult<Option<Vec<f64>>> =
            Python::attach(|py| self.simulator.call1(py, (PyArray1::from_slice(py, theta), seed))?.extract(py));
        // The Python side turns exceptions into None; what is raised in spite of that is a failure too.
        called.ok().flatten().ok_or(SimulationFailure::NotFinite { index: 0, value: f64::NAN })
    }

    fn reference(&self) -> Reference {
        Reference::Unknown("methods are judged by left-out simulations, by simulations at their posterior samples, and against each other")
    }
}

/// A comparison on the benchmark problem of this name, as JSON.
#[pyfunction]
pub fn compare_on_problem(
    py: Python<'_>,
    name: &str,
    methods: Vec<String>,
    budgets: Vec<usize>,
    repeats: usize,
    own: bool,
    seed: u64,
) -> PyResult<String> {
    let problem = kelfi_problems::by_name(name).map_err(|error| InputError::new_err(error.to_string()))?;
    compared(py, problem, &methods, budgets, repeats, own, seed)
}

/// A comparison with a simulator in Python, as JSON.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn compare_with_simulator(
    py: Python<'_>,
    simulator: Py<PyAny>,
    prior: &Prior,
    x_o: Vector<'_>,
    methods: Vec<String>,
    budgets: Vec<usize>,
    repeats: usize,
    own: bool,
    seed: u64,
) -> PyResult<String> {
    let observation = vector(&x_o);
    let facts = Facts {
        name: "simulator",
        description: "a simulator in Python",
        prior: prior.inner.clone(),
        statistic_names: (1..=observation.len()).map(|k| format!("x_{k}")).collect(),
        observation,
        truth: None,
    };
    compared(py, Box::new(Called { facts, simulator }), &methods, budgets, repeats, own, seed)
}

fn compared(
    py: Python<'_>,
    problem: Box<dyn BenchmarkProblem>,
    names: &[String],
    budgets: Vec<usize>,
    repeats: usize,
    own: bool,
    seed: u64,
) -> PyResult<String> {
    let found: Result<Vec<Box<dyn Method>>, _> = names.iter().map(|name| kelfi_baselines::by_name(name)).collect();
    let methods = found.map_err(|error| InputError::new_err(error.to_string()))?;
    let observations = if own { Observations::Own } else { Observations::FromPrior };
    let found = compute(py, move |stop| {
        let plan = ComparisonPlan { problem: &*problem, methods, budgets, repeats, observations, seed };
        carried_out(&plan, &|| stop.go_on(), &mut |_| ())
    })?;
    let whole = serde_json::json!({ "summary": found.summary(), "runs": found.runs });
    Ok(whole.to_string())
}
