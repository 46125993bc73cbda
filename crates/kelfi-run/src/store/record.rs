//! Simulations on their way into the store, many of them at once.

use super::origin::Origin;
use super::row::{COLUMNS, Row};
use super::tally::Tally;
use super::{Store, proposal};
use crate::Error;
use crate::task::Outcome;
use kelfi::Outputs;
use rusqlite::{OptionalExtension, Transaction};
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
    /// Where parameters come from if nothing else is said: files bring their own, all others are draws of the prior.
    pub fn usual_origin(self) -> Origin {
        if self == Self::Import { Origin::File } else { Origin::Prior }
    }

    /// The word written to the store and to exports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Tell => "tell",
            Self::Import => "import",
        }
    }

    pub(super) fn of(word: &str) -> Option<Self> {
        [Self::Run, Self::Tell, Self::Import].into_iter().find(|known| known.word() == word)
    }
}

/// One simulation as the store keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Position j in the run.
    pub index: u64,
    /// θ_j.
    pub parameters: Vec<f64>,
    /// Status, output and message.
    pub outcome: Outcome,
    /// The simulator's seed, if it was given one.
    pub seed: Option<u64>,
    /// How long it took, if known.
    pub seconds: Option<f64>,
    /// Where the result came from.
    pub source: Source,
    /// Where θ_j came from; of a proposal that is known to the store, the store's word counts.
    pub origin: Origin,
}

/// What became of one result that was told.
#[derive(Debug)]
pub enum Told {
    /// It is new.
    New,
    /// It takes the place of a failure.
    Repaired,
    /// It was there already.
    Known,
    /// It cannot be taken, for this reason; the others were.
    Refused(Error),
}

impl Record {
    /// The rows of its output with so many columns, one of statistics; `None` once for a failure.
    pub fn rows(&self, columns: usize) -> impl Iterator<Item = Option<&[f64]>> {
        let values = self.outcome.statistics.as_deref();
        let failed = std::iter::once(None).filter(move |_| values.is_none());
        values.unwrap_or_default().chunks(columns.max(1)).map(Some).chain(failed)
    }
}

impl Store {
    /// Writes the records in one transaction; when this returns they survive a power loss. A record that is there already with the
    /// same parameters and statistics is left alone; one that differs is an [`Error::Conflict`] and nothing is written. Returns how
    /// many were new.
    pub fn record(&mut self, records: &[Record]) -> Result<usize, Error> {
        let told = self.write(records, false)?;
        Ok(told.iter().filter(|told| matches!(told, Told::New)).count())
    }

    /// Takes in each record for itself, in one transaction: a failure may be replaced, a success never; one bad record does not
    /// refuse the others. Says what became of each.
    pub fn tell(&mut self, records: &[Record]) -> Result<Vec<Told>, Error> {
        self.write(records, true)
    }

    fn write(&mut self, records: &[Record], each_for_itself: bool) -> Result<Vec<Told>, Error> {
        self.require_writable()?;
        let path = self.path.clone();
        let failed = |error| Error::database(&path, error);
        let outputs = self.problem.outputs();
        let checked: Vec<Result<(), Error>> = records.iter().map(|record| self.check_record(record, outputs)).collect();
        let simulator = self.simulator;
        let transaction = self.connection.transaction().map_err(failed)?;
        let mut tally = Tally::read(&transaction).map_err(|detail| Error::Damaged { path: path.clone(), detail })?;
        let mut told = Vec::with_capacity(records.len());
        for (record, checked) in records.iter().zip(checked) {
            let outcome = match checked {
                Ok(()) => one(&transaction, &mut tally, record, simulator, each_for_itself).map_err(failed)?,
                Err(error) => Told::Refused(error),
            };
            match outcome {
                Told::Refused(error) if !each_for_itself => return Err(error),
                outcome => told.push(outcome),
            }
        }
        tally.write(&transaction).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(told)
    }

    /// Forgets every failed simulation that can be made again here, for a simulator that has been mended. Imported ones stay: their
    /// parameters are not those of their index. Returns how many.
    pub fn forget_failures(&mut self) -> Result<usize, Error> {
        self.require_writable()?;
        let path = self.path.clone();
        let failed = |error| Error::database(&path, error);
        let transaction = self.connection.transaction().map_err(failed)?;
        let mut tally = Tally::read(&transaction).map_err(|detail| Error::Damaged { path: path.clone(), detail })?;
        let forgotten = forget(&transaction, &mut tally).map_err(failed)?;
        tally.write(&transaction).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(forgotten)
    }

