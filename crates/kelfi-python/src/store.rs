//! The durable table of simulations, the same file as the command line's.

use crate::arrays::{Table, points, require_room, table};
use crate::errors::{Failure, InputError, StoreError, method};
use crate::outputs::in_rows;
use kelfi::{Outputs, Points};
use kelfi_run::store::{Files, StoredProblem};
use kelfi_run::task::simulator_seed;
use kelfi_run::{Origin, Outcome, Proposal, Record, Source, Status};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

/// The simulator's 64-bit seeds of these indices in the run with this seed.
#[pyfunction]
pub fn simulator_seeds(py: Python<'_>, run_seed: u64, start: u64, count: usize) -> PyResult<Bound<'_, PyArray1<u64>>> {
    require_room("number of seeds", count, 1)?;
    Ok(PyArray1::from_iter(py, (0..count as u64).map(|j| simulator_seed(run_seed, start.wrapping_add(j)))))
}

/// An open store. Closed by `close` or when dropped.
#[pyclass(frozen, module = "kelfi._kelfi")]
pub struct Store {
    inner: Mutex<Option<kelfi_run::Store>>,
}

/// How one simulation went: index, status, statistics (empty for a failure), message, seconds.
type Row = (u64, String, Vec<f64>, String, f64);

#[pymethods]
impl Store {
    /// Whether there is a store, and not only the beginning of one that was cut short.
    #[staticmethod]
    fn exists(path: PathBuf) -> PyResult<bool> {
        kelfi_run::Store::exists(&path).map_err(|error| Failure::from(error).into())
    }

    /// An existing store, to be written.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::made(py.detach(|| kelfi_run::Store::open(&path)))
    }

    /// An existing store, to be read, also while another process writes to it.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::made(py.detach(|| kelfi_run::Store::read(&path)))
    }

    /// A new store, or the existing one of the same problem.
    #[staticmethod]
    fn create(py: Python<'_>, path: PathBuf, text: String, parameters: Vec<String>, statistics: Vec<String>, seed: u64) -> PyResult<Self> {
        let problem = StoredProblem { text, parameters, statistics, seed };
        Self::made(py.detach(|| kelfi_run::Store::open_or_create(&path, &problem)))
    }

    /// (text, names of parameters, names of statistics, seed) of the problem it was made for.
    fn problem(&self) -> PyResult<(String, Vec<String>, Vec<String>, u64)> {
        self.with(|store| {
            let problem = store.problem().clone();
            Ok((problem.text, problem.parameters, problem.statistics, problem.seed))
        })
    }

    /// Indices below `count` without a row.
    fn missing(&self, py: Python<'_>, count: u64) -> PyResult<Vec<u64>> {
        py.detach(|| self.with(|store| store.missing(count)))
    }

    /// How many simulations it holds.
    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.with(|store| Ok(store.counts()?.all())))
    }

    /// Marks all simulations from here on as made by this state of the simulator: names with fingerprints.
    fn made_by(&self, py: Python<'_>, files: Files) -> PyResult<()> {
        py.detach(|| self.with(|store| store.made_by(&files)))
    }

    /// The states of the simulator that made simulations, oldest first, each with how many.
    fn makers(&self, py: Python<'_>) -> PyResult<Vec<(Files, u64)>> {
        let makers = py.detach(|| self.with(|store| store.makers()))?;
        Ok(makers.into_iter().map(|made| (made.files, made.simulations)).collect())
    }

    /// Keeps the parameters of a round before anybody simulates; returns the index of the first.
    fn propose(&self, py: Python<'_>, round: u32, theta: Table<'_>, wide: Vec<bool>) -> PyResult<u64> {
        let origin = |wide: bool| if wide { Origin::Wide(round) } else { Origin::Round(round) };
        let theta = points(&theta)?;
        let points: Vec<(Origin, Vec<f64>)> = theta.iter().zip(wide).map(|(theta, wide)| (origin(wide), theta.to_vec())).collect();
        let kept = py.detach(|| self.with(|store| store.propose_each(&points)))?;
        kept.first().map(|first| first.index).ok_or_else(|| InputError::new_err("a round without parameters was proposed"))
    }

    /// Every round that was kept, from the first after the prior's: index of its first row, parameters, which were proposed widely.
    #[allow(clippy::type_complexity)]
    fn rounds<'py>(&self, py: Python<'py>) -> PyResult<Vec<(u64, Bound<'py, PyArray2<f64>>, Vec<bool>)>> {
        let mut rounds: BTreeMap<u32, Vec<Proposal>> = BTreeMap::new();
        for proposal in py.detach(|| self.with(|store| store.proposals()))? {
            if let Some(round) = proposal.origin.round() {
                rounds.entry(round).or_default().push(proposal);
            }
        }
        let described = |proposals: &Vec<Proposal>| {
            let rows: Vec<&[f64]> = proposals.iter().map(|proposal| proposal.parameters.as_slice()).collect();
            let wide = proposals.iter().map(|proposal| matches!(proposal.origin, Origin::Wide(_))).collect();
            let theta = Points::from_rows(&rows).map_err(|error| method(&error))?;
            Ok((proposals[0].index, table(py, &theta)?, wide))
        };
        rounds.values().map(described).collect()
    }

    /// Forgets every failed simulation that can be made again here. Returns how many.
    fn forget_failures(&self, py: Python<'_>) -> PyResult<usize> {
        py.detach(|| self.with(kelfi_run::Store::forget_failures))
    }

    /// Writes rows durably; `theta` has one row for each, `run_seed` gives their seeds. Returns how many were new.
    fn record(&self, py: Python<'_>, theta: Table<'_>, rows: Vec<Row>, run_seed: u64) -> PyResult<usize> {
        let theta = points(&theta)?;
        if theta.rows() != rows.len() {
            return Err(InputError::new_err(format!("theta has {} rows but there are {} results", theta.rows(), rows.len())));
        }
        let made = |(theta, (index, status, statistics, message, seconds)): (&[f64], Row)| -> PyResult<Record> {
            let status: Status =
                status.parse().map_err(|error: kelfi_run::status::UnknownStatus| InputError::new_err(error.to_string()))?;
            let outcome = Outcome { status, statistics: status.is_ok().then_some(statistics), message };
            let seed = Some(simulator_seed(run_seed, index));
            Ok(Record {
                index,
                parameters: theta.to_vec(),
                outcome,
                seed,
                seconds: Some(seconds),
                source: Source::Run,
                origin: Origin::Prior,
            })
        };
        let records = theta.iter().zip(rows).map(made).collect::<PyResult<Vec<_>>>()?;
        py.detach(|| self.with(|store| store.record(&records)))
    }

    /// (indices, theta, x, [(index, status, message)] of failures), in the order of their index.
    #[allow(clippy::type_complexity)]
    fn table<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<u64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyAny>, Vec<(u64, String, String)>)> {
        let (found, problem) = py.detach(|| self.with(|store| Ok((store.table()?, store.problem().clone()))))?;
        let failures = found.failures().map(|(index, status, message)| (index, status.word().to_owned(), message.to_owned())).collect();
        let x = match problem.outputs() {
            Outputs::Statistics | Outputs::Repeats(_) => table(py, &found.statistics)?.into_any(),
            Outputs::Rows => in_rows(py, found.outputs.iter().map(Option::as_deref), problem.statistics.len())?,
        };
        Ok((PyArray1::from_vec(py, found.indices), table(py, &found.parameters)?, x, failures))
    }

    /// Lets go of the file.
    fn close(&self) {
        drop(self.inner.lock().map(|mut store| store.take()));
    }
}

impl Store {
    fn made(result: Result<kelfi_run::Store, kelfi_run::Error>) -> PyResult<Self> {
        result.map(|store| Self { inner: Mutex::new(Some(store)) }).map_err(|error| Failure::from(error).into())
    }

    fn with<T>(&self, ask: impl FnOnce(&mut kelfi_run::Store) -> Result<T, kelfi_run::Error>) -> PyResult<T> {
        let mut guard = self.inner.lock().map_err(|_| StoreError::new_err("a thread that used this store failed; open it again"))?;
        let store = guard.as_mut().ok_or_else(|| StoreError::new_err("the store is closed; open it again"))?;
        ask(store).map_err(|error| Failure::from(error).into())
    }
}
