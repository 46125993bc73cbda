//! `Rounds`: what to simulate next, and what came of it.

use crate::arrays::{Table, points, table};
use crate::compute::{Stop, compute_telling};
use crate::errors::method;
use crate::fit::{Fitted, fitted, settings};
use crate::outputs::{observation, recorded};
use crate::prior::Prior;
use kelfi::rounds::{Batch, HowMany, Movement, Next, Round, RoundsSettings};
use kelfi::{Points, Recorded, Simulations};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Parameters, one simulation a row, and whether each was proposed widely.
type Asked<'py> = (Bound<'py, PyArray2<f64>>, Vec<bool>);

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

    /// All parameters of the next round, and which of them were proposed widely; `None` when there is no other.
    fn ask<'py>(&mut self, py: Python<'py>, listener: Option<&Bound<'py, PyAny>>) -> PyResult<Option<Asked<'py>>> {
        let mut inner = self.inner.clone();
        let work = move |stop: &Stop| inner.ask(&mut |progress| stop.told(&progress)).map(|next| (inner, next));
        let (inner, next) = compute_telling(py, listener, work)?;
        self.inner = inner;
        match next {
            Next::Simulate(batch) => Ok(Some((table(py, &batch.theta)?, batch.wide))),
            Next::Finished(_) => Ok(None),
        }
    }

    /// How many simulations the first round is planned to have.
    fn first_round(&self) -> usize {
        self.inner.planned().first().copied().unwrap_or(1)
    }

    /// What came of the next round: all its parameters with which were proposed widely, and the simulations made of them.
    fn tell(&mut self, asked: Table<'_>, wide: Vec<bool>, theta: Table<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let (round, first) = (self.inner.rounds_told(), self.inner.simulations());
        let batch = Batch { round, first, theta: points(&asked)?, wide };
        let statistics = x.extract::<Table<'_>>().ok().map(|x| points(&x)).transpose()?;
        let recorded = match statistics {
            Some(x) if all_failed(&x) => Recorded::Statistics(Arc::new(Simulations::all_failed(points(&theta)?, x.columns()))),
            _ => recorded(&theta, x, self.inner.observation())?,
        };
        self.inner.resume(batch, &recorded).map_err(|error| method(&error))
    }

    /// The posterior from all rounds told.
    fn answer<'py>(&mut self, py: Python<'py>, listener: Option<&Bound<'py, PyAny>>) -> PyResult<Fitted<'py>> {
        let mut inner = self.inner.clone();
        let work = move |stop: &Stop| inner.answer(&mut |progress| stop.told(&progress)).map(|fit| (inner, fit));
        let (inner, fit) = compute_telling(py, listener, work)?;
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

fn all_failed(x: &Points) -> bool {
    x.iter().all(|row| row.iter().any(|value| !value.is_finite()))
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