    fn check_record(&self, record: &Record, outputs: Outputs) -> Result<(), Error> {
        let fact = if i64::try_from(record.index).is_err() {
            "its index is beyond 2^63 - 1".to_owned()
        } else if record.parameters.len() != self.problem.parameters.len() {
            format!("it has {} parameters, but the store has {}", record.parameters.len(), self.problem.parameters.len())
        } else if record.parameters.iter().any(|value| !value.is_finite()) {
            "a parameter is not finite".to_owned()
        } else if !record.outcome.status.is_result() {
            format!("a simulation that ended as {:?} is not a result", record.outcome.status.word())
        } else {
            match (&record.outcome.statistics, record.outcome.status.is_ok()) {
                (Some(values), true)
                    if outputs.fits(values.len(), self.problem.statistics.len()) && values.iter().all(|value| value.is_finite()) =>
                {
                    return Ok(());
                }
                (None, false) => return Ok(()),
                _ => format!("its status is {}, but its statistics do not match that", record.outcome.status),
            }
        };
        Err(Error::setting(
            format!("simulation {} cannot be recorded: {fact}", record.index),
            "this cannot come from a simulation; correct it",
        ))
    }
}

/// Takes in one record, beside what is there for its index.
fn one(
    transaction: &Transaction<'_>,
    tally: &mut Tally,
    record: &Record,
    simulator: Option<i64>,
    may_repair: bool,
) -> rusqlite::Result<Told> {
    let proposal = proposal::one(transaction, record.index.cast_signed())?.map(|row| row.proposal());
    let origin = match proposal {
        None => record.origin,
        Some(Ok(proposal)) if proposal.parameters == record.parameters => proposal.origin,
        Some(Ok(_)) => return Ok(Told::Refused(Error::NotProposed { index: record.index })),
        Some(Err(detail)) => return Ok(Told::Refused(Error::setting(detail, "`kelfi inspect --verify` shows what is damaged"))),
    };
    let maker = if record.source == Source::Run { simulator } else { None };
    let row = Row::of(&Record { origin, ..record.clone() }, maker);
    let conflict = |what| Ok(Told::Refused(Error::Conflict { index: record.index, what }));
    let told = match found(transaction, row.index)? {
        None => Told::New,
        Some(Err(detail)) => return Ok(Told::Refused(Error::setting(detail, "`kelfi inspect --verify` shows what is damaged"))),
        Some(Ok(old)) if old.parameters != row.parameters => return conflict("parameters"),
        Some(Ok(old)) if old.statistics == row.statistics && (old.statistics.is_some() || old.status == row.status || !may_repair) => {
            return Ok(Told::Known);
        }
        Some(Ok(old)) if old.statistics.is_some() || !may_repair => return conflict("statistics"),
        Some(Ok(old)) => {
            tally.remove(old.checksum, Source::of(&old.source).unwrap_or(Source::Run));
            Told::Repaired
        }
    };
    row.write(transaction)?;
    tally.add(record.index, row.checksum, record.source);
    Ok(told)
}

/// The row of this index, if there is one.
fn found(transaction: &Transaction<'_>, index: i64) -> rusqlite::Result<Option<Result<Row, String>>> {
    let mut query = transaction.prepare_cached(&format!("SELECT {COLUMNS} FROM simulation WHERE id = ?1"))?;
    query.query_row([index], |row| Ok(Row::read(row))).optional()
}

fn forget(transaction: &Transaction<'_>, tally: &mut Tally) -> rusqlite::Result<usize> {
    const FAILED: &str = "FROM simulation WHERE status <> 'ok' AND source <> 'import'";
    let mut query = transaction.prepare(&format!("SELECT checksum, source {FAILED}"))?;
    let rows = query.query_map([], |row| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, String>(1)?)))?;
    for row in rows {
        let (checksum, source) = row?;
        tally.remove(checksum, Source::of(&source).unwrap_or(Source::Run));
    }
    transaction.execute(&format!("DELETE {FAILED}"), [])
}
