//! What inference reads: simulations in the order of their index, whatever order they were made in.

use super::Store;
use super::record::Record;
use super::row::{self, Row};
use super::tally::Tally;
use crate::{Error, Status};
use kelfi::{Outputs, Points};
use rusqlite::OptionalExtension;
use std::collections::BTreeMap;

/// How many simulations ended in which way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    by_status: BTreeMap<Status, u64>,
}

impl Counts {
    /// Simulations with this status.
    pub fn of(&self, status: Status) -> u64 {
        self.by_status.get(&status).copied().unwrap_or(0)
    }

    /// Simulations that gave statistics.
    pub fn ok(&self) -> u64 {
        self.of(Status::Ok)
    }

    /// Simulations that failed.
    pub fn failed(&self) -> u64 {
        self.all() - self.ok()
    }

    /// All simulations.
    pub fn all(&self) -> u64 {
        self.by_status.values().sum()
    }
}

/// All simulations as tables, in the order of their index.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The index of each row.
    pub indices: Vec<u64>,
    /// θ, one a row.
    pub parameters: Points,
    /// x, one a row; a failed simulation's row is NaN. Without columns where simulations give rows.
    pub statistics: Points,
    /// The numbers of each output, row after row; `None` for a failed simulation.
    pub outputs: Vec<Option<Vec<f64>>>,
    /// How each row ended.
    pub statuses: Vec<Status>,
    /// What each failure said; empty for a success.
    pub messages: Vec<String>,
}

impl Table {
    /// Index, status and message of each failure.
    pub fn failures(&self) -> impl Iterator<Item = (u64, Status, &str)> {
        let rows = self.indices.iter().zip(&self.statuses).zip(&self.messages);
        rows.filter(|((_, status), _)| !status.is_ok()).map(|((&index, &status), message)| (index, status, message.as_str()))
    }
}

impl Store {
    /// How many simulations ended in which way.
    pub fn counts(&self) -> Result<Counts, Error> {
        let mut query = self.connection.prepare("SELECT status, count(*) FROM simulation GROUP BY status").map_err(self.failed())?;
        let rows = query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))).map_err(self.failed())?;
        let mut counts = Counts::default();
        for row in rows {
            let (word, count) = row.map_err(self.failed())?;
            let status = word.parse().map_err(|error| self.damaged(format!("{error}")))?;
            counts.by_status.insert(status, count.unsigned_abs());
        }
        Ok(counts)
    }

    /// Hands every record to `take`, in the order of their index. Each is compared with its checksum, and all of them with what the
    /// store is known to hold.
    pub fn for_each(&self, mut take: impl FnMut(Record) -> Result<(), Error>) -> Result<(), Error> {
        // Rows and tally of the same moment, also while another process writes.
        let moment = self.connection.unchecked_transaction().map_err(self.failed())?;
        let mut query =
            moment.prepare(&format!("SELECT {} FROM simulation ORDER BY id", row::columns(self.version))).map_err(self.failed())?;
        let (mut found, outputs) = (Tally::default(), self.problem.outputs());
        for row in query.query_map([], |row| Ok(Row::read(row))).map_err(self.failed())? {
            let row = row.map_err(self.failed())?.map_err(|detail| self.damaged(detail))?;
            let record = row.record().map_err(|detail| self.damaged(detail))?;
            self.check_lengths(&record, outputs)?;
            found.add(record.index, row.checksum, record.source);
            take(record)?;
        }
        self.check_tally(&found)
    }

    fn check_tally(&self, found: &Tally) -> Result<(), Error> {
        if !self.has_facts() {
            return Ok(());
        }
        let tally = Tally::read(&self.connection).map_err(|detail| self.damaged(detail))?;
        tally.disagrees_with(found).map_or(Ok(()), |detail| Err(self.damaged(detail)))
    }

    /// Every record, in the order of their index.
    pub fn records(&self) -> Result<Vec<Record>, Error> {
        let mut records = Vec::new();
        self.for_each(|record| {
            records.push(record);
            Ok(())
        })?;
        Ok(records)
    }

    /// The records of these indices, as far as they are there.
    pub fn records_at(&self, indices: &[u64]) -> Result<Vec<Record>, Error> {
        let text = format!("SELECT {} FROM simulation WHERE id = ?1", row::columns(self.version));
        let mut query = self.connection.prepare(&text).map_err(self.failed())?;
        let (mut records, outputs) = (Vec::with_capacity(indices.len()), self.problem.outputs());
        for &index in indices {
            let found = query.query_row([index.cast_signed()], |row| Ok(Row::read(row))).optional().map_err(self.failed())?;
            let Some(row) = found else { continue };
            let record = row.and_then(|row| row.record()).map_err(|detail| self.damaged(detail))?;
            self.check_lengths(&record, outputs)?;
            records.push(record);
        }
        Ok(records)
    }

    /// All simulations as tables, in the order of their index.
    pub fn table(&self) -> Result<Table, Error> {
        let (width, several) = (self.problem.parameters.len(), self.problem.outputs().in_rows());
        let breadth = if several { 0 } else { self.problem.statistics.len() };
        let (mut indices, mut statuses, mut messages) = (Vec::new(), Vec::new(), Vec::new());
        let (mut parameters, mut statistics, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
        self.for_each(|record| {
            indices.push(record.index);
            statuses.push(record.outcome.status);
            messages.push(record.outcome.message);
            parameters.extend(record.parameters);
            match &record.outcome.statistics {
                Some(values) if !several => statistics.extend(values),
                _ => statistics.extend(vec![f64::NAN; breadth]),
            }
            outputs.push(record.outcome.statistics);
            Ok(())
        })?;
        let rows = indices.len();
        let points = |values, columns| Points::new(values, rows, columns).map_err(|error| self.damaged(error.to_string()));
        Ok(Table { parameters: points(parameters, width)?, statistics: points(statistics, breadth)?, outputs, indices, statuses, messages })
    }

    /// The indices below `count` that have no row yet, in order.
    pub fn missing(&self, count: u64) -> Result<Vec<u64>, Error> {
        let limit = i64::try_from(count).unwrap_or(i64::MAX);
        let mut query = self.connection.prepare("SELECT id FROM simulation WHERE id < ?1 ORDER BY id").map_err(self.failed())?;
        let mut there = Vec::new();
        for row in query.query_map([limit], |row| row.get::<_, i64>(0)).map_err(self.failed())? {
            there.push(row.map_err(self.failed())?.unsigned_abs());
        }
        let mut there = there.into_iter().peekable();
        Ok((0..count).filter(|&index| there.next_if_eq(&index).is_none()).collect())
    }

    pub(super) fn damaged(&self, detail: String) -> Error {
        Error::Damaged { path: self.path.clone(), detail }
    }

    fn check_lengths(&self, record: &Record, outputs: Outputs) -> Result<(), Error> {
        let breadth = record.outcome.statistics.as_ref().map_or(0, Vec::len);
        let fits = record.outcome.statistics.is_none() || outputs.fits(breadth, self.problem.statistics.len());
        if record.parameters.len() == self.problem.parameters.len() && fits {
            return Ok(());
        }
        Err(self.damaged(format!("simulation {} has {} parameters and {breadth} statistics", record.index, record.parameters.len())))
    }
}
