//! The paper's experiments and ours, one command each. Results go to `experiments/results/`.

mod exactness;
mod learners;
mod table;
mod timing;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// The paper's experiments and ours, one command each.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    /// How far each way of choosing hyperparameters is from exact posteriors, beside the best possible choice.
    Learners(learners::Options),
    /// Seconds and factorisations of learning, beside plain gradient ascent in NumPy.
    Timing(timing::Options),
}

fn main() -> Result<()> {
    match Arguments::parse().experiment {
        Experiment::Learners(options) => learners::run(&options),
        Experiment::Timing(options) => timing::run(&options),
    }
}
