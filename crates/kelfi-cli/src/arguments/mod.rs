//! What can be typed: commands, options and their help.

mod options;

pub use options::{Learning, Objective, Observed, Place, Sampler, Simulating, Voice};

use clap::{Args, Parser, Subcommand};
use kelfi::rounds::HowMany;
use std::path::PathBuf;

/// Posterior distributions for the parameters of a simulator, from an observation.
#[derive(Debug, Parser)]
#[command(name = "kelfi", version, about, long_about = LONG, after_help = EXIT_CODES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const LONG: &str = "Posterior distributions for the parameters of a simulator, from an observation.\n\n\
    A problem file names the simulator, the prior and the observation. `kelfi run` does the rest, \
    keeps every simulation, and continues where it stopped.";

const EXIT_CODES: &str = "Start with a problem of your own:\n  kelfi init my-study                  (writes problem.toml and a simulator to replace)\n  kelfi check my-study/problem.toml    (tries one simulation)\n  kelfi run my-study/problem.toml\n\n\
    or with a built-in one:\n  kelfi problems\n\n\
    Exit codes: 0 done, 1 unexpected error, 2 bad input (nothing was started), 3 store damaged or in use, \
    4 too many failed simulations, 5 inference impossible, 6 a check failed, 130 interrupted (run again to continue).";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate (or continue), learn, infer and write a report
    #[command(
        after_help = "Examples:\n  kelfi run examples/blowfly.toml\n  kelfi run problem.toml -n 2000 -o results -j 8\n  kelfi run problem.toml --json > summary.json\n  kelfi run results      (continues a run directory)"
    )]
    Run(Run),
    /// Write a commented problem.toml and a small simulator to start from
    #[command(after_help = "Example:\n  kelfi init my-study && kelfi run my-study/problem.toml")]
    Init(Init),
    /// Try one simulation: show what was sent, printed and understood, and whether seeds work
    #[command(after_help = "Example:\n  kelfi check problem.toml")]
    Check(Check),
    /// Make simulations only; can be interrupted and continued
    #[command(after_help = "Example:\n  kelfi simulate problem.toml -n 1000 -o results")]
    Simulate(Simulate),
    /// Import simulations made elsewhere (CSV or NPZ, columns named after parameters and statistics)
    #[command(
        after_help = "Example:\n  kelfi import problem.toml simulations.csv -o results && kelfi learn results && kelfi sample results"
    )]
    Import(Import),
    /// Write the simulations of a run directory as CSV or NPZ; `kelfi import` reads both
    #[command(after_help = "Examples:\n  kelfi export results -o simulations.csv\n  kelfi export results -o simulations.npz")]
    Export(Export),
    /// Print the next parameters to simulate elsewhere, as CSV
    #[command(
        after_help = "Examples:\n  kelfi ask problem.toml -n 100 > tasks.csv      (the first time: creates the run directory)\n  kelfi ask results -n 100 > tasks.csv"
    )]
    Ask(Ask),
    /// Record results for parameters from `kelfi ask`
    #[command(
        after_help = "Example:\n  kelfi tell results results.csv      (columns: index and the statistics; the parameters are optional)"
    )]
    Tell(Tell),
    /// Learn the hyperparameters from the simulations of a run directory
    #[command(after_help = "Example:\n  kelfi learn results --objective mkml")]
    Learn(Learn),
    /// Draw posterior samples from the learned model of a run directory
    #[command(after_help = "Example:\n  kelfi sample results -n 10000")]
    Sample(Sample),
    /// Write report.html from the learned model of a run directory
    #[command(after_help = "Examples:\n  kelfi report results\n  kelfi report results --figures figures")]
    Report(Report),
    /// Reuse the simulations of a run directory for another observation, another prior or fewer statistics
    #[command(
        after_help = "Examples:\n  kelfi infer results --name second --observation mean=2.9,variance=0.6\n  kelfi infer results --name wide --prior wide.toml\n  kelfi infer results --name without --ignore variance\n  kelfi infer results --observations patients.csv      (one answer per row)"
    )]
    Infer(Infer),
    /// Show what is in a run directory: counts, failures with their messages, learned values, checks
    #[command(after_help = "Example:\n  kelfi inspect results")]
    Inspect(Inspect),
    /// List the built-in benchmark problems
    Problems(Problems),
    /// List the methods that can be compared: kelfi's own and the baselines
    Methods(Methods),
    /// Compare methods on a problem: table, page and figures
    #[command(
        after_help = "Examples:\n  kelfi compare banana\n  kelfi compare sbibm_two_moons --methods kelfi,rejection --budget 100,300,1000 --repeats 20\n  kelfi compare blowfly --observations own --repeats 5"
    )]
    Compare(Compare),
    /// Print completions for a shell
    #[command(after_help = "Example:\n  kelfi completions bash > ~/.local/share/bash-completion/completions/kelfi")]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(after_help = "Example:\n  kelfi man > kelfi.1 && man ./kelfi.1")]
    Man,
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

