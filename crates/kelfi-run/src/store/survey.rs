//! What is sound in a store and what is not: every row that can be read, past whatever cannot.

use super::problem::{self, StoredProblem};
use super::proposal::Count;
use super::record::Source;
use super::row::{self, Row};
use super::tally::Tally;
use super::{connect_reading, fact, proposal, require_file, schema};
use crate::{Error, Record};
use kelfi::Outputs;
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Most indices that are looked up one by one between damaged pages.
const GAP: i64 = 1_000_000;

/// Rows by index, each as it stands there or with what is wrong with it.
type Found = BTreeMap<i64, Result<Row, String>>;

/// What a whole reading of a store found.
#[derive(Debug, Default)]
pub struct Survey {
    /// Simulations that are as they were written.
    pub sound: u64,
    /// Of them, those of an older version that have no checksum: they can be read, but nothing tells whether they are as written.
    pub unprotected: u64,
    /// Simulations that were written and are not there any more, or not as written; those among them whose index is known.
    pub lost: u64,
    /// Their indices, where they can be told.
    pub damaged: Vec<u64>,
    /// How many of the lost were told or imported, so that nobody here can make them again.
    pub lost_elsewhere: u64,
    /// Everything else that was found, one line each.
    pub findings: Vec<String>,
    pub(super) rows: Vec<(Row, Record)>,
    pub(super) problem: Option<StoredProblem>,
    pub(super) facts: Vec<(String, String)>,
    pub(super) asked: Vec<(i64, String)>,
    pub(super) proposals: Vec<proposal::Row>,
}

impl Survey {
    /// Reads everything in the store at `path` that can be read. An error only where nothing can.
    pub fn of(path: &Path) -> Result<Self, Error> {
        require_file(path)?;
        let connection = connect_reading(path)?;
        let mut survey = Self::default();
        let version = match (schema::version(&connection, path), schema::layout(&connection, path)?) {
            (Ok(version), Some(layout)) if version == layout => version,
            (Err(Error::Damaged { detail, .. }), Some(layout)) => {
                survey.findings.push(detail);
                layout
            }
            (Ok(version), Some(layout)) => {
                survey.findings.push(format!("its schema version is {version}, but its tables are those of version {layout}"));
                layout
            }
            (version, _) => {
                schema::check_tables(&connection, path, version?)?;
                return Err(Error::Damaged { path: path.to_path_buf(), detail: "its tables cannot be read".into() });
            }
        };
        if let Err(Error::Damaged { detail, .. }) = schema::integrity(&connection, path, "integrity_check") {
            survey.findings.push(detail);
        }
        let has_facts = version >= schema::WITH_FACTS;
        survey.problem = survey.noting(problem::read(&connection, has_facts));
        let tally = if has_facts { survey.noting(Tally::read(&connection)) } else { None };
        if has_facts {
            survey.facts = survey.noting(fact::all(&connection).map_err(|error| error.to_string())).unwrap_or_default();
        }
        survey.asked = survey.noting(asked(&connection)).unwrap_or_default();
        if version == 1 {
            return Err(Error::Damaged { path: path.to_path_buf(), detail: "its layout is of version 1".into() });
        }
        if version >= schema::WITH_PROPOSALS {
            survey.find_proposals(&connection);
        }
        let (rows, unreadable) = every_row(&connection, row::columns(version), tally.map_or(0, |tally| tally.next));
        survey.sort(rows, unreadable, tally);
        Ok(survey)
    }

    /// Whether everything is intact.
    pub fn is_sound(&self) -> bool {
        self.lost == 0 && self.damaged.is_empty() && self.findings.is_empty()
    }

    fn noting<T>(&mut self, found: Result<T, String>) -> Option<T> {
        found.map_err(|finding| self.findings.push(finding)).ok()
    }

    /// The proposals that are as they were written. Those that are not can be drawn again, or stand in their simulation's row.
    fn find_proposals(&mut self, connection: &Connection) {
        let counted = self.noting(Count::read(connection));
        let rows = self.noting(proposal::all(connection).map_err(|error| format!("not every proposal can be read: {error}")));
        let all = rows.unwrap_or_default();
        if counted.is_some_and(|counted| counted != Count::of(&all)) {
            self.findings.push("the proposals have changed since they were written".into());
        }
        for row in all {
            match row.proposal() {
                Ok(_) => self.proposals.push(row),
                Err(finding) => self.findings.push(finding),
            }
        }
    }

