//! Figures as files for papers: each as SVG, as PNG and its numbers as CSV.

use crate::failure::Failure;
use kelfi_report::Figure;
use kelfi_run::files;
use std::path::{Path, PathBuf};

/// Writes every figure into a folder, which is made if it is not there; the files written.
pub fn write<'a>(figures: impl Iterator<Item = &'a Figure>, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    std::fs::create_dir_all(folder).map_err(|source| kelfi_run::Error::File { path: folder.to_path_buf(), source })?;
    let mut written = vec![];
    for figure in figures {
        let contents = [("svg", figure.standalone().into_bytes()), ("png", figure.png()?), ("csv", figure.csv.clone().into_bytes())];
        for (kind, bytes) in contents {
            let path = folder.join(format!("{}.{kind}", figure.id));
            files::write_bytes_atomically(&path, &bytes)?;
            written.push(path);
        }
    }
    Ok(written)
}
