//! What can be typed: commands, options and their help.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// From a simulator and an observation to a posterior.
#[derive(Debug, Parser)]
#[command(name = "kelfi", version, about, long_about = LONG, after_help = EXIT_CODES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const LONG: &str = "From a simulator and an observation to a posterior.\n\n\
    A problem file says what is simulated, what is believed before and what was observed. `kelfi run` does the rest, \
    keeps every simulation, and continues where it stopped.";

const EXIT_CODES: &str = "Exit codes: 0 done, 1 unexpected, 2 bad input (nothing was started), 3 store damaged or in use, \
    4 too many failed simulations, 5 inference refused, 130 interrupted (run again to continue).";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate (or continue), learn and infer
    #[command(
        after_help = "Examples:\n  kelfi run examples/blowfly.toml\n  kelfi run problem.toml -n 2000 -o results -j 8\n  kelfi run problem.toml --json > summary.json"
    )]
    Run(Run),
    /// Write a commented problem.toml and a small simulator to start from
    #[command(after_help = "Example:\n  kelfi init my-study && kelfi run my-study/problem.toml")]
    Init(Init),
    /// Only the simulations; can be interrupted and continued
    #[command(after_help = "Example:\n  kelfi simulate problem.toml -n 1000 -o results")]
    Simulate(Simulate),
    /// Take in simulations made elsewhere (CSV or NPZ, columns named after parameters and statistics)
    #[command(
        after_help = "Example:\n  kelfi import problem.toml simulations.csv -o results && kelfi learn results && kelfi sample results"
    )]
    Import(Import),
    /// Next parameters to simulate anywhere, as CSV on stdout
    #[command(
        after_help = "Examples:\n  kelfi ask problem.toml -n 100 > tasks.csv      (the first time: makes the run directory)\n  kelfi ask results -n 100 > tasks.csv"
    )]
    Ask(Ask),
    /// Take in results of what `kelfi ask` gave
    #[command(
        after_help = "Example:\n  kelfi tell results results.csv      (columns: index, the statistics, and if you like the parameters)"
    )]
    Tell(Tell),
    /// Learn the hyperparameters from the simulations of a run directory
    #[command(after_help = "Example:\n  kelfi learn results --objective mkml")]
    Learn(Learn),
    /// Draw posterior samples from the learned model of a run directory
    #[command(after_help = "Example:\n  kelfi sample results -n 10000")]
    Sample(Sample),
    /// What is in a run directory: counts, failures with their messages, learned values, checks
    #[command(after_help = "Example:\n  kelfi inspect results")]
    Inspect(Inspect),
    /// The built-in benchmark problems
    Problems(Problems),
    /// Completions for a shell, on stdout
    #[command(after_help = "Example:\n  kelfi completions bash > ~/.local/share/bash-completion/completions/kelfi")]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// The manual page, on stdout
    #[command(after_help = "Example:\n  kelfi man > kelfi.1 && man ./kelfi.1")]
    Man,
}

/// Options of every command that says something.
#[derive(Debug, Args)]
pub struct Voice {
    /// No progress and no tables; only errors
    #[arg(short, long)]
    pub quiet: bool,
    /// The result as JSON on stdout
    #[arg(long)]
    pub json: bool,
}

/// Where the problem is and where results go.
#[derive(Debug, Args)]
pub struct Place {
    /// The problem file
    #[arg(value_name = "PROBLEM.toml")]
    pub problem: PathBuf,
    /// Run directory [default: beside the problem file, named after it]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Seed of the run [default: the problem file's, or 1]
    #[arg(long, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: Option<u64>,
}

/// How to simulate.
#[derive(Debug, Args)]
pub struct Simulating {
    /// How many simulations in all [default: the problem file's, or 1000]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub simulations: Option<u64>,
    /// Simulators at once [default: the number of processors]
    #[arg(short, long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
    /// Make simulations that failed before again
    #[arg(long)]
    pub retry_failed: bool,
    /// Also make those that `kelfi ask` handed out and nobody told
    #[arg(long)]
    pub withdraw: bool,
}

