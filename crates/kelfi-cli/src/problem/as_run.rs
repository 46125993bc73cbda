//! The problem file as it goes into the run directory: with the seed, budget, folder and observation that were used.

use super::{Column, ProblemFile, SimulatorSource};
use crate::failure::Failure;
use kelfi::Outputs;
use std::path::{Component, Path, PathBuf};
use toml_edit::{DocumentMut, InlineTable, Value, value};

impl ProblemFile {
    /// The file's text, comments kept, with everything written out that came from options or other files, so that it can be run
    /// again from `directory`.
    pub fn as_run(&self, directory: &Path) -> Result<String, Failure> {
        let mut document: DocumentMut =
            self.text.parse().map_err(|error| Failure::unexpected(format!("the problem file cannot be rewritten: {error}")))?;
        document["name"] = value(self.name.as_str());
        document["seed"] = value(self.seed as i64);
        document["simulations"] = value(self.simulations as i64);
        // A run directory may have been moved away from its simulator; what it says then stays.
        if let Some(SimulatorSource::Program(program)) = &self.simulator
            && let Some(folder) = from(directory, &program.directory)
        {
            document["simulator"]["directory"] = value(folder.to_string_lossy().into_owned());
        }
        let from_file = document.get("observation").is_some_and(|observation| observation.get("file").is_some());
        if from_file && let Some(observation) = document["observation"].as_table_like_mut() {
            observation.remove("file");
            observation.insert("values", value(values_of(self.outputs, &self.observed_columns())));
        }
        Ok(document.to_string())
    }
}

/// Observed columns as they stand under `values`: a number for a statistic, a list for a column of rows.
pub fn values_of(outputs: Outputs, columns: &[Column]) -> InlineTable {
    let mut table = InlineTable::new();
    for (name, values) in columns {
        let one = values.first().copied().filter(|_| !outputs.in_rows());
        table.insert(name, one.map_or_else(|| Value::Array(values.iter().copied().collect()), Value::from));
    }
    table
}

/// `to` as seen from `directory`: relative where the directory lies below it, so that both can be moved together. `None` where one
/// of them does not exist.
fn from(directory: &Path, to: &Path) -> Option<PathBuf> {
    let (directory, to) = (directory.canonicalize().ok()?, to.canonicalize().ok()?);
    Some(match directory.strip_prefix(&to) {
        Ok(below) => {
            let up: PathBuf = below.components().map(|_| Component::ParentDir).collect();
            if up.as_os_str().is_empty() { PathBuf::from(".") } else { up }
        }
        Err(_) => to,
    })
}
