//! The paper's blowfly experiment: error of the posterior mean against simulations, learned ε, relevance of the statistics, the surface.

mod error;
mod method;
mod relevance;
mod surface;

use crate::study::{Study, StudyOptions};
use anyhow::Result;
use kelfi::{Observation, Recorded, Simulations};
use kelfi_problems::blowfly::Blowfly;
use kelfi_problems::{BenchmarkProblem, simulate_many};
use method::Method;
use serde_json::json;
use std::sync::Arc;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    study: StudyOptions,
}

/// Simulations at a point estimate that its error is a mean over (paper, appendix).
const RUNS_PER_ESTIMATE: usize = 1_000;
/// Sizes at which the reach of ε is varied.
const VARIED_AT: [usize; 2] = [300, 1_000];
/// The size of the paper's surface and relevance figure.
const SURFACE_AT: usize = 280;

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    let quick = options.study.quick;
    let sizes: &[usize] = if quick { &[100, 280, 300, 1_000] } else { &[50, 100, 150, 200, 280, 300, 400, 600, 800, 1_000] };
    let repeats: u64 = if quick { 3 } else { 10 };
    let confirmed = 11..=if quick { 13 } else { 60 };
    let study = Study::open(
        &options.study,
        "blowfly",
        json!({ "first_seed": 1, "runs_per_estimate": RUNS_PER_ESTIMATE, "estimate": "posterior mean of the log parameters" }),
        json!({ "simulations": sizes, "repeats": repeats, "confirmation_seeds": [confirmed.start(), confirmed.end()], "methods": Method::ALL.map(|method| method.name()) }),
    )?;
    let problem = Blowfly::new();
    let runs = error::runs(&study, &problem, sizes, repeats)?;
    error::report(&study, &runs, sizes)?;
    error::confirm(&study, &problem, confirmed)?;
    relevance::report(&study, &problem, &runs)?;
    surface::report(&study, &problem, repeats)
}

/// The prior's simulations of a repeat, and what was observed.
fn record(problem: &Blowfly, m: usize, seed: u64) -> Result<(Recorded, Observation)> {
    let simulated = simulate_many(problem, m, seed);
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(simulated.theta, simulated.x)?));
    Ok((recorded, Observation::Statistics(problem.observation().to_vec())))
}
