//! One row: a simulation with how it went; and writing many of them at once.

use super::Store;
use crate::task::Outcome;
use crate::{Error, Status};
use rusqlite::{OptionalExtension, Row, Transaction, params};
use serde::{Deserialize, Serialize};

/// Where a result came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A call made by [`crate::run()`].
    Run,
    /// Made elsewhere for parameters this store handed out.
    Tell,
    /// Made elsewhere with parameters of its own.
    Import,
}

impl Source {
    fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Tell => "tell",
            Self::Import => "import",
        }
    }
}

/// One simulation as the store keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Position j in the run.
    pub index: u64,
    /// θ_j.
    pub parameters: Vec<f64>,
    /// Status, statistics and message.
    pub outcome: Outcome,
    /// The simulator's seed, if it was given one.
    pub seed: Option<u64>,
    /// How long it took, if known.
    pub seconds: Option<f64>,
    /// Where it came from.
    pub source: Source,
}

impl Store {
    /// Writes the records in one transaction; when this returns they survive a power loss. A record that is there already with the
    /// same parameters and statistics is left alone; one that differs is an [`Error::Conflict`] and nothing is written. Returns how
    /// many were new.
    pub fn record(&mut self, records: &[Record]) -> Result<usize, Error> {
        self.require_writable()?;
        for record in records {
            self.check_record(record)?;
        }
        let path = self.path.clone();
        let failed = |error| Error::database(&path, error);
        let transaction = self.connection.transaction().map_err(failed)?;
        let mut new = 0;
        for record in records {
            match found(&transaction, record.index).map_err(failed)? {
                None => {
                    insert(&transaction, record).map_err(failed)?;
                    new += 1;
                }
                Some((parameters, _)) if parameters != numbers(&record.parameters) => {
                    return Err(Error::Conflict { index: record.index, what: "parameters" });
                }
                Some((_, statistics)) if statistics != record.outcome.statistics.as_deref().map(numbers) => {
                    return Err(Error::Conflict { index: record.index, what: "statistics" });
                }
                Some(_) => {}
            }
        }
        transaction.commit().map_err(failed)?;
        Ok(new)
    }

    /// Forgets every simulation that failed, so that it is made again; for a simulator that has been mended. Returns how many.
    pub fn forget_failures(&mut self) -> Result<usize, Error> {
        self.require_writable()?;
        self.connection.execute("DELETE FROM simulation WHERE status <> 'ok'", []).map_err(self.failed())
    }

    fn check_record(&self, record: &Record) -> Result<(), Error> {
        let fact = if i64::try_from(record.index).is_err() {
            "its index is beyond 2^63 - 1".to_owned()
        } else if record.parameters.len() != self.problem.parameters.len() {
            format!("it has {} parameters and the store {}", record.parameters.len(), self.problem.parameters.len())
        } else if record.parameters.iter().any(|value| !value.is_finite()) {
            "a parameter is not finite".to_owned()
        } else if record.outcome.status == Status::Interrupted {
            "an interrupted simulation is no result".to_owned()
        } else {
            match (&record.outcome.statistics, record.outcome.status.is_ok()) {
                (Some(values), true) if values.len() == self.problem.statistics.len() && values.iter().all(|value| value.is_finite()) => {
                    return Ok(());
                }
                (None, false) => return Ok(()),
                _ => format!("its status is {} but its statistics do not fit that", record.outcome.status),
            }
        };
        Err(Error::setting(
            format!("simulation {} cannot be recorded: {fact}", record.index),
            "this is not what a simulation gives; correct it",
        ))
    }
}

/// The text of a row's parameters and statistics, if the row exists.
fn found(transaction: &Transaction<'_>, index: u64) -> rusqlite::Result<Option<(String, Option<String>)>> {
    let mut query = transaction.prepare_cached("SELECT parameters, statistics FROM simulation WHERE id = ?1")?;
    query.query_row([index as i64], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

fn insert(transaction: &Transaction<'_>, record: &Record) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO simulation (id, parameters, statistics, status, seed, seconds, message, source) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    let outcome = &record.outcome;
    statement.execute(params![
        record.index as i64,
        numbers(&record.parameters),
        outcome.statistics.as_deref().map(numbers),
        outcome.status.word(),
        record.seed.map(|seed| seed.to_string()),
        record.seconds,
        outcome.message,
        record.source.word(),
    ])?;
    Ok(())
}

/// Numbers as a JSON array, each in the shortest form that reads back as the same bits.
fn numbers(values: &[f64]) -> String {
    let words: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    format!("[{}]", words.join(","))
}

/// A row of `id, parameters, statistics, status, seed, seconds, message, source`, or what is wrong with it.
pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Result<Record, String>> {
    let (index, parameters, statistics): (i64, String, Option<String>) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (status, seed, source): (String, Option<String>, String) = (row.get(3)?, row.get(4)?, row.get(7)?);
    let (seconds, message) = (row.get(5)?, row.get(6)?);
    let array = |text: &str| {
        serde_json::from_str::<Vec<f64>>(text).map_err(|error| format!("simulation {index}: {text:?} is no list of numbers ({error})"))
    };
    Ok((|| {
        let status: Status = status.parse().map_err(|error| format!("simulation {index}: {error}"))?;
        let source = [Source::Run, Source::Tell, Source::Import].into_iter().find(|known| known.word() == source);
        Ok(Record {
            index: u64::try_from(index).map_err(|_| format!("simulation {index} has a negative index"))?,
            parameters: array(&parameters)?,
            outcome: Outcome { status, statistics: statistics.as_deref().map(array).transpose()?, message },
            seed: seed.map(|seed| seed.parse().map_err(|_| format!("simulation {index} has the seed {seed:?}"))).transpose()?,
            seconds,
            source: source.ok_or_else(|| format!("simulation {index} has an unknown source"))?,
        })
    })())
}
