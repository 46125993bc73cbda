//! Making a store, whole or not at all, and telling one whose making was cut short from one that holds simulations.

use super::problem::StoredProblem;
use super::{companion, connect, make_durable, schema};
use crate::Error;
use crate::files::{self, Temporary};
use rusqlite::OpenFlags;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// How every SQLite file begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The smallest store has a page for each table; a file shorter than one page holds nothing.
const PAGE: u64 = 4096;

/// Refuses what only looks like a file: a pipe or a device would be waited for without end.
pub(super) fn require_plain(path: &Path) -> Result<(), Error> {
    let kind = match fs::metadata(path) {
        Err(error) if is_absent(&error) => match fs::symlink_metadata(path) {
            Ok(_) => "a link to nothing",
            Err(_) => return Ok(()),
        },
        Err(error) => return Err(Error::file(path, error)),
        Ok(found) if found.is_file() => return Ok(()),
        Ok(found) => kind_of(found.file_type()),
    };
    Err(Error::NotPlain { path: path.to_path_buf(), kind })
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

pub(super) fn kind_of(found: fs::FileType) -> &'static str {
    match found {
        found if found.is_dir() => "a directory",
        found if found.is_fifo() => "a pipe",
        found if found.is_socket() => "a socket",
        found if found.is_symlink() => "a symbolic link",
        _ => "a device",
    }
}

/// Whether there is nothing yet, or only what is left of a store whose making was cut short by a kill or a full disk: no byte,
/// less than a page of a database, or a database without a table and without our mark.
pub(super) fn is_half_made(path: &Path) -> Result<bool, Error> {
    let failed = |error| Error::file(path, error);
    let mut file = match File::open(path) {
        Err(error) if is_absent(&error) => return Ok(true),
        other => other.map_err(failed)?,
    };
    let length = file.metadata().map_err(failed)?.len();
    if length == 0 && fs::metadata(companion(path, "-wal")).is_ok_and(|log| log.len() > 0) {
        return Err(Error::Damaged { path: path.to_path_buf(), detail: "it is empty, but its log (store.sqlite-wal) is not".into() });
    }
    if length < PAGE {
        let mut begin = vec![0; MAGIC.len().min(length as usize)];
        file.read_exact(&mut begin).map_err(failed)?;
        return Ok(MAGIC.starts_with(&begin));
    }
    // A store that is more than its beginning has a table in its first page; only a file of a page or two need be looked into.
    if length > 2 * PAGE {
        return Ok(false);
    }
    let connection = super::connect_reading(path)?;
    Ok(schema::is_empty(&connection).unwrap_or(false))
}

/// Makes a new store beside its place and moves it there, so that a kill or a full disk leaves nothing that is half a store. The
/// caller holds the lock, and there is nothing at `path` worth keeping.
pub(super) fn create(path: &Path, problem: &StoredProblem) -> Result<(), Error> {
    put_in_place(path, |temporary| {
        let failed = |error| Error::database(path, error);
        let connection = connect(temporary, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        schema::create(&connection, problem).map_err(failed)?;
        make_durable(&connection).map_err(failed)?;
        connection.close().map_err(|(_, error)| failed(error))
    })
}

/// Lets `make` write a whole database under another name, syncs it and moves it to `path`. Nothing is left on failure.
pub(super) fn put_in_place(path: &Path, make: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    // A link to a store elsewhere stays a link.
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    files::remove_abandoned(&place);
    let temporary = Temporary::beside(&place)?;
    let made = make(temporary.path());
    for ending in ["-journal", "-wal", "-shm"] {
        let _ = fs::remove_file(companion(temporary.path(), ending));
    }
    made?;
    let failed = |error| Error::file(path, error);
    File::open(temporary.path()).and_then(|file| file.sync_all()).map_err(failed)?;
    // A log that belonged to the former file must never be applied to the new one.
    for ending in ["-wal", "-shm", "-journal"] {
        match fs::remove_file(companion(&place, ending)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    fs::rename(temporary.path(), &place).map_err(failed)?;
    files::sync_directory_of(&place)
}
