//! The tables, their versions, and whether a file has them undamaged.

use super::problem::{self, StoredProblem};
use super::proposal::Count;
use super::tally::Tally;
use crate::Error;
use rusqlite::{Connection, Transaction};
use std::collections::BTreeMap;
use std::path::Path;

/// Marks a SQLite file as a kelfi store: "KELF".
const APPLICATION: i64 = 0x4b45_4c46;

/// The version this library writes.
pub(super) const VERSION: i64 = 4;

/// The first version with checksums and facts.
pub(super) const WITH_FACTS: i64 = 3;

/// The first version with proposals.
pub(super) const WITH_PROPOSALS: i64 = 4;

/// The oldest version that is read as it is; older ones are brought up to date first.
pub(super) const READABLE: i64 = 2;

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

/// Version 3: which state of the simulator made a row, checksums, and facts by name. Rows of older versions have no checksum.
const VERSION_3: &str = "
ALTER TABLE simulation ADD COLUMN simulator INTEGER;
ALTER TABLE simulation ADD COLUMN checksum INTEGER;
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT, WITHOUT ROWID;";

/// Version 4: parameters are kept when they are handed out, and every simulation says where its own come from. Rows of older versions
/// do not say it.
const VERSION_4: &str = "
ALTER TABLE simulation ADD COLUMN origin TEXT;
CREATE TABLE proposal (id INTEGER PRIMARY KEY CHECK (id >= 0), parameters TEXT NOT NULL, origin TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;";

/// The step to version `n` stands at `n - 1`. A new version is a new entry; old ones never change.
const STEPS: [&str; VERSION as usize] = [VERSION_1, VERSION_2, VERSION_3, VERSION_4];

/// Whether the file has no table and no mark: new, or abandoned before its first commit.
pub(super) fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(tables == 0 && pragma(connection, "application_id")? == 0)
}

/// Makes all tables and the problem's row in one transaction.
pub(super) fn create(connection: &Connection, problem: &StoredProblem) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    take_steps(&transaction, 0)?;
    problem::write(&transaction, problem)?;
    Tally::default().write(&transaction)?;
    Count::default().write(&transaction)?;
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
        if layout(connection, path)?.is_some() {
            return Err(Error::Damaged { path: path.to_path_buf(), detail: "its application ID is damaged".into() });
        }
        return Err(not_ours("it is a database of another application"));
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
        if from < WITH_FACTS {
            Tally::begin(&transaction)?;
        }
        Count::default().write(&transaction)?;
        transaction.commit()
    };
    steps().map_err(|error| Error::database(path, error))
}

/// The problem, once the tables are known to be exactly those of this version. A stranger's file may hold views without end and
/// triggers that write; whatever is not ours is refused before anything of it is evaluated.
pub(super) fn check(connection: &Connection, path: &Path, version: i64) -> Result<StoredProblem, Error> {
    let damaged = |detail: String| Error::Damaged { path: path.to_path_buf(), detail };
    check_tables(connection, path, version)?;
    problem::read(connection, version >= WITH_FACTS).map_err(damaged)
}

/// Refuses everything but the tables of this version, written as they were made.
pub(super) fn check_tables(connection: &Connection, path: &Path, version: i64) -> Result<(), Error> {
    let failed = |error| Error::database(path, error);
    let expected = tables_of(version).map_err(failed)?;
    let found = objects(connection).map_err(failed)?;
    if let Some(other) = layout(connection, path)?.filter(|&other| other != version) {
        let detail = format!("its schema version is {version}, but its tables are those of version {other}");
        return Err(Error::Damaged { path: path.to_path_buf(), detail });
    }
    if let Some((name, (kind, _))) = found.iter().find(|(name, _)| !expected.contains_key(*name)) {
        let reason = format!("it contains the {kind} `{name}`, which is not part of a kelfi store");
        return Err(Error::NotAStore { path: path.to_path_buf(), reason });
    }
    for (name, (kind, text)) in &expected {
        let detail = match found.get(name) {
            None => format!("the table `{name}` is missing"),
            Some((other, _)) if other != kind => {
                let reason = format!("its `{name}` is a {other}, not a {kind}");
                return Err(Error::NotAStore { path: path.to_path_buf(), reason });
            }
            Some((_, found)) if found != text => format!("the table `{name}` has different columns from those it was created with"),
            Some(_) => continue,
        };
        return Err(Error::Damaged { path: path.to_path_buf(), detail });
    }
    Ok(())
}

/// The version whose tables the file has exactly, if there is one.
pub(super) fn layout(connection: &Connection, path: &Path) -> Result<Option<i64>, Error> {
    let failed = |error| Error::database(path, error);
    let found = objects(connection).map_err(failed)?;
    for version in (1..=VERSION).rev() {
        if tables_of(version).map_err(failed)? == found {
            return Ok(Some(version));
        }
    }
    Ok(None)
}

/// Kind and text without white space of each object by name; SQLite's own (`sqlite_..`) left out.
type Objects = BTreeMap<String, (String, String)>;

fn objects(connection: &Connection) -> rusqlite::Result<Objects> {
    let mut query =
        connection.prepare("SELECT name, type, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")?;
    let rows = query.query_map([], |row| {
        let text: String = row.get(2)?;
        Ok((row.get(0)?, (row.get(1)?, text.split_whitespace().collect())))
    })?;
    rows.collect()
}

fn tables_of(version: i64) -> rusqlite::Result<Objects> {
    let model = Connection::open_in_memory()?;
    STEPS.iter().take(usize::try_from(version).unwrap_or(0)).try_for_each(|step| model.execute_batch(step))?;
    objects(&model)
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
