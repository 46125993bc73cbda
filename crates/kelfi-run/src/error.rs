//! What can go wrong with settings, stores and files: one sentence of fact, one of advice.

use crate::store::Owner;
use std::path::{Path, PathBuf};

/// Errors that stop a run or keep it from starting. A simulation that fails is not among them: it is a recorded [`crate::Status`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting of the simulator or of the run that cannot work.
    #[error("{fact}\n  {advice}")]
    Setting {
        /// What is wrong.
        fact: String,
        /// What to do.
        advice: String,
    },
    /// There is no store at this path.
    #[error("there is no store at {}\n  create one with `kelfi run` or `kelfi simulate`, or check the path", path.display())]
    Missing {
        /// Where it was expected.
        path: PathBuf,
    },
    /// Another process writes to the store.
    #[error("{} is in use by {owner}\n  wait for it to finish, or stop it; meanwhile `kelfi inspect` can read it", path.display())]
    InUse {
        /// The store.
        path: PathBuf,
        /// Who writes to it.
        owner: Owner,
    },
    /// A file that is not a kelfi store.
    #[error("{} is not a kelfi store: {reason}\n  choose another output directory; the file was not changed", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        reason: String,
    },
    /// Something that is no plain file where one is to be written or read.
    #[error("{} is {kind}, not a plain file\n  remove it, or choose another output directory; nothing was written to it", path.display())]
    NotPlain {
        /// Where.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// A store whose contents are damaged.
    #[error("{} is damaged: {detail}\n  `kelfi inspect DIR --verify` shows what is intact; `kelfi run DIR` keeps that and simulates the rest again", path.display())]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What SQLite or the checks found.
        detail: String,
    },
    /// A store made by a later version of kelfi.
    #[error("{} has schema version {found} but this kelfi knows versions up to {supported}\n  use the kelfi that made it, or a later one", path.display())]
    Newer {
        /// The store.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The latest this library knows.
        supported: i64,
    },
    /// No room to write.
    #[error("no space left to write {}\n  free some space and run again; everything recorded so far is kept", path.display())]
    Full {
        /// The file being written.
        path: PathBuf,
    },
    /// A place that cannot be written.
    #[error("{} cannot be written: {detail}\n  choose a directory you may write to with `--out`", path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        detail: String,
    },
    /// Any other failure of the database.
    #[error("{}: {source}", path.display())]
    Database {
        /// The store.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// Any other failure of reading or writing a file.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The problem differs from the one the store was made for.
    #[error("the problem differs from the one these simulations were made for:\n  {}\n  change it back, or choose another run directory with `--out`", differences.join("\n  "))]
    ChangedProblem {
        /// One line for each difference: key, value in the store, value now.
        differences: Vec<String>,
    },
    /// A simulation recorded before with another result.
    #[error("simulation {index} is already recorded with other {what}\n  results are never overwritten; remove that row")]
    Conflict {
        /// Its index.
        index: u64,
        /// What differs.
        what: &'static str,
    },
    /// A simulation whose parameters are not those that were handed out under its index.
    #[error(
        "simulation {index} was handed out with other parameters\n  give the result for those, or bring yours with `kelfi import` without a column `index`"
    )]
    NotProposed {
        /// Its index.
        index: u64,
    },
    /// A row of results that cannot be used.
    #[error("line {line}: {fact}\n  {advice}")]
    Results {
        /// One-based line of the file; the header is line 1.
        line: u64,
        /// What is wrong.
        fact: String,
        /// What to do.
        advice: String,
    },
}

impl Error {
    /// [`Error::Setting`] from its two sentences.
    pub(crate) fn setting(fact: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Setting { fact: fact.into(), advice: advice.into() }
    }

    /// What the system said about a file, sorted into the kinds a user can act upon.
    pub(crate) fn file(path: &Path, source: std::io::Error) -> Self {
        use std::io::ErrorKind as Kind;
        let path = path.to_path_buf();
        match source.kind() {
            Kind::StorageFull | Kind::QuotaExceeded => Self::Full { path },
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Self::NotWritable { path, detail: source.to_string() },
            _ => Self::File { path, source },
        }
    }

    /// What SQLite said about a store, sorted into the kinds a user can act upon.
    pub(crate) fn database(path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        let detail = source.to_string();
        let path = path.to_path_buf();
        match source.sqlite_error_code() {
            Some(Code::DiskFull) => Self::Full { path },
            Some(Code::ReadOnly | Code::CannotOpen | Code::PermissionDenied) => Self::NotWritable { path, detail },
            Some(Code::NotADatabase) => Self::NotAStore { path, reason: "it is not an SQLite database".into() },
            Some(Code::DatabaseCorrupt) => Self::Damaged { path, detail },
            _ => Self::Database { path, source },
        }
    }
}
