//! The durable table of simulations: SQLite, one row each, written before it counts.
//!
//! One process writes at a time (a lock file names it), any number read meanwhile. The store never starts anything: it holds the
//! problem as text, and what to do with that text is the caller's decision.

mod asked;
mod create;
mod export;
mod fact;
mod lock;
mod made_by;
mod mend;
mod origin;
mod problem;
mod proposal;
mod record;
mod row;
mod schema;
mod survey;
mod table;
mod tally;

pub use lock::Owner;
pub use made_by::{Files, MadeBy};
pub use mend::Mended;
pub use origin::{Origin, UnknownOrigin};
pub use problem::{OUTPUTS, StoredProblem};
pub use proposal::Proposal;
pub use record::{Record, Source, Told};
pub use survey::Survey;
pub use table::{Counts, Table};

use crate::Error;
use crate::files::directory_of;
use lock::Lock;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for the short moments in which SQLite needs a file for itself.
const BUSY: Duration = Duration::from_secs(10);

/// An open store.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    // Before the lock, so that the database is closed when another process may take over.
    connection: Connection,
    problem: StoredProblem,
    /// Its layout; a writer's is always the present one.
    version: i64,
    /// The state of the simulator that makes rows from here on, where it is known.
    simulator: Option<i64>,
    lock: Option<Lock>,
}

impl Store {
    /// A new store for this problem, or the existing one if it was made for the same problem; otherwise
    /// [`Error::ChangedProblem`] lists the differences. Makes the directory if need be. A store whose making was cut short is made
    /// anew.
    pub fn open_or_create(path: &Path, problem: &StoredProblem) -> Result<Self, Error> {
        let directory = directory_of(path);
        std::fs::create_dir_all(directory).map_err(|error| Error::file(directory, error))?;
        create::require_plain(path)?;
        let lock = Lock::acquire(path)?;
        if create::is_half_made(path)? {
            create::create(path, problem)?;
        }
        let store = Self::writing(path, lock)?;
        match problem.differences_from(&store.problem) {
            differences if differences.is_empty() => Ok(store),
            differences => Err(Error::ChangedProblem { differences }),
        }
    }

    /// Whether there is a store, and not only the beginning of one that was cut short.
    pub fn exists(path: &Path) -> Result<bool, Error> {
        create::require_plain(path)?;
        Ok(!create::is_half_made(path)?)
    }

    /// An existing store, to be written. A store of an older version is brought up to date.
    pub fn open(path: &Path) -> Result<Self, Error> {
        require_file(path)?;
        let lock = Lock::acquire(path)?;
        Self::writing(path, lock)
    }

    /// An existing store, to be read, also while another process writes to it.
    pub fn read(path: &Path) -> Result<Self, Error> {
        require_file(path)?;
        let connection = connect_reading(path)?;
        let version = schema::version(&connection, path)?;
        if version < schema::READABLE {
            drop(connection);
            // Reading would need the old layout; bringing it up to date takes a moment and the writer's lock.
            drop(Self::open(path)?);
            return Self::read(path);
        }
        let problem = schema::check(&connection, path, version)?;
        Ok(Self { path: path.to_path_buf(), connection, problem, version, simulator: None, lock: None })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The problem it was made for.
    pub fn problem(&self) -> &StoredProblem {
        &self.problem
    }

    /// Replaces the problem, for changes that leave every simulation valid (another observation, another budget). The names of
    /// parameters and statistics and the seed must stay.
    pub fn replace_problem(&mut self, problem: &StoredProblem) -> Result<(), Error> {
        self.require_writable()?;
        if problem.parameters != self.problem.parameters
            || problem.statistics != self.problem.statistics
            || problem.seed != self.problem.seed
        {
            return Err(Error::ChangedProblem { differences: problem.differences_from(&self.problem) });
        }
        self.put_problem(problem)
    }

    /// Takes over any other problem where nothing of the former one is worth keeping: no success, nothing from elsewhere, nothing handed out.
    /// Its failures and proposals are forgotten. Says whether it did.
    pub fn begin_again(&mut self, problem: &StoredProblem) -> Result<bool, Error> {
        self.require_writable()?;
        let worth = "SELECT count(*) FROM simulation WHERE status = 'ok' OR source <> 'run'";
        let kept: i64 = self.connection.query_row(worth, [], |row| row.get(0)).map_err(self.failed())?;
        if kept > 0 || !self.outstanding()?.is_empty() {
            return Ok(false);
        }
        self.forget_failures()?;
        self.forget_proposals()?;
        self.put_problem(problem)?;
        Ok(true)
    }

    fn put_problem(&mut self, problem: &StoredProblem) -> Result<(), Error> {
        problem::write(&self.connection, problem).map_err(|error| Error::database(&self.path, error))?;
        self.problem = problem.clone();
        Ok(())
    }

    /// Reads every page, every index and every row and reports the first damage found. Takes a while for a large store.
    pub fn verify(&self) -> Result<(), Error> {
        schema::integrity(&self.connection, &self.path, "integrity_check")?;
        self.proposals()?;
        self.for_each(|_| Ok(()))
    }

    fn writing(path: &Path, lock: Lock) -> Result<Self, Error> {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let version = schema::version(&connection, path)?;
        schema::check_tables(&connection, path, version)?;
        schema::integrity(&connection, path, "quick_check")?;
        make_durable(&connection).map_err(|error| Error::database(path, error))?;
        schema::migrate(&connection, path)?;
        let problem = schema::check(&connection, path, schema::VERSION)?;
        Ok(Self { path: path.to_path_buf(), connection, problem, version: schema::VERSION, simulator: None, lock: Some(lock) })
    }

    fn has_facts(&self) -> bool {
        self.version >= schema::WITH_FACTS
    }

    fn has_proposals(&self) -> bool {
        self.version >= schema::WITH_PROPOSALS
    }

    fn require_writable(&self) -> Result<(), Error> {
        match &self.lock {
            Some(_) => Ok(()),
            None => Err(Error::NotWritable { path: self.path.clone(), detail: "this store was opened for reading".into() }),
        }
    }

    fn failed(&self) -> impl Fn(rusqlite::Error) -> Error + '_ {
        |error| Error::database(&self.path, error)
    }
}

