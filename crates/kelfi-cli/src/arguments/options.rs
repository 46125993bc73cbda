//! Options that several commands share.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use kelfi::ModelChoice;
use kelfi::model::family;
use kelfi::rounds::HowMany;
use kelfi::solver::SolverChoice;
use std::path::PathBuf;

/// Options of every command that says something.
#[derive(Debug, Args)]
pub struct Voice {
    /// Print errors only: no progress, no tables
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Where the problem is and where results go.
#[derive(Debug, Args)]
pub struct Place {
    /// The problem file, or a run directory to continue
    #[arg(value_name = "PROBLEM.toml")]
    pub problem: PathBuf,
    /// Run directory [default: next to the problem file, named after it]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Seed of the run [default: the problem file's, or 1]
    #[arg(long, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: Option<u64>,
}

/// How to simulate.
#[derive(Debug, Args)]
pub struct Simulating {
    /// Total number of simulations [default: the problem file's, or 1000]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub simulations: Option<u64>,
    /// Number of rounds, or `auto`. One round draws from the prior only; later rounds simulate where the posterior is [default: auto for `run`, 1
    /// for `simulate`]
    #[arg(long, value_name = "auto|K")]
    pub rounds: Option<HowMany>,
    /// Simulators to run at once [default: the number of processors]
    #[arg(short, long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
    /// Repeat simulations that failed before
    #[arg(long)]
    pub retry_failed: bool,
    /// Continue although a file named in the simulator's command has changed since the last simulations
    #[arg(long)]
    pub accept_changed_simulator: bool,
    /// Also make the simulations that `kelfi ask` handed out and that have no result yet
    #[arg(long)]
    pub withdraw: bool,
}

/// How to learn.
#[derive(Debug, Args)]
pub struct Learning {
    /// Model of the likelihood
    #[arg(long, default_value = ModelChoice::Auto.name(), value_parser = models())]
    pub model: String,
    /// Objective to maximise: the leave-one-out score, or the paper's marginal likelihood
    #[arg(long, value_enum, default_value_t)]
    pub objective: Objective,
    /// Fix the tolerance instead of learning it: one value, or one per statistic, in their units
    #[arg(long, value_delimiter = ',', value_name = "E,..", value_parser = positive)]
    pub epsilon: Option<Vec<f64>>,
    /// Fix the length scale instead of learning it: one value, or one per parameter, in prior standard deviations
    #[arg(long, value_delimiter = ',', value_name = "B,..", value_parser = positive)]
    pub length_scale: Option<Vec<f64>>,
    /// Fix the regularisation instead of learning it
    #[arg(long, value_name = "L", value_parser = positive)]
    pub regularization: Option<f64>,
    /// One tolerance for each statistic (the default)
    #[arg(long, overrides_with = "no_ard")]
    pub ard: bool,
    /// One common tolerance, in units of each statistic's spread
    #[arg(long)]
    pub no_ard: bool,
    /// Solver for the kernel matrix
    #[arg(long, default_value = SolverChoice::ALL[0].0, value_parser = solvers())]
    pub solver: SolverChoice,
    /// Threads for learning [default: the number of processors]; the result does not depend on it
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// `auto` and every model there is.
fn models() -> PossibleValuesParser {
    let auto = PossibleValue::new(ModelChoice::Auto.name()).help("Whichever predicts left-out simulations near the observation better");
    let named = family::all().into_iter().map(|family| PossibleValue::new(family.name).help(family.summary));
    PossibleValuesParser::new(std::iter::once(auto).chain(named))
}

/// Every solver there is.
fn solvers() -> impl TypedValueParser<Value = SolverChoice> {
    let named = SolverChoice::ALL.into_iter().map(|(name, _, meaning)| PossibleValue::new(name).help(meaning));
    PossibleValuesParser::new(named).map(|name| SolverChoice::named(&name).unwrap_or_default())
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

/// Ways to draw samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Sampler {
    /// Independent samples where the posterior has a closed form, chains elsewhere
    #[default]
    Independent,
    /// Elliptical slice sampling by many chains, for either model
    Slice,
    /// Super-samples by kernel herding: a few points that represent the posterior better than as many random ones
    Herding,
}

/// Observations of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Observed {
    /// A new one for each repeat, simulated at parameters drawn from the prior
    Prior,
    /// The problem's own observation each time, with new simulations
    Own,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        Ok(_) => Err("it must be positive and finite".into()),
        Err(_) => Err("it must be a number".into()),
    }
}
