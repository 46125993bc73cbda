//! `kelfi run`: simulate or continue, learn, infer, report.

use crate::answer::{self, Asking};
use crate::arguments::Run;
use crate::failure::Failure;
use crate::simulate::{self, Wanted};
use crate::{infer, rounds, show, threads};
use kelfi::rounds::{HowMany, available};
use std::time::Instant;

pub fn run(typed: &Run) -> Result<(), Failure> {
    threads::use_threads(typed.learning.threads)?;
    on_these_threads(typed)
}

/// The same on the threads that are there.
pub fn on_these_threads(typed: &Run) -> Result<(), Failure> {
    let (problem, directory) = super::problem(&typed.place, typed.simulating.simulations)?;
    let settings = infer::settings(&problem, &typed.learning)?;
    simulate::check(&problem)?;
    let (mut store, made) = directory.open_mended(&problem)?;

    let began = Instant::now();
    let (how, quiet) = (&typed.simulating, typed.voice.quiet);
    let usual = if available(settings.model) { HowMany::Auto } else { HowMany::Exactly(1) };
    let how_many = how.rounds.unwrap_or(usual);
    let (made, rounds) = if how_many == HowMany::Exactly(1) || problem.simulator.is_none() {
        let new = simulate::simulate(&problem, &mut store, how, &Wanted::UpTo(problem.simulations), quiet)?;
        let made = made.with(&store, &new)?;
        let imported = how_many != HowMany::Exactly(1) && rounds::there_are(&made);
        let rounds = if imported { Some(rounds::told(&problem, &store, &made, &settings, how_many)?) } else { None };
        (made, rounds)
    } else {
        let (made, rounds) = rounds::simulate(&problem, &mut store, made, &settings, how_many, how, quiet)?;
        let several = rounds.rounds_told() > 1;
        (made, several.then_some(rounds))
    };
    let simulated = began.elapsed().as_secs_f64();

    let print = !typed.voice.json && !typed.voice.quiet;
    let asking = Asking { learning: &typed.learning, samples: typed.samples, quiet: typed.voice.quiet, print };
    let summary = answer::answer(&problem, &made, &directory, &asking, rounds, Some(simulated))?;
    match (typed.voice.json, typed.voice.quiet) {
        (true, _) => show::print(&format!("{}\n", summary.json()?)),
        (_, true) => Ok(()),
        _ => show::print(&show::examined(&summary, &directory, &[&["problem.toml", "store.sqlite"], &answer::FILES[..]].concat())),
    }?;
    show::require_no_failed(&summary.checks)
}
