//! Two families that are hard for regressions of each statistic: statistics of one data set that depend on one another, and raw draws.
//!
//! Repeats are those of `adversary`: θ* from the prior, y from the simulator at θ*. Coverage is the exact probability of the central 90 %
//! intervals given y, averaged over repeats.

use crate::adversary::{self, Case, Judged, Truth};
use crate::model_name::ModelName;
use crate::study::{Runs, Study, StudyOptions};
use crate::table::Table;
use anyhow::{Context, Result};
use kelfi::random::{Purpose, stream};
use kelfi::rounds::{HowMany, Next, Rounds, RoundsSettings};
use kelfi::{Fit, Observation, Points, Recorded, Simulations};
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    /// Problems.
    #[arg(long, value_delimiter = ',', default_values_t = PROBLEMS.map(String::from))]
    problems: Vec<String>,
    /// Numbers of simulations.
    #[arg(long, value_delimiter = ',', default_values_t = [300, 1000])]
    simulations: Vec<usize>,
    /// Rounds of simulations, each `auto` or a number.
    #[arg(long, value_delimiter = ',', default_values_t = [HowMany::Exactly(1), HowMany::Auto])]
    rounds: Vec<HowMany>,
    /// Models.
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["auto"])]
    models: Vec<ModelName>,
    /// Repeats of each.
    #[arg(long, default_value_t = 20)]
    repeats: usize,
    #[command(flatten)]
    study: StudyOptions,
}

const PROBLEMS: [&str; 6] = ["quantiles_9", "histogram_8", "order_statistics", "growth_walk", "mixture_draws", "pairs_4"];
/// The seed of the first repeat.
const FIRST_SEED: u64 = 9_000;
/// Coverage that intervals have to have, unless a check speaks.
const ENOUGH: f64 = 0.87;

/// One fit to make.
struct Task<'a> {
    case: &'a Case,
    model: ModelName,
    simulations: usize,
    rounds: HowMany,
    repeat: usize,
}

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    let repeats = if options.study.quick { options.repeats.min(2) } else { options.repeats };
    let cases = adversary::chosen(&options.problems)?;
    let extent = json!({ "problems": options.problems, "simulations": options.simulations, "repeats": repeats });
    let study = Study::open(&options.study, "families", json!({ "first seed": FIRST_SEED }), extent)?;
    let mut tasks = vec![];
    for case in &cases {
        for &model in &options.models {
            for &simulations in &options.simulations {
                for &rounds in &options.rounds {
                    tasks.extend((0..repeats).map(|repeat| Task { case, model, simulations, rounds, repeat }));
                }
            }
        }
    }
    let keys: Vec<Vec<String>> = tasks.iter().map(Task::key).collect();
    let file = Runs {
        file: "runs.csv",
        keys: &["problem", "model", "simulations", "rounds", "repeat"],
        values: &["used", "total_variation", "covered", "raised", "seconds"],
        rows_each: 1,
    };
    let runs = study.compute(&file, &keys, |k| {
        let judged = tasks[k].judged().with_context(|| tasks[k].key().join(", "))?;
        let raised = judged.raised.join(" ");
        let numbers = [judged.total_variation, judged.covered].map(|value| format!("{value:.4}"));
        Ok(vec![[vec![judged.model], numbers.to_vec(), vec![raised, format!("{:.2}", judged.seconds)]].concat()])
    })?;
    let columns =
        ["problem", "model", "simulations", "rounds", "total variation", "coverage", "told", "covered or told", "summaries", "seconds"];
    let mut table = Table::new(&columns);
    for task in tasks.iter().filter(|task| task.repeat == 0) {
        table.row(task.row(&runs)?);
    }
    table.print(&format!("Dependent statistics and raw draws, {repeats} repeats"));
    table.write(&study.path("table.csv"))
}

impl Task<'_> {
    fn key(&self) -> Vec<String> {
        let Self { case, model, simulations, rounds, repeat } = self;
        vec![case.name.into(), model.name().into(), simulations.to_string(), rounds.to_string(), repeat.to_string()]
    }

    /// Means over all repeats: what was chosen, how right it is, and how often a check spoke.
    fn row(&self, runs: &Table) -> Result<Vec<String>> {
        let key = self.key();
        let of_task = runs.matching(&[("problem", &key[0]), ("model", &key[1]), ("simulations", &key[2]), ("rounds", &key[3])])?;
        let column = |name: &str| of_task.columns().iter().position(|column| column == name).with_context(|| format!("no column {name}"));
        let (used, raised) = (column("used")?, column("raised")?);
        let rows = of_task.rows();
        let count = |which: &dyn Fn(&Vec<String>) -> bool| rows.iter().filter(|row| which(row)).count();
        let mean = |name: &str| -> Result<f64> {
            let values: Vec<f64> = of_task.numbers(name)?.into_iter().filter(|value| value.is_finite()).collect();
            Ok(values.iter().sum::<f64>() / values.len().max(1) as f64)
        };
        let covered = of_task.numbers("covered")?;
        let right = (0..rows.len()).filter(|&k| covered[k] >= ENOUGH || !rows[k][raised].is_empty()).count();
        let share = |count: usize| format!("{count} of {}", rows.len());
        Ok(vec![
            key[0].clone(),
            key[1].clone(),
            key[2].clone(),
            key[3].clone(),
            format!("{:.2}", mean("total_variation")?),
            format!("{:.0} %", 100.0 * mean("covered")?),
            share(count(&|row| !row[raised].is_empty())),
            share(right),
            share(count(&|row| row[used] == "summaries")),
            format!("{:.1}", mean("seconds")?),
        ])
    }

    fn judged(&self) -> Result<Judged> {
        let seed = FIRST_SEED + self.repeat as u64;
        let (theta, y) = self.case.observation(seed)?;
        let truth: Truth = adversary::truth(self.case, theta, &y)?;
        let start = Instant::now();
        Ok(adversary::compare(self.fit(&y, seed), &truth, self.simulations, start))
    }

    fn fit(&self, y: &[f64], seed: u64) -> Result<Fit, kelfi::Error> {
        let settings = RoundsSettings { budget: self.simulations, rounds: self.rounds, fit: self.model.settings(seed) };
        let mut rounds = Rounds::new(&self.case.prior, &Observation::Statistics(y.to_vec()), &settings)?;
        while let Next::Simulate(batch) = rounds.ask(&mut |_| true)? {
            let simulate =
                |k: usize| (self.case.simulate)(batch.theta.row(k), &mut stream(seed, Purpose::Simulator, (batch.first + k) as u64));
            let x = Points::from_rows(&(0..batch.theta.rows()).map(simulate).collect::<Vec<_>>())?;
            rounds.tell(&Recorded::Statistics(Arc::new(Simulations::new(batch.theta.clone(), x)?)))?;
        }
        rounds.answer(&mut |_| true)
    }
}
