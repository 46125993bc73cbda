//! `kelfi learn`: hyperparameters from the simulations that are there.

use crate::arguments::Learn;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::summary::{Seconds, Summary};
use crate::{infer, show, threads};

pub fn run(typed: &Learn) -> Result<(), Failure> {
    let directory = Directory::at(&typed.directory);
    let (problem, store) = directory.read()?;
    let settings = infer::settings(&problem, &typed.learning)?;
    threads::use_threads(typed.learning.threads)?;
    let inferred = infer::learn(&problem, &store, &directory, &settings, typed.voice.quiet)?;
    let before = Summary::read(&directory).map(|summary| summary.seconds).unwrap_or_default();
    let seconds = Seconds { learn: Some(inferred.seconds), sample: None, ..before };
    let summary = Summary::new(&problem, &store, &inferred, seconds)?;
    summary.write(&directory)?;
    match (typed.voice.json, typed.voice.quiet) {
        (true, _) => show::print(&format!("{}\n", summary.json()?)),
        (_, true) => Ok(()),
        _ => show::print(&show::result(&summary, &directory, &["model.json", "summary.json"])),
    }?;
    show::require_no_failed(&summary.checks)
}