/// How to learn.
#[derive(Debug, Args)]
pub struct Learning {
    /// Surrogate likelihood
    #[arg(long, value_enum, default_value_t)]
    pub model: Model,
    /// What is maximised: the leave-one-out score, or the paper's marginal likelihood
    #[arg(long, value_enum, default_value_t)]
    pub objective: Objective,
    /// Tolerance instead of learning it: one value, or one for each statistic, in their units
    #[arg(long, value_delimiter = ',', value_name = "E,..", value_parser = positive)]
    pub epsilon: Option<Vec<f64>>,
    /// Length scale instead of learning it: one value, or one for each parameter, in prior standard deviations
    #[arg(long, value_delimiter = ',', value_name = "B,..", value_parser = positive)]
    pub length_scale: Option<Vec<f64>>,
    /// Regularisation instead of learning it
    #[arg(long, value_name = "L", value_parser = positive)]
    pub regularization: Option<f64>,
    /// One tolerance for each statistic (the default)
    #[arg(long, overrides_with = "no_ard")]
    pub ard: bool,
    /// One common tolerance, in units of each statistic's spread
    #[arg(long)]
    pub no_ard: bool,
    /// How the kernel matrix is solved
    #[arg(long, value_enum, default_value_t)]
    pub solver: Solver,
    /// Threads for learning [default: the number of processors]; the result does not depend on it
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Surrogate likelihoods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Model {
    /// The best for the problem; at present kernel-means
    #[default]
    Auto,
    /// The kernel means likelihood
    KernelMeans,
}

/// Objectives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Objective {
    /// Leave-one-out posterior score
    #[default]
    Loo,
    /// Marginal kernel means likelihood
    Mkml,
}

/// Solvers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Solver {
    /// The best for the number of simulations; at present exact
    #[default]
    Auto,
    /// Cholesky factorisation of the whole matrix
    Exact,
}

/// `kelfi run`.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub simulating: Simulating,
    #[command(flatten)]
    pub learning: Learning,
    /// How many posterior samples to write
    #[arg(long, value_name = "S", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub samples: u32,
    #[command(flatten)]
    pub voice: Voice,
}

/// `kelfi init`.
#[derive(Debug, Args)]
pub struct Init {
    /// Where to write
    #[arg(default_value = ".", value_name = "DIR")]
    pub directory: PathBuf,
    #[command(flatten)]
    pub voice: Voice,
}

/// `kelfi simulate`.
#[derive(Debug, Args)]
pub struct Simulate {
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub simulating: Simulating,
    #[command(flatten)]
    pub voice: Voice,
}

/// `kelfi import`.
#[derive(Debug, Args)]
pub struct Import {
    #[command(flatten)]
    pub place: Place,
    /// CSV (`-` for stdin), or NPZ with one array for each parameter and statistic
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    #[command(flatten)]
    pub voice: Voice,
}

/// `kelfi ask`.
#[derive(Debug, Args)]
pub struct Ask {
    /// A run directory, or a problem file to make one
    #[arg(value_name = "DIR")]
    pub place: PathBuf,
    /// How many
    #[arg(short = 'n', long = "count", value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub count: u32,
    /// Run directory, where a problem file is given
    #[arg(short, long, value_name = "OUT")]
    pub out: Option<PathBuf>,
    /// As a JSON array instead of CSV
    #[arg(long)]
    pub json: bool,
}

/// `kelfi tell`.
#[derive(Debug, Args)]
pub struct Tell {
    /// The run directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// CSV with a column `index` and one for each statistic (`-` for stdin)
    #[arg(value_name = "RESULTS.csv")]
    pub results: PathBuf,
    #[command(flatten)]
    pub voice: Voice,
}

/// `kelfi learn`.
#[derive(Debug, Args)]
pub struct Learn {
    /// The run directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    #[command(flatten)]
    pub learning: Learning,
    #[command(flatten)]
    pub voice: Voice,
}

/// `kelfi sample`.
#[derive(Debug, Args)]
pub struct Sample {
    /// The run directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// How many
    #[arg(short = 'n', long, value_name = "S", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub samples: u32,
    /// Seed of the samples [default: that of the run]
    #[arg(long, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub voice: Voice,
}

/// `kelfi inspect`.
#[derive(Debug, Args)]
pub struct Inspect {
    /// The run directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Show this many failures with their messages
    #[arg(long, value_name = "K", default_value_t = 5)]
    pub failures: usize,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `kelfi problems`.
#[derive(Debug, Args)]
pub struct Problems {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        Ok(_) => Err("it must be positive and finite".into()),
        Err(_) => Err("it must be a number".into()),
    }
}