    fn sort(&mut self, rows: Found, unreadable: Option<String>, tally: Option<Tally>) {
        self.findings.extend(unreadable);
        let mut found = Tally::default();
        let outputs = self.problem.as_ref().map(StoredProblem::outputs).unwrap_or_default();
        for (index, row) in rows {
            let fits = |record: &Record| self.problem.as_ref().is_none_or(|problem| fits(problem, outputs, record));
            match row.and_then(|row| row.record().map(|record| (row, record))) {
                Ok((row, record)) if fits(&record) => {
                    self.unprotected += u64::from(row.checksum.is_none());
                    found.add(record.index, row.checksum, record.source);
                    self.rows.push((row, record));
                }
                _ => self.damaged.extend(u64::try_from(index)),
            }
        }
        if tally.is_some_and(|tally| tally.protected == tally.rows) {
            // Every row had a checksum; one without it is not intact.
            let (bare, rows): (Vec<_>, Vec<_>) = std::mem::take(&mut self.rows).into_iter().partition(|(row, _)| row.checksum.is_none());
            self.rows = rows;
            self.unprotected = 0;
            found.rows -= bare.len() as u64;
            found.elsewhere -= bare.iter().filter(|(_, record)| record.source != Source::Run).count() as u64;
            self.damaged.extend(bare.iter().map(|(_, record)| record.index));
        }
        self.sound = self.rows.len() as u64;
        self.lost = self.damaged.len() as u64;
        let Some(tally) = tally else { return };
        self.lost = self.lost.max(tally.rows.saturating_sub(found.rows));
        self.lost_elsewhere = tally.elsewhere.saturating_sub(found.elsewhere);
        if self.lost == 0
            && let Some(finding) = tally.disagrees_with(&found)
        {
            self.findings.push(finding);
        }
        self.name_the_missing(tally.next);
    }

    /// Where every hole below the highest index is accounted for by what was lost, the holes are what was lost.
    fn name_the_missing(&mut self, next: u64) {
        let there: BTreeSet<u64> = self.rows.iter().map(|(_, record)| record.index).collect();
        let holes: Vec<u64> = (0..next).filter(|index| !there.contains(index)).take(self.lost as usize + 1).collect();
        if holes.len() as u64 == self.lost {
            self.damaged = holes;
        }
    }
}

fn fits(problem: &StoredProblem, outputs: Outputs, record: &Record) -> bool {
    let fits = |values: &Vec<f64>| outputs.fits(values.len(), problem.statistics.len());
    record.parameters.len() == problem.parameters.len()
        && record.outcome.statistics.as_ref().is_none_or(fits)
        && record.outcome.status.is_ok() == record.outcome.statistics.is_some()
        && (record.source != Source::Run || record.seed.is_some())
}

fn asked(connection: &Connection) -> Result<Vec<(i64, String)>, String> {
    let read = || {
        let mut query = connection.prepare("SELECT id, since FROM asked ORDER BY id")?;
        query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<Vec<_>>>()
    };
    read().map_err(|error| format!("the list of handed-out simulations cannot be read: {error}"))
}

/// Rows by index from both ends up to what cannot be read, and what lies between one by one; with the reason, if there was any.
fn every_row(connection: &Connection, columns: &str, next: u64) -> (Found, Option<String>) {
    let mut rows = BTreeMap::new();
    let Err(reason) = walk(connection, columns, "ORDER BY id", &mut rows) else { return (rows, None) };
    let from = rows.last_key_value().map_or(0, |(&index, _)| index.saturating_add(1));
    let mut above = BTreeMap::new();
    let _ = walk(connection, columns, "ORDER BY id DESC", &mut above);
    let until = above.first_key_value().map_or(0, |(&index, _)| index).max(i64::try_from(next).unwrap_or(0)).min(from.saturating_add(GAP));
    for index in from..until {
        let _ = walk(connection, columns, &format!("WHERE id = {index}"), &mut rows);
    }
    rows.extend(above);
    (rows, Some(format!("not every page can be read: {reason}")))
}

fn walk(connection: &Connection, columns: &str, which: &str, rows: &mut Found) -> Result<(), rusqlite::Error> {
    let mut query = connection.prepare(&format!("SELECT {columns} FROM simulation {which}"))?;
    let mut found = query.query([])?;
    while let Some(row) = found.next()? {
        let index = row.get(0)?;
        rows.insert(index, Row::read(row));
    }
    Ok(())
}
