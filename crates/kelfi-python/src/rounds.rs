//! `Rounds`: what to simulate next, and what came of it.

use crate::arrays::{Table, table};
use crate::compute::compute;
use crate::errors::method;
use crate::fit::{Fitted, fitted, settings};
use crate::outputs::{observation, recorded};
use crate::prior::Prior;
use kelfi::rounds::{HowMany, Movement, Next, Round, RoundsSettings};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The machine of rounds. Work is done on a copy that takes its place when it succeeds.
#[pyclass(module = "kelfi._kelfi")]
pub struct Rounds {
    inner: kelfi::rounds::Rounds,
}

#[pymethods]
impl Rounds {
    /// `rounds`: "auto" or a number; the other settings as for `fit`.
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        prior: &Prior,
        x_o: &Bound<'_, PyAny>,
        budget: usize,
        rounds: &str,
        model: &str,
        objective: &str,
        epsilon: &Bound<'_, PyAny>,
        length_scale: &Bound<'_, PyAny>,
        regularization: &Bound<'_, PyAny>,
        kernel: &str,
        solver: &str,
        seed: u64,
    ) -> PyResult<Self> {
        let rounds = rounds.parse::<HowMany>().map_err(|error| method(&error))?;
        let fit = settings(model, objective, epsilon, length_scale, regularization, kernel, solver, seed)?;
        let settings = RoundsSettings { budget, rounds, fit };
        let inner = kelfi::rounds::Rounds::new(&prior.inner, &observation(x_o)?, &settings).map_err(|error| method(&error))?;
        Ok(Self { inner })
    }

    /// All parameters of the next round; `None` when there is no other.
    fn ask<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let mut inner = self.inner.clone();
        let (inner, next) = compute(py, move |stop| inner.ask(&mut |_| stop.go_on()).map(|next| (inner, next)))?;
        self.inner = inner;
        match next {
            Next::Simulate(batch) => table(py, &batch.theta).map(Some),
            Next::Finished(_) => Ok(None),
        }
    }

    /// What came of the round.
    fn tell(&mut self, theta: Table<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let recorded = recorded(&theta, x, self.inner.observation())?;
        self.inner.tell(&recorded).map_err(|error| method(&error))
    }

    /// The posterior from all rounds told.
    fn answer<'py>(&mut self, py: Python<'py>) -> PyResult<Fitted<'py>> {
        let mut inner = self.inner.clone();
        let (inner, fit) = compute(py, move |stop| inner.answer(&mut |_| stop.go_on()).map(|fit| (inner, fit)))?;
        self.inner = inner;
        fitted(py, fit)
    }

    /// The same rounds, to go on apart.
    fn copy(&self) -> Self {
        Self { inner: self.inner.clone() }
    }

    /// What happened, one dictionary a round.
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.inner.history().rounds.iter().enumerate().map(|(number, round)| described(py, number, round)).collect()
    }
}

fn described<'py>(py: Python<'py>, number: usize, round: &Round) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("round", number)?;
    found.set_item("simulations", round.simulations)?;
    found.set_item("wide", round.wide)?;
    found.set_item("used", round.used)?;
    found.set_item("intervals", &round.intervals)?;
    found.set_item("movement", round.movement.as_ref().map(|movement| moved(py, movement)).transpose()?)?;
    Ok(found)
}

fn moved<'py>(py: Python<'py>, movement: &Movement) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("shift", movement.shift)?;
    found.set_item("stretch", movement.stretch)?;
    found.set_item("error", movement.error)?;
    Ok(found)
}
