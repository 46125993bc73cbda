//! What a store must hold: how many rows, and the sum of their checksums, so that no row is lost or doubled unnoticed.

use super::fact;
use super::record::Source;
use rusqlite::{Connection, Transaction};
use serde::{Deserialize, Serialize};

const NAME: &str = "tally";

/// The tally, written in the same transaction as the rows it counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    /// Rows.
    pub rows: u64,
    /// Of them, with a checksum; those of older versions have none.
    pub protected: u64,
    /// Of them, made elsewhere: told or imported, so that nobody here can make them again.
    pub elsewhere: u64,
    /// The smallest index above all rows there ever were.
    pub next: u64,
    /// Sum of all checksums modulo 2⁶⁴: an order-free sum that every row enters once.
    pub sum: u64,
}

impl Tally {
    pub fn add(&mut self, index: u64, checksum: Option<i64>, source: Source) {
        self.rows += 1;
        self.protected += u64::from(checksum.is_some());
        self.elsewhere += u64::from(source != Source::Run);
        self.next = self.next.max(index + 1);
        self.sum = self.sum.wrapping_add(checksum.unwrap_or(0).cast_unsigned());
    }

    pub fn remove(&mut self, checksum: Option<i64>, source: Source) {
        self.rows = self.rows.saturating_sub(1);
        self.protected = self.protected.saturating_sub(u64::from(checksum.is_some()));
        self.elsewhere = self.elsewhere.saturating_sub(u64::from(source != Source::Run));
        self.sum = self.sum.wrapping_sub(checksum.unwrap_or(0).cast_unsigned());
    }

    /// What is wrong with the rows found, if they are not those counted.
    pub fn disagrees_with(&self, found: &Self) -> Option<String> {
        let same = self.rows == found.rows && self.protected == found.protected && self.sum == found.sum;
        (!same).then(|| {
            format!(
                "{} simulations were written but {} are present, {} of them with a matching checksum",
                self.rows, found.rows, found.protected
            )
        })
    }

    pub fn read(connection: &Connection) -> Result<Self, String> {
        let text = fact::read(connection, NAME)?.ok_or("the number of its simulations is missing")?;
        serde_json::from_str(&text).map_err(|error| format!("the number of its simulations cannot be read: {error}"))
    }

    pub fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let text = serde_json::json!(self).to_string();
        fact::write(connection, NAME, &text)
    }

    /// The tally of a store of an older version, whose rows have no checksums.
    pub fn begin(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let text = "SELECT count(*), coalesce(max(id) + 1, 0), coalesce(sum(source <> 'run'), 0) FROM simulation";
        let (rows, next, elsewhere) =
            transaction.query_row(text, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?)))?;
        let [rows, next, elsewhere] = [rows, next, elsewhere].map(i64::unsigned_abs);
        Self { rows, protected: 0, elsewhere, next, sum: 0 }.write(transaction)
    }
}

/// The name of the fact how many simulations made elsewhere there were before some were lost to damage.
pub(super) const ELSEWHERE: &str = "elsewhere";

/// Facts that a new store writes for itself.
pub(super) fn is_own(name: &str) -> bool {
    name == NAME
}
