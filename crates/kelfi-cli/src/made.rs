//! The simulations of a store, read once and handed to everything that asks about them.

use crate::counting::{self, Work};
use crate::failure::Failure;
use crate::fingerprint;
use crate::problem::{OnFailure, ProblemFile};
use crate::simulate::New;
use kelfi::checks::{Check, Status};
use kelfi::{Points, Recorded};
use kelfi_report::Calls;
use kelfi_run::{Record, Seeds, Store};

/// What has been made.
pub struct Made {
    /// Every simulation, in the order of their index.
    pub records: Vec<Record>,
    /// What a reader of an answer must know about where they come from.
    pub checks: Vec<Check>,
    /// What their seeds are.
    pub seeds: Seeds,
}

/// Simulations as inference wants them.
pub struct Usable {
    /// Failed ones are rows of NaN, or left out.
    pub recorded: Recorded,
    /// How many were left out because the prior does not allow their parameters.
    pub outside: usize,
}

impl Made {
    /// Reads the whole store.
    pub fn read(store: &Store) -> Result<Self, Failure> {
        Self::of(store, store.records()?)
    }

    /// These records, which are all that the store holds.
    pub fn of(store: &Store, records: Vec<Record>) -> Result<Self, Failure> {
        counting::note(Work::Read);
        Ok(Self { records, checks: fingerprint::checks(store)?, seeds: Seeds::of(store.problem()) })
    }

    /// The same after new ones were made: only these are read.
    pub fn with(mut self, store: &Store, new: &New) -> Result<Self, Failure> {
        if new.forgotten {
            return Self::read(store);
        }
        self.records.extend(store.records_at(&new.indices)?);
        self.records.sort_by_key(|record| record.index);
        Ok(Self { checks: fingerprint::checks(store)?, ..self })
    }

    /// How many gave statistics, and how many failed.
    pub fn counts(&self) -> crate::summary::Simulations {
        let ok = self.records.iter().filter(|record| record.outcome.status.is_ok()).count() as u64;
        crate::summary::Simulations { ok, failed: self.records.len() as u64 - ok }
    }

    /// The simulations that this problem can use, with the statistics it uses.
    pub fn usable(&self, problem: &ProblemFile) -> Result<Usable, Failure> {
        self.usable_of(problem, |_| true)
    }

    /// Whether this simulation is there.
    pub fn has(&self, index: u64) -> bool {
        self.records.binary_search_by_key(&index, |record| record.index).is_ok()
    }

    /// Those of the simulations that `which` says.
    pub fn usable_of(&self, problem: &ProblemFile, which: impl Fn(&Record) -> bool) -> Result<Usable, Failure> {
        if self.records.is_empty() {
            return Err(Failure::input(
                "there are no simulations yet\n  make some with `kelfi simulate`, or bring them in with `kelfi import` or `kelfi tell`",
            ));
        }
        let inside = |record: &&Record| problem.prior.to_latent(&record.parameters).is_ok();
        let kept = |record: &&Record| problem.on_failure != OnFailure::Drop || record.outcome.status.is_ok();
        let asked: Vec<&Record> = self.records.iter().filter(|record| which(record)).collect();
        let allowed: Vec<&Record> = asked.iter().copied().filter(inside).collect();
        let outside = asked.len() - allowed.len();
        if allowed.is_empty() {
            let fact = format!("no simulation lies inside the support of the prior ({outside} in all)");
            return Err(Failure::input(format!("{fact}\n  give a prior that covers some of them, or simulate from this one")));
        }
        let rows: Vec<&Record> = allowed.into_iter().filter(kept).collect();
        if rows.is_empty() {
            return Err(kelfi::Error::AllFailed { count: self.records.len() }.into());
        }
        Ok(Usable { recorded: self.recorded(problem, &rows)?, outside })
    }

    fn recorded(&self, problem: &ProblemFile, rows: &[&Record]) -> Result<Recorded, Failure> {
        let theta: Vec<&[f64]> = rows.iter().map(|record| record.parameters.as_slice()).collect();
        let used = |record: &&Record| record.outcome.statistics.as_ref().map(|values| problem.used_of(values));
        let outputs: Vec<Option<Vec<f64>>> = rows.iter().map(used).collect();
        Ok(problem.outputs.recorded(Points::from_rows(&theta)?, &outputs, problem.used().len(), &problem.observed()?)?)
    }

    /// What the report tells about the calls.
    pub fn calls(&self) -> Result<Calls, Failure> {
        let theta: Vec<&[f64]> = self.records.iter().map(|record| record.parameters.as_slice()).collect();
        Ok(Calls {
            theta: Points::from_rows(&theta)?,
            status: self.records.iter().map(|record| record.outcome.status.word().to_string()).collect(),
            seconds: self.records.iter().map(|record| record.seconds).collect(),
            message: self.records.iter().map(|record| record.outcome.message.clone()).collect(),
        })
    }

    /// The checks of an answer that leaves out so many simulations.
    pub fn checks(&self, outside: usize) -> Vec<Check> {
        let mut checks = self.checks.clone();
        if outside > 0 {
            let all = self.records.len();
            let message = format!("{outside} of {all} simulations left out, because their parameters lie outside the support of the prior");
            checks.push(Check::new("outside_prior", Status::Ok, outside as f64 / all as f64, 1.0, message));
        }
        checks
    }
}
