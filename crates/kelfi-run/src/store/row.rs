//! A row as SQLite holds it: texts, their checksum, and the record they mean.

use super::record::{Record, Source};
use crate::Status;
use crate::checksum::Checksum;
use crate::task::Outcome;
use rusqlite::types::FromSql;
use rusqlite::{Connection, params};

/// The columns of a row, in the order of [`Row::read`].
pub(super) const COLUMNS: &str = "id, parameters, statistics, status, seed, seconds, message, source, simulator, checksum, origin";

/// The same for a store of this version; older ones lack some, and those of version 1 are brought up to date first.
pub(super) fn columns(version: i64) -> &'static str {
    match version {
        ..=2 => "id, parameters, statistics, status, seed, seconds, message, source, NULL, NULL, NULL",
        3 => "id, parameters, statistics, status, seed, seconds, message, source, simulator, checksum, NULL",
        _ => COLUMNS,
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub index: i64,
    pub parameters: String,
    pub statistics: Option<String>,
    pub status: String,
    pub seed: Option<String>,
    pub seconds: Option<f64>,
    pub message: String,
    pub source: String,
    /// Which state of the simulator made it, where that is known.
    pub simulator: Option<i64>,
    /// Missing in rows of older versions.
    pub checksum: Option<i64>,
    /// Missing in rows of older versions too, which knew the prior and files.
    pub origin: Option<String>,
}

impl Row {
    /// The row of a record, made by this state of the simulator.
    pub fn of(record: &Record, simulator: Option<i64>) -> Self {
        let outcome = &record.outcome;
        let mut row = Self {
            index: record.index.cast_signed(),
            parameters: numbers(&record.parameters),
            statistics: outcome.statistics.as_deref().map(numbers),
            status: outcome.status.word().to_owned(),
            seed: record.seed.map(|seed| seed.to_string()),
            // SQLite keeps no sign of a zero and no NaN.
            seconds: record.seconds.filter(|seconds| seconds.is_finite()).map(|seconds| seconds + 0.0),
            message: outcome.message.clone(),
            source: record.source.word().to_owned(),
            simulator,
            checksum: None,
            origin: Some(record.origin.to_string()),
        };
        row.checksum = Some(row.sum());
        row
    }

    /// The checksum of everything else.
    pub fn sum(&self) -> i64 {
        let seconds = self.seconds.map(|seconds| seconds.to_bits().to_le_bytes());
        let simulator = self.simulator.map(i64::to_le_bytes);
        let sum = Checksum::default()
            .bytes(&self.index.to_le_bytes())
            .field(Some(self.parameters.as_bytes()))
            .field(self.statistics.as_deref().map(str::as_bytes))
            .field(Some(self.status.as_bytes()))
            .field(self.seed.as_deref().map(str::as_bytes))
            .field(seconds.as_ref().map(<[u8; 8]>::as_slice))
            .field(Some(self.message.as_bytes()))
            .field(Some(self.source.as_bytes()))
            .field(simulator.as_ref().map(<[u8; 8]>::as_slice));
        // A row without an origin has the checksum that it was given when there were none.
        self.origin.as_ref().map_or(sum, |origin| sum.field(Some(origin.as_bytes()))).value().cast_signed()
    }

    /// Reads [`COLUMNS`]; `Err` where a value cannot be what was written. The index is given wherever it can be read.
    pub fn read(row: &rusqlite::Row<'_>) -> Result<Self, String> {
        let index: i64 = row.get(0).map_err(|error| format!("a simulation has no index: {error}"))?;
        Ok(Self {
            index,
            parameters: value(row, 1, index)?,
            statistics: value(row, 2, index)?,
            status: value(row, 3, index)?,
            seed: value(row, 4, index)?,
            seconds: value(row, 5, index)?,
            message: value(row, 6, index)?,
            source: value(row, 7, index)?,
            simulator: value(row, 8, index)?,
            checksum: value(row, 9, index)?,
            origin: value(row, 10, index)?,
        })
    }

    /// What it means, once it is known to be what was written.
    pub fn record(&self) -> Result<Record, String> {
        let index = self.index;
        if self.checksum.is_some_and(|stored| stored != self.sum()) {
            return Err(format!("simulation {index} does not match its checksum"));
        }
        let array = |text: &str| {
            serde_json::from_str::<Vec<f64>>(text)
                .map_err(|error| format!("simulation {index}: {text:?} is not a list of numbers ({error})"))
        };
        let status: Status = self.status.parse().map_err(|error| format!("simulation {index}: {error}"))?;
        let seed = self.seed.as_ref().map(|seed| seed.parse().map_err(|_| format!("simulation {index} has the seed {seed:?}")));
        let source = Source::of(&self.source).ok_or_else(|| format!("simulation {index} has an unknown source"))?;
        let origin = match &self.origin {
            Some(text) => text.parse().map_err(|error| format!("simulation {index}: {error}"))?,
            None => source.usual_origin(),
        };
        Ok(Record {
            index: u64::try_from(index).map_err(|_| format!("simulation {index} has a negative index"))?,
            parameters: array(&self.parameters)?,
            outcome: Outcome { status, statistics: self.statistics.as_deref().map(array).transpose()?, message: self.message.clone() },
            seed: seed.transpose()?,
            seconds: self.seconds,
            source,
            origin,
        })
    }

    /// Inserts it in place of the row of its index, if there is one.
    pub fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let text = format!("INSERT OR REPLACE INTO simulation ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
        connection.prepare_cached(&text)?.execute(params![
            self.index,
            self.parameters,
            self.statistics,
            self.status,
            self.seed,
            self.seconds,
            self.message,
            self.source,
            self.simulator,
            self.checksum,
            self.origin,
        ])?;
        Ok(())
    }
}

fn value<T: FromSql>(row: &rusqlite::Row<'_>, at: usize, index: i64) -> Result<T, String> {
    row.get(at).map_err(|error| format!("simulation {index} cannot be read: {error}"))
}

/// Numbers as a JSON array, each in the shortest form that reads back as the same bits.
pub(super) fn numbers(values: &[f64]) -> String {
    let words: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    format!("[{}]", words.join(","))
}
