//! The files a simulator's command names, and which simulations other versions of them made.

use crate::failure::Failure;
use crate::problem::{Program, SimulatorSource};
use kelfi::checks::{Check, Status};
use kelfi::words::counted;
use kelfi_run::Store;
use kelfi_run::checksum::Checksum;
use kelfi_run::store::Files;
use std::collections::BTreeSet;
use std::path::Path;

/// Simulations made by other versions of the simulator's files than the rest.
pub struct Mixture {
    /// How many.
    pub older: u64,
    /// Of so many.
    pub all: u64,
    /// The files that differ.
    pub files: BTreeSet<String>,
}

/// The files named in the command with their fingerprints: each argument that is an existing file (also after a `=`), and the
/// program itself where it is given by a path. Nothing for a built-in simulator.
pub fn of(simulator: &SimulatorSource) -> Files {
    let SimulatorSource::Program(program) = simulator else { return Files::new() };
    let named = program.command.iter().enumerate().flat_map(|(at, argument)| candidates(at, argument));
    named.filter_map(|name| Some((name.to_owned(), fingerprint(program, name)?))).collect()
}

fn candidates(at: usize, argument: &str) -> impl Iterator<Item = &str> {
    let whole = (at > 0 || argument.contains('/')).then_some(argument);
    let value = argument.split_once('=').map(|(_, value)| value).filter(|_| at > 0);
    // What has a placeholder differs from call to call.
    [whole, value].into_iter().flatten().filter(|name| !name.is_empty() && !name.contains('{'))
}

fn fingerprint(program: &Program, name: &str) -> Option<String> {
    let path = program.directory.join(name);
    path.is_file().then(|| Checksum::of_file(&path).ok())?.map(Checksum::hex)
}

/// The simulations that were not made by these files, if there are any.
pub fn not_by(store: &Store, files: &Files) -> Result<Option<Mixture>, Failure> {
    let others = store.makers()?.into_iter().filter(|made| made.files != *files);
    let mut mixture = Mixture { older: 0, all: store.counts()?.all(), files: BTreeSet::new() };
    for made in others {
        mixture.older += made.simulations;
        let names = files.keys().chain(made.files.keys()).filter(|&name| files.get(name) != made.files.get(name));
        mixture.files.extend(names.map(|name| Path::new(name).file_name().map_or(name.clone(), |file| file.to_string_lossy().into())));
    }
    Ok((mixture.older > 0).then_some(mixture))
}

/// The simulations that were not made by the files that made the last ones, if there are any.
pub fn mixture(store: &Store) -> Result<Option<Mixture>, Failure> {
    match store.makers()?.last() {
        Some(last) => not_by(store, &last.files),
        None => Ok(None),
    }
}

/// What a reader of the result must know about where its simulations come from; nothing where there is nothing to know.
pub fn checks(store: &Store) -> Result<Vec<Check>, Failure> {
    let warn = |name: &str, value: f64, found: String| Check::new(name, Status::Warn, value, 0.0, found);
    let mut checks = Vec::new();
    if let Some(mixture) = mixture(store)? {
        checks.push(warn("simulator", mixture.older as f64 / mixture.all.max(1) as f64, mixture.to_string()));
    }
    let lost = store.lost_elsewhere()?;
    if lost > 0 {
        let message = format!("{} that had been told or imported {} lost to damage", counted(lost, "simulation"), was(lost));
        checks.push(warn("lost_simulations", lost as f64, message));
    }
    Ok(checks)
}

impl std::fmt::Display for Mixture {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.files.iter().map(String::as_str).collect();
        let what = if names.is_empty() { "the simulator".to_owned() } else { names.join(", ") };
        write!(formatter, "{} of {} {} made by another version of {what}", self.older, counted(self.all, "simulation"), was(self.older))
    }
}

fn was(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}