fn require_file(path: &Path) -> Result<(), Error> {
    if Store::exists(path)? { Ok(()) } else { Err(Error::Missing { path: path.to_path_buf() }) }
}

/// The file that SQLite keeps beside a store under this ending.
fn companion(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let open = || {
        let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(BUSY)?;
        // A store may come from a stranger: nothing in its schema is to be trusted.
        connection.pragma_update(None, "trusted_schema", false)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        Ok(connection)
    };
    open().map_err(|error| Error::database(path, error))
}

/// A connection for reading. In a directory that cannot be written, WAL has no place for its shared memory; a store without a
/// pending log is then read as the unchanging file it is.
fn connect_reading(path: &Path) -> Result<Connection, Error> {
    let usable = |connection: Connection| match connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())) {
        Ok(()) => Ok(connection),
        Err(error) => Err(Error::database(path, error)),
    };
    let ordinary = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).and_then(usable);
    let log = companion(path, "-wal");
    match ordinary {
        Err(Error::NotWritable { .. }) if !log.exists() => {
            let address = format!("file:{}?immutable=1", escaped(path));
            connect(Path::new(&address), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI).and_then(usable)
        }
        other => other,
    }
}

/// A path as part of a URI.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}

/// Every commit is on the disk before it is acknowledged; readers are never blocked.
fn make_durable(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    #[test]
    fn a_full_disk_is_a_typed_error_and_nothing_acknowledged_is_lost() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.sqlite");
        let problem = StoredProblem { text: "{}".into(), parameters: vec!["p".into()], statistics: vec!["s".into()], seed: 1 };
        let mut store = Store::open_or_create(&path, &problem).unwrap();
        // SQLite reports its own page limit exactly as it reports a full disk.
        store.connection.query_row("PRAGMA max_page_count = 20", [], |_| Ok(())).unwrap();
        let record = |index| Record {
            index,
            parameters: vec![0.5],
            outcome: Outcome::ok(vec![1.0 / 3.0]),
            seed: None,
            seconds: None,
            source: Source::Run,
            origin: Origin::Prior,
        };
        let mut acknowledged = 0;
        let error = loop {
            let batch: Vec<Record> = (acknowledged..acknowledged + 50).map(record).collect();
            match store.record(&batch) {
                Ok(new) => acknowledged += new as u64,
                Err(error) => break error,
            }
        };
        assert!(matches!(error, Error::Full { .. }), "{error:?}");
        drop(store);
        let store = Store::open(&path).unwrap();
        store.verify().unwrap();
        assert!(acknowledged > 0);
        assert_eq!(store.table().unwrap().indices, (0..acknowledged).collect::<Vec<_>>());
    }
}
