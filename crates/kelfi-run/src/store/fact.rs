//! Small facts about a store by name, each with its checksum.

use super::Store;
use crate::Error;
use crate::checksum::Checksum;
use rusqlite::{Connection, OptionalExtension};

fn checksum(name: &str, value: &str) -> i64 {
    Checksum::default().field(Some(name.as_bytes())).field(Some(value.as_bytes())).value().cast_signed()
}

/// Writes a fact in place of the one with its name.
pub(super) fn write(connection: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("INSERT OR REPLACE INTO fact (name, value, checksum) VALUES (?1, ?2, ?3)")?;
    statement.execute((name, value, checksum(name, value))).map(drop)
}

/// The fact of this name, or what is wrong with it.
pub(super) fn read(connection: &Connection, name: &str) -> Result<Option<String>, String> {
    let found = connection
        .prepare_cached("SELECT value, checksum FROM fact WHERE name = ?1")
        .and_then(|mut query| query.query_row([name], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))).optional())
        .map_err(|error| format!("the fact `{name}` cannot be read: {error}"))?;
    match found {
        Some((value, stored)) if stored != checksum(name, &value) => Err(format!("the fact `{name}` does not match its checksum")),
        found => Ok(found.map(|(value, _)| value)),
    }
}

/// Every fact that matches its checksum, in the order of their names.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut query = connection.prepare("SELECT name, value, checksum FROM fact ORDER BY name")?;
    let rows = query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?)))?;
    let sound = rows.flatten().filter(|(name, value, stored)| *stored == checksum(name, value));
    Ok(sound.map(|(name, value, _)| (name, value)).collect())
}

impl Store {
    /// The fact of this name, if the store has it.
    pub fn fact(&self, name: &str) -> Result<Option<String>, Error> {
        if !self.has_facts() {
            return Ok(None);
        }
        read(&self.connection, name).map_err(|detail| self.damaged(detail))
    }

    /// Keeps a fact, in place of the one with its name.
    pub fn set_fact(&mut self, name: &str, value: &str) -> Result<(), Error> {
        self.require_writable()?;
        write(&self.connection, name, value).map_err(self.failed())
    }
}