/// `kelfi check`.
#[derive(Debug, Args)]
pub struct Check {
    /// The problem file
    #[arg(value_name = "PROBLEM.toml")]
    pub problem: PathBuf,
    /// Seed of the run [default: the problem file's, or 1]
    #[arg(long, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Simulators to run at once, for the estimated time of the whole run [default: the number of processors]
    #[arg(short, long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
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

/// `kelfi export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The run directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Where to write: a name that ends in .csv or .npz [default: CSV on stdout]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub voice: Voice,
}

/// `kelfi ask`.
#[derive(Debug, Args)]
pub struct Ask {
    /// A run directory, or a problem file to create one
    #[arg(value_name = "DIR")]
    pub place: PathBuf,
    /// How many
    #[arg(short = 'n', long = "count", value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub count: u32,
    /// Number of rounds, or `auto`. A round is handed out when the one before it has all its results
    #[arg(long, value_name = "K|auto", default_value = "1")]
    pub rounds: HowMany,
    /// Run directory, if a problem file is given
    #[arg(short, long, value_name = "OUT")]
    pub out: Option<PathBuf>,
    /// Print a JSON array instead of CSV
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
    /// How to draw them
    #[arg(long, value_enum, default_value_t)]
    pub method: Sampler,
    /// Seed of the samples [default: that of the run]
    #[arg(long, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub voice: Voice,
}

/// `kelfi report`.
#[derive(Debug, Args)]
pub struct Report {
    /// The run directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Also write every figure as SVG and PNG into this folder
    #[arg(long, value_name = "FOLDER")]
    pub figures: Option<PathBuf>,
    #[command(flatten)]
    pub voice: Voice,
}

/// `kelfi infer`.
#[derive(Debug, Args)]
pub struct Infer {
    /// The run directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Name of the answer, which is kept in DIR/answers/NAME
    #[arg(long, required_unless_present = "observations")]
    pub name: Option<String>,
    /// What was observed: a CSV file with one row, or name=value,… for every statistic
    #[arg(long, value_name = "FILE|NAME=VALUE,..", conflicts_with = "observations")]
    pub observation: Option<String>,
    /// Many observations: a CSV file, one answer for each row (named by its column `name`, or by its number), and answers/table.csv
    #[arg(long, value_name = "FILE.csv")]
    pub observations: Option<PathBuf>,
    /// Another prior: a file with a section [[parameter]] for each parameter, such as another problem file
    #[arg(long, value_name = "FILE.toml")]
    pub prior: Option<PathBuf>,
    /// Statistics to leave out
    #[arg(long, value_delimiter = ',', value_name = "STATISTIC,..")]
    pub ignore: Vec<String>,
    #[command(flatten)]
    pub learning: Learning,
    /// How many posterior samples to write
    #[arg(long, value_name = "S", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub samples: u32,
    #[command(flatten)]
    pub voice: Voice,
}

/// `kelfi inspect`.
#[derive(Debug, Args)]
pub struct Inspect {
    /// The run directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Show one failure of each kind with its message, up to this many kinds (at least one of each status)
    #[arg(long, value_name = "K", default_value_t = 5)]
    pub failures: usize,
    /// Compare every simulation and every file with its checksum; exit code 3 if something is damaged
    #[arg(long)]
    pub verify: bool,
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

/// `kelfi methods`.
#[derive(Debug, Args)]
pub struct Methods {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `kelfi compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// A problem file, or a built-in problem; `kelfi problems` lists these
    #[arg(value_name = "PROBLEM")]
    pub problem: String,
    /// Methods, separated by commas, or `all` [default: nine common ones; `kelfi methods` lists them]
    #[arg(long, value_delimiter = ',', value_name = "A,B,..")]
    pub methods: Vec<String>,
    /// Simulator calls each method may make; give several, separated by commas, to see how results change
    #[arg(long, value_delimiter = ',', value_name = "N,..", default_value = "300", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub budget: Vec<u32>,
    /// Number of repeats
    #[arg(long, value_name = "R", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeats: u32,
    /// Where the observations of the repeats come from [default: own for a problem file, prior for a built-in problem]
    #[arg(long, value_enum)]
    pub observations: Option<Observed>,
    /// Seed of the first repeat
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: u64,
    /// Output directory for compare.html, compare.json, compare.csv and the runs [default: compare-PROBLEM]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write every figure as SVG and PNG into this folder
    #[arg(long, value_name = "FOLDER")]
    pub figures: Option<PathBuf>,
    /// Threads [default: the number of processors]; only the timings depend on it
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    #[command(flatten)]
    pub voice: Voice,
}
