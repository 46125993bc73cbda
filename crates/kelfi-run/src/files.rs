//! Files that appear whole or not at all: write to a temporary neighbour, sync, rename, sync the directory.

use crate::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
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
fn sync_directory_of(path: &Path) -> Result<(), Error> {
    File::open(directory_of(path)).and_then(|directory| directory.sync_all()).map_err(|error| Error::file(path, error))
}

/// The neighbour written first; removed unless renamed away.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn beside(path: &Path) -> Result<Self, Error> {
        let name = path.file_name().ok_or_else(|| Error::file(path, std::io::ErrorKind::InvalidFilename.into()))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{}.tmp", std::process::id(), unique()));
        Ok(Self { path: path.with_file_name(hidden) })
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
