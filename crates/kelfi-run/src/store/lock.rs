//! One writer at a time: an operating-system lock on a file beside the store, which also names its holder.
//!
//! The system releases the lock when its holder dies, however it dies, so there is no stale owner to guess about.

use super::companion;
use super::create::kind_of;
use crate::Error;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Who writes to a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Process number.
    pub pid: u32,
    /// Name of the machine.
    pub host: String,
    /// When it began, UTC.
    pub since: String,
}

impl Owner {
    /// Whether it was a process of this machine that is no more.
    fn is_gone(&self) -> bool {
        let Ok(pid) = libc::pid_t::try_from(self.pid) else { return false };
        // SAFETY: signal 0 only asks whether the process exists.
        let missing = || unsafe { libc::kill(pid, 0) } != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH);
        pid > 0 && self.host == host() && missing()
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "process {} on {} (since {})", self.pid, self.host, self.since)
    }
}

/// The right to write to a store, until dropped.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

/// How long to try again while the holder lives: one that was killed a moment ago may still be on its way out.
const LEAVING: Duration = Duration::from_millis(300);

/// How long to try again when the holder is dead: a program it was just starting holds the lock until it has begun.
const GONE: Duration = Duration::from_secs(5);

impl Lock {
    /// The lock of the store at `store`, or [`Error::InUse`] naming its holder.
    pub fn acquire(store: &Path) -> Result<Self, Error> {
        let path = companion(store, ".lock");
        let failed = |error| Error::file(&path, error);
        let began = Instant::now();
        loop {
            let mut file = open(&path)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    let owner = named_in(&mut file);
                    if began.elapsed() < if owner.is_gone() { GONE } else { LEAVING } {
                        std::thread::sleep(Duration::from_millis(5));
                        continue;
                    }
                    return Err(Error::InUse { path: store.to_path_buf(), owner });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                // The former holder removes the file as it leaves: a lock on a file without a name is worth nothing.
                Ok(()) if !is_still_there(&path, &file).map_err(failed)? => continue,
                Ok(()) => {}
            }
            file.set_len(0).map_err(failed)?;
            let owner = serde_json::to_string(&this_process()).map_err(|error| failed(error.into()))?;
            file.write_all(owner.as_bytes()).map_err(failed)?;
            return Ok(Self { path, _file: file });
        }
    }
}

/// Opens or makes the lock file: a plain file of its own, never what a link leads to.
fn open(path: &Path) -> Result<File, Error> {
    let not_plain = |kind| Err(Error::NotPlain { path: path.to_path_buf(), kind });
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) => {
            return match std::fs::symlink_metadata(path) {
                Ok(found) if !found.is_file() => not_plain(kind_of(found.file_type())),
                _ => Err(Error::file(path, error)),
            };
        }
    };
    let found = file.metadata().map_err(|error| Error::file(path, error))?;
    match found {
        found if !found.is_file() => not_plain(kind_of(found.file_type())),
        found if found.nlink() > 1 => not_plain("a hard link to another file"),
        _ => Ok(file),
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while still locked; `is_still_there` protects whoever opened it a moment before.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn is_still_there(path: &Path, file: &File) -> std::io::Result<bool> {
    let held = file.metadata()?;
    match std::fs::symlink_metadata(path) {
        Ok(found) => Ok(found.ino() == held.ino() && found.dev() == held.dev()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn named_in(file: &mut File) -> Owner {
    let mut text = String::new();
    let owner = file.read_to_string(&mut text).ok().and_then(|_| serde_json::from_str(&text).ok());
    // The holder may be just about to write its name.
    owner.unwrap_or_else(|| Owner { pid: 0, host: "this or another machine".into(), since: "a moment ago".into() })
}

fn this_process() -> Owner {
    Owner { pid: std::process::id(), host: host(), since: now() }
}

fn host() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: the buffer outlives the call and its length is given.
    let failed = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) } != 0;
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    if failed { "an unnamed machine".into() } else { String::from_utf8_lossy(&name[..end]).into_owned() }
}

/// The present in UTC, as SQLite writes it.
pub(super) fn now() -> String {
    let asked = rusqlite::Connection::open_in_memory()
        .and_then(|connection| connection.query_row("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')", [], |row| row.get(0)));
    asked.unwrap_or_else(|_| "an unknown time".into())
}
