//! `kelfi learn`: hyperparameters from the simulations that are there.

use crate::arguments::Learn;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::made::Made;
use crate::model_file::fingerprint;
use crate::summary::{Seconds, Summary};
use crate::{infer, rounds, show, threads};
use kelfi::Question;
use kelfi::rounds::HowMany;

pub fn run(typed: &Learn) -> Result<(), Failure> {
    let directory = Directory::at(&typed.directory);
    let (problem, store) = directory.read()?;
    let settings = infer::settings(&problem, &typed.learning)?;
    threads::use_threads(typed.learning.threads)?;
    let made = Made::read(&store)?;
    let usable = made.usable(&problem)?;
    let question = Question::new(&problem.prior, &usable.recorded, &problem.observed()?);
    let rounds = if rounds::there_are(&made) { Some(rounds::told(&problem, &store, &made, &settings, HowMany::Auto)?) } else { None };
    let made_from = fingerprint(&question, &settings, rounds.is_some())?;
    let inferred = infer::learn(&problem, &question, made_from, &directory, &settings, rounds, typed.voice.quiet)?;
    let before = Summary::read(&directory).map(|summary| summary.seconds).unwrap_or_default();
    let seconds = Seconds { learn: Some(inferred.seconds), sample: None, ..before };
    let summary = Summary::new(&problem, made.counts(), &inferred, made.checks(usable.outside), seconds)?;
    summary.write(&directory)?;
    match (typed.voice.json, typed.voice.quiet) {
        (true, _) => show::print(&format!("{}\n", summary.json()?)),
        (_, true) => Ok(()),
        _ => show::print(&show::result(&summary, &directory, &["model.json", "summary.json"])),
    }?;
    show::require_no_failed(&summary.checks)
}
