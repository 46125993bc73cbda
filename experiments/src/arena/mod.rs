//! The paper's comparisons with other methods, with its settings and with ours: the toy, the blowflies, Lotka-Volterra.

mod blowfly;
mod contestant;
mod lotka_volterra;
mod toy;

use crate::study::StudyOptions;
use anyhow::Result;
use clap::ValueEnum;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    /// Which comparison.
    #[arg(value_enum)]
    problem: Problem,
    /// Repeats [default: the paper's 10; 2 if quick]. More are added to those that are done.
    #[arg(long)]
    repeats: Option<u64>,
    /// Calls on the blowflies [default: 50 to 1,000 in six steps; 50 and 300 if quick]. Others are added to those that are done.
    #[arg(long, value_delimiter = ',')]
    calls: Option<Vec<usize>>,
    /// Methods on the blowflies, by a part of the name [default: all]. Others are added to those that are done.
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    #[command(flatten)]
    study: StudyOptions,
}

#[derive(Clone, Copy, ValueEnum)]
enum Problem {
    /// Posteriors of the exponential-gamma toy (Figure 1).
    Toy,
    /// Error of the posterior mean against calls (Figure 3, left).
    Blowfly,
    /// Intervals of the first rate (Figure 3, right).
    LotkaVolterra,
}

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    let repeats = options.repeats.unwrap_or(if options.study.quick { 2 } else { 10 });
    match options.problem {
        Problem::Toy => toy::run(&options.study, repeats),
        Problem::Blowfly => blowfly::run(&options.study, options.calls.as_deref(), &options.methods, repeats),
        Problem::LotkaVolterra => lotka_volterra::run(&options.study, repeats),
    }
}
