//! The tables, their versions, and whether a file has them undamaged.

use super::problem::{self, Problem};
use crate::Error;
use rusqlite::{Connection, Transaction};
use std::path::Path;

/// Marks a SQLite file as a kelfi store: "KELF".
const APPLICATION: i64 = 0x4b45_4c46;

/// The version this library writes.
pub(super) const VERSION: i64 = 2;

/// Version 1: the problem and its simulations. Numbers stand in JSON arrays, seeds as decimal text (SQLite's integers are signed).
const VERSION_1: &str = "
CREATE TABLE problem (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    text TEXT NOT NULL,
    hash TEXT NOT NULL,
    parameters TEXT NOT NULL,
    statistics TEXT NOT NULL,
    seed TEXT NOT NULL
) STRICT;
CREATE TABLE simulation (
    id INTEGER PRIMARY KEY CHECK (id >= 0),
    parameters TEXT NOT NULL,
    statistics TEXT,
    status TEXT NOT NULL,
    seed TEXT,
    seconds REAL,
    message TEXT NOT NULL,
    CHECK ((status = 'ok') = (statistics IS NOT NULL))
) STRICT;";

/// Version 2: where a result came from, and which simulations were handed out to be made elsewhere.
const VERSION_2: &str = "
ALTER TABLE simulation ADD COLUMN source TEXT NOT NULL DEFAULT 'run';
CREATE TABLE asked (id INTEGER PRIMARY KEY CHECK (id >= 0), since TEXT NOT NULL) STRICT;";

/// The step to version `n` stands at `n - 1`. A new version is a new entry; old ones never change.
const STEPS: [&str; VERSION as usize] = [VERSION_1, VERSION_2];

/// Whether the file has no table and no mark: new, or abandoned before its first commit.
pub(super) fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(tables == 0 && pragma(connection, "application_id")? == 0)
}

/// Makes all tables and the problem's row in one transaction.
pub(super) fn create(connection: &Connection, problem: &Problem) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    take_steps(&transaction, 0)?;
    problem::write(&transaction, problem)?;
    transaction.commit()
}

/// The file's version, if it is a store this library knows.
pub(super) fn version(connection: &Connection, path: &Path) -> Result<i64, Error> {
    let failed = |error| Error::database(path, error);
    let not_ours = |reason: &str| Error::NotAStore { path: path.to_path_buf(), reason: reason.into() };
    if is_empty(connection).map_err(failed)? {
        return Err(not_ours("it is empty"));
    }
    if pragma(connection, "application_id").map_err(failed)? != APPLICATION {
        return Err(not_ours("it is the database of another application"));
    }
    match pragma(connection, "user_version").map_err(failed)? {
        found @ 1..=VERSION => Ok(found),
        found if found > VERSION => Err(Error::Newer { path: path.to_path_buf(), found, supported: VERSION }),
        found => Err(Error::Damaged { path: path.to_path_buf(), detail: format!("its schema version is {found}") }),
    }
}

/// Brings an older store up to date, whole or not at all.
pub(super) fn migrate(connection: &Connection, path: &Path) -> Result<(), Error> {
    let from = version(connection, path)?;
    if from == VERSION {
        return Ok(());
    }
    let steps = || {
        let transaction = connection.unchecked_transaction()?;
        take_steps(&transaction, from)?;
        transaction.commit()
    };
    steps().map_err(|error| Error::database(path, error))
}

/// The problem, once the tables are known to be there with the columns they need.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<Problem, Error> {
    let damaged = |detail: String| Error::Damaged { path: path.to_path_buf(), detail };
    for query in
        ["SELECT id, parameters, statistics, status, seed, seconds, message, source FROM simulation", "SELECT id, since FROM asked"]
    {
        connection.prepare(query).map_err(|error| match Error::database(path, error) {
            Error::Database { source, .. } => damaged(source.to_string()),
            other => other,
        })?;
    }
    problem::read(connection).map_err(damaged)
}

/// Runs SQLite's own examination (`quick_check` or `integrity_check`) and reports its first finding.
pub(super) fn integrity(connection: &Connection, path: &Path, examination: &str) -> Result<(), Error> {
    let finding: String =
        connection.query_row(&format!("PRAGMA {examination}(1)"), [], |row| row.get(0)).map_err(|error| Error::database(path, error))?;
    if finding == "ok" { Ok(()) } else { Err(Error::Damaged { path: path.to_path_buf(), detail: finding }) }
}

fn take_steps(transaction: &Transaction<'_>, from: i64) -> rusqlite::Result<()> {
    for step in STEPS.iter().skip(usize::try_from(from).unwrap_or(0)) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}
