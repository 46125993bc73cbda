//! Files that appear whole or not at all: write to a temporary neighbour, sync, rename, sync the directory.

use crate::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Writes `path` through `fill`. A reader sees the old contents or the new ones, also after a power loss; on failure the old ones
/// stay and nothing else is left behind.
pub fn write_atomically<T>(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<T, Error>) -> Result<T, Error> {
    let temporary = Temporary::beside(path)?;
    let mut writer = BufWriter::new(File::create_new(&temporary.path).map_err(|error| Error::file(path, error))?);
    let filled = fill(&mut writer)?;
    let file = writer.into_inner().map_err(|error| Error::file(path, error.into_error()))?;
    file.sync_all().map_err(|error| Error::file(path, error))?;
    fs::rename(&temporary.path, path).map_err(|error| Error::file(path, error))?;
    sync_directory_of(path)?;
    Ok(filled)
}

/// [`write_atomically`] for contents already at hand.
pub fn write_bytes_atomically(path: &Path, contents: &[u8]) -> Result<(), Error> {
    write_atomically(path, |writer| writer.write_all(contents).map_err(|error| Error::file(path, error)))
}

/// The directory a file lies in; `.` for a bare name.
pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A new name is durable only once its directory is.
pub(crate) fn sync_directory_of(path: &Path) -> Result<(), Error> {
    File::open(directory_of(path)).and_then(|directory| directory.sync_all()).map_err(|error| Error::file(path, error))
}

/// The neighbour written first; removed unless renamed away.
pub(crate) struct Temporary {
    path: PathBuf,
}

impl Temporary {
    pub(crate) fn beside(path: &Path) -> Result<Self, Error> {
        let mut hidden = hidden_prefix(path).ok_or_else(|| Error::file(path, std::io::ErrorKind::InvalidFilename.into()))?;
        hidden.push(format!("{}-{}.tmp", std::process::id(), unique()));
        Ok(Self { path: path.with_file_name(hidden) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// How the names of all temporary neighbours of this file begin.
fn hidden_prefix(path: &Path) -> Option<OsString> {
    let mut hidden = OsString::from(".");
    hidden.push(path.file_name()?);
    hidden.push(".");
    Some(hidden)
}

/// Removes temporary neighbours that a killed process left. Only for a file that nobody else can be writing.
pub(crate) fn remove_abandoned(path: &Path) {
    let (Some(prefix), Ok(entries)) = (hidden_prefix(path), fs::read_dir(directory_of(path))) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.as_bytes().starts_with(prefix.as_bytes()) && name.to_string_lossy().contains(".tmp");
        if ours {
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After the rename there is nothing under this name and the removal fails, as it should.
        let _ = fs::remove_file(&self.path);
    }
}

/// Different for every temporary file of this process.
fn unique() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn contents_are_replaced_and_nothing_else_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("summary.json");
        write_bytes_atomically(&path, b"old").unwrap();
        write_bytes_atomically(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["summary.json"]);
    }

    #[test]
    fn a_failure_halfway_leaves_the_old_contents_and_no_temporary_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("summary.json");
        write_bytes_atomically(&path, b"old").unwrap();
        let failed = write_atomically::<()>(&path, |writer| {
            writer.write_all(b"half").unwrap();
            Err(Error::setting("stopped", "try again"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(directory.path()), ["summary.json"]);
    }

    #[test]
    fn a_missing_directory_is_an_error_that_names_the_file() {
        let error = write_bytes_atomically(Path::new("/nonexistent-kelfi/summary.json"), b"x").unwrap_err();
        assert!(error.to_string().contains("/nonexistent-kelfi/summary.json"), "{error}");
    }
}
