//! `kelfi run`: simulate or continue, learn, infer, report.

use crate::answer::{self, Asking};
use crate::arguments::Run;
use crate::failure::Failure;
use crate::{infer, show, simulate, threads};
use std::time::Instant;

pub fn run(typed: &Run) -> Result<(), Failure> {
    threads::use_threads(typed.learning.threads)?;
    on_these_threads(typed)
}

/// The same on the threads that are there.
pub fn on_these_threads(typed: &Run) -> Result<(), Failure> {
    let (problem, directory) = super::problem(&typed.place, typed.simulating.simulations)?;
    infer::settings(&problem, &typed.learning)?;
    simulate::check(&problem)?;
    let (mut store, made) = directory.open_mended(&problem)?;

    let began = Instant::now();
    let new = simulate::simulate(&problem, &mut store, &typed.simulating, typed.voice.quiet)?;
    let simulated = began.elapsed().as_secs_f64();
    let made = made.with(&store, &new)?;

    let asking = Asking { learning: &typed.learning, samples: typed.samples, quiet: typed.voice.quiet };
    let summary = answer::answer(&problem, &made, &directory, &asking, Some(simulated))?;
    match (typed.voice.json, typed.voice.quiet) {
        (true, _) => show::print(&format!("{}\n", summary.json()?)),
        (_, true) => Ok(()),
        _ => show::print(&show::result(&summary, &directory, &[&["problem.toml", "store.sqlite"], &answer::FILES[..]].concat())),
    }?;
    show::require_no_failed(&summary.checks)
}
