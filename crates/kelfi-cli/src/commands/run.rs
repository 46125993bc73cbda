//! `kelfi run`: simulate or continue, learn, infer, report.

use crate::arguments::{Run, Sampler};
use crate::failure::Failure;
use crate::summary::{Seconds, Summary};
use crate::{infer, report, show, simulate, threads};
use std::time::Instant;

pub fn run(typed: &Run) -> Result<(), Failure> {
    let (problem, directory) = super::problem(&typed.place, typed.simulating.simulations)?;
    let settings = infer::settings(&problem, &typed.learning)?;
    threads::use_threads(typed.learning.threads)?;
    simulate::check(&problem)?;
    let mut store = directory.open_mended(&problem)?;

    let began = Instant::now();
    simulate::simulate(&problem, &mut store, &typed.simulating, typed.voice.quiet)?;
    let simulated = began.elapsed().as_secs_f64();

    let inferred = infer::learn(&problem, &store, &directory, &settings, typed.voice.quiet)?;
    let sampled = infer::sample(&inferred.fit.posterior, &directory, typed.samples as usize, problem.seed, Sampler::default())?.seconds;
    let seconds = Seconds { simulate: Some(simulated), learn: Some(inferred.seconds), sample: Some(sampled) };
    let summary = Summary::new(&problem, &store, &inferred, seconds)?;
    summary.write(&directory)?;
    report::write(&problem, &store, &directory, &inferred, &settings)?;

    match (typed.voice.json, typed.voice.quiet) {
        (true, _) => show::print(&format!("{}\n", summary.json()?)),
        (_, true) => Ok(()),
        _ => {
            let files = ["problem.toml", "store.sqlite", "model.json", "samples.csv", "summary.json", report::NAME];
            show::print(&show::result(&summary, &directory, &files))
        }
    }?;
    show::require_no_failed(&summary.checks)
}
