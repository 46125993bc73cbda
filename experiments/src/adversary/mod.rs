//! Problems with exact posteriors, ordinary and hostile: is each fit right, and if it is not, does a check say so?
//!
//! Every fit uses default settings and all checks, as a user gets them. In each repeat θ* is drawn from the prior and y from the simulator
//! at θ*, unless a case fixes y; simulations are new. Coverage is the exact probability of the fit's central 90 % intervals given y,
//! averaged over repeats: over y drawn so that is their coverage, with far less noise than counting how often θ* is inside.

mod case;
mod cell;
mod counts;
mod curves;
mod datasets;
mod densities;
mod designs;
mod faults;
mod gaussian;
mod judge;
mod limits;
mod marginal;
mod page;
mod reference;
mod registry;
mod scales;
mod several;
mod shapes;
mod summary;
mod tails;
#[cfg(test)]
mod tests;
mod verdict;

use crate::model_name::ModelName;
use crate::study::{Runs, Study, StudyOptions};
use anyhow::{Context, Result};
pub use case::Case;
pub use judge::{Judged, Truth, compare, truth};
use kelfi::rounds::HowMany;
pub use registry::chosen;
use serde_json::json;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    /// Problems or families by name, or `usual` or `unusual` [default: all].
    #[arg(long, value_delimiter = ',')]
    problems: Vec<String>,
    /// Numbers of simulations.
    #[arg(long, value_delimiter = ',', default_values_t = [100, 300, 1000])]
    simulations: Vec<usize>,
    /// Repeats of each problem: one number for all numbers of simulations, or one for each.
    #[arg(long, value_delimiter = ',', default_values_t = [10])]
    repeats: Vec<usize>,
    /// Rounds: 1, another number, or auto.
    #[arg(long, default_value = "1")]
    rounds: HowMany,
    /// Which surrogate.
    #[arg(long, value_enum, default_value = "auto")]
    model: ModelName,
    /// Threads [default: all cores].
    #[arg(long)]
    threads: Option<usize>,
    #[command(flatten)]
    study: StudyOptions,
}

impl Options {
    /// Repeats for each number of simulations.
    fn repeats_of_each(&self) -> Result<Vec<usize>> {
        let each = match self.repeats[..] {
            [all] => vec![all; self.simulations.len()],
            _ => self.repeats.clone(),
        };
        anyhow::ensure!(
            each.len() == self.simulations.len(),
            "--repeats has {} numbers for {} numbers of simulations\n  give one for all, or one for each",
            each.len(),
            self.simulations.len()
        );
        Ok(if self.study.quick { each.into_iter().map(|count| count.min(2)).collect() } else { each })
    }
}

impl Options {
    /// A folder for each number of rounds and each model.
    fn open(&self, extent: serde_json::Value) -> Result<Study> {
        let (mut name, mut settings) = ("adversary".to_owned(), json!({ "first seed": FIRST_SEED }));
        if self.rounds != HowMany::Exactly(1) {
            name = format!("{name}-rounds-{}", self.rounds);
            settings["rounds"] = json!(self.rounds.to_string());
        }
        if self.model != ModelName::Auto {
            name = format!("{name}-{}", self.model.name());
            settings["model"] = json!(self.model.name());
        }
        Study::open(&self.study, &name, settings, extent)
    }
}

/// The seed of the first repeat.
const FIRST_SEED: u64 = 7_000;

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    if let Some(threads) = options.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("could not start the threads")?;
    }
    let repeats = options.repeats_of_each()?;
    let cases = chosen(&options.problems)?;
    let names: Vec<&str> = cases.iter().map(|case| case.name).collect();
    let extent = json!({ "problems": names, "simulations": options.simulations, "repeats": repeats });
    let study = options.open(extent)?;
    let mut tasks: Vec<(&Case, usize, usize)> = vec![];
    for case in &cases {
        for (&simulations, &repeats) in options.simulations.iter().zip(&repeats) {
            (0..repeats).for_each(|repeat| tasks.push((case, simulations, repeat)));
        }
    }
    let keys: Vec<Vec<String>> =
        tasks.iter().map(|(case, simulations, repeat)| vec![case.name.into(), simulations.to_string(), repeat.to_string()]).collect();
    let file = Runs {
        file: "runs.csv",
        keys: &["problem", "simulations", "repeat"],
        values: &["model", "mean_off", "sd_ratio", "total_variation", "covered", "covered_calibrated", "raised", "values", "seconds"],
        rows_each: 1,
    };
    let runs = study.compute(&file, &keys, |k| {
        let (case, simulations, repeat) = tasks[k];
        let judged =
            one(case, options, simulations, repeat).with_context(|| format!("{}, m = {simulations}, repeat {repeat}", case.name))?;
        Ok(vec![cells(&judged)])
    })?;
    let mut rows = vec![];
    for case in &cases {
        for &simulations in &options.simulations {
            rows.push(cell::Cell::new(case, simulations, &runs)?);
        }
    }
    let (table, bars) = (summary::table(&rows), summary::bars(&rows));
    table.print("Fits beside exact posteriors");
    println!();
    bars.iter().for_each(|bar| println!("{bar}"));
    let families = summary::families(&rows);
    table.write(&study.path("table.csv"))?;
    families.write(&study.path("families.csv"))?;
    page::write(&study, &bars, &families, &table, &cases)
}

/// One fit.
fn one(case: &Case, options: &Options, simulations: usize, repeat: usize) -> Result<Judged> {
    let seed = FIRST_SEED + repeat as u64;
    let (theta, y) = case.observation(seed)?;
    judge::judge(case, &judge::truth(case, theta, &y)?, &y, (options.rounds, options.model), simulations, seed)
}

fn cells(judged: &Judged) -> Vec<String> {
    let mut cells = vec![judged.model.clone()];
    let numbers = [judged.mean_off, judged.sd_ratio, judged.total_variation, judged.covered, judged.covered_calibrated];
    cells.extend(numbers.iter().map(|value| format!("{value:.4}")));
    cells.extend([judged.raised.join(" "), judged.values.join(" ")]);
    cells.push(format!("{:.2}", judged.seconds));
    cells
}
