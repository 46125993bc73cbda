//! KELFI on tasks of sbibm: C2ST of its samples per task and observation beside the published scores.

use crate::benchmark::{Benchmark, write_points};
use crate::model_name::ModelName;
use crate::study::{Runs, Study, StudyOptions};
use crate::table::Table;
use anyhow::Result;
use kelfi::checks::Status;
use kelfi::rounds::{Batch, HowMany, Round, Rounds, RoundsSettings};
use kelfi::samples::independent;
use kelfi::{Fit, Observation, Recorded, Simulations};
use kelfi_problems::{BenchmarkProblem, sbibm::task, simulate_from};
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    benchmark: Benchmark,
    /// Which surrogate.
    #[arg(long, value_enum, default_value = "kernel-means")]
    model: ModelName,
    /// Number of simulations.
    #[arg(long, default_value_t = 1_000)]
    budget: usize,
    /// Rounds: 1, another number, or auto.
    #[arg(long, default_value = "1")]
    rounds: HowMany,
    /// Tasks; without it five for kernel-means and all eight for the others.
    #[arg(long, value_delimiter = ',')]
    tasks: Vec<String>,
    /// Observations, 1 to 10; tune on 1 to 3 only.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 3])]
    observations: Vec<usize>,
    /// Samples compared.
    #[arg(long, default_value_t = 10_000)]
    samples: usize,
    /// Added to the number of the observation, which is the seed otherwise: other simulations for the same observation.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Tells the model that outputs are independent repeats, where they are (slcp: four points in the plane).
    #[arg(long)]
    repeats: bool,
    /// Says how rounds went and which checks spoke.
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    study: StudyOptions,
}

/// Methods with published scores that the table shows: of one round, and of several. TSNPE-PFN's are by a random forest.
const PEERS: [&str; 4] = ["REJ-ABC", "SMC-ABC", "NPE", "NLE"];
const PEERS_IN_ROUNDS: [&str; 4] = ["SMC-ABC", "SNPE", "SNLE", "TSNPE-PFN"];
const FIVE: [&str; 5] = ["gaussian_linear", "gaussian_mixture", "two_moons", "slcp", "sir"];
const OTHERS: [&str; 3] = ["gaussian_linear_uniform", "bernoulli_glm", "lotka_volterra"];

/// Columns of what a run gave; the last with rounds only.
const WITH_FOREST: [&str; 4] = ["seconds", "negative mass", "c2st", "c2st forest"];

impl Options {
    fn in_rounds(&self) -> bool {
        self.rounds != HowMany::Exactly(1)
    }

    fn chosen_tasks(&self) -> Vec<String> {
        let others: &[&str] = if self.model == ModelName::KernelMeans { &[] } else { &OTHERS };
        if self.tasks.is_empty() { FIVE.iter().chain(others).map(|name| name.to_string()).collect() } else { self.tasks.clone() }
    }
}

/// Name of the results: model, budget, and the number of samples where it is not the benchmark's.
fn part(options: &Options) -> String {
    let rounds = if options.in_rounds() { format!("-rounds-{}", options.rounds) } else { String::new() };
    let told = if options.repeats { "-repeats" } else { "" };
    let seed = if options.seed == 0 { String::new() } else { format!("-seed-{}", options.seed) };
    let usual = format!("{}-{}{rounds}{told}{seed}", options.model.name(), options.budget);
    if options.samples == 10_000 { usual } else { format!("{usual}-{}-samples", options.samples) }
}

/// What decides what a run gives.
fn settings(options: &Options) -> serde_json::Value {
    let mut settings = json!({
        "model": options.model.name(), "simulations": options.budget, "samples": options.samples, "seed": if options.seed == 0 { "number of the observation".into() } else { format!("number of the observation + {}", options.seed) },
    });
    if options.in_rounds() {
        settings["rounds"] = json!(options.rounds.to_string());
    }
    if options.repeats {
        settings["repeats"] = json!("told");
    }
    settings
}

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    options.benchmark.fetch()?;
    let names = options.chosen_tasks();
    let published = published_scores(options.budget)?;
    let observations: &[usize] = if options.study.quick { &options.observations[..1] } else { &options.observations };
    let study = Study::open_part(
        &options.study,
        "sbibm",
        &part(options),
        settings(options),
        json!({ "tasks": names, "observations": observations }),
    )?;
    let tasks: Vec<(&str, usize)> = names.iter().flat_map(|name| observations.iter().map(|&index| (name.as_str(), index))).collect();
    let keys: Vec<Vec<String>> = tasks.iter().map(|(name, index)| vec![name.to_string(), index.to_string()]).collect();
    let values: &[&str] = if options.in_rounds() { &WITH_FOREST } else { &WITH_FOREST[..3] };
    let file = Runs { file: "runs.csv", keys: &["task", "observation"], values, rows_each: 1 };
    let runs = study.compute(&file, &keys, |k| Ok(vec![one(options, tasks[k].0, tasks[k].1)?]))?;
    let peers = if options.in_rounds() { PEERS_IN_ROUNDS } else { PEERS };
    let peers: Vec<&str> = peers.into_iter().filter(|method| published.iter().any(|p| p.1 == *method)).collect();
    let ours: &[&str] = if options.in_rounds() { &["KELFI mean", "by forest"] } else { &["KELFI mean"] };
    let mut table = Table::new(&[&["task"], ours, &peers].concat());
    for name in &names {
        let mean = |column: &str| -> Result<String> {
            let scores = runs.matching(&[("task", name)])?.numbers(column)?;
            Ok(format!("{:.3}", scores.iter().sum::<f64>() / scores.len() as f64))
        };
        let repeats = options.repeats && task(name, None)?.repeats() > 1;
        let title = if repeats { format!("{name} (told its repeats)") } else { name.clone() };
        let mut cells = vec![title, mean("c2st")?];
        if options.in_rounds() {
            cells.push(mean("c2st forest")?);
        }
        for method in &peers {
            cells.push(published.iter().find(|p| p.0 == *name && p.1 == *method).map_or("-".into(), |p| format!("{:.3}", p.2)));
        }
        table.row(cells);
    }
    let others = if peers.is_empty() { "nothing is published" } else { "published: means over ten observations" };
    table.print(&format!("C2ST at {} simulations (0.5 = perfect); {others}", options.budget));
    table.write(&study.path("table.csv"))
}

/// The cells of one run.
fn one(options: &Options, name: &str, index: usize) -> Result<Vec<String>> {
    let observation = options.benchmark.observation(name, index)?;
    let problem = task(name, Some(observation.clone()))?;
    let start = Instant::now();
    let seed = index as u64 + options.seed;
    let posterior = infer(options, &problem, &Observation::Statistics(observation), seed)?.posterior;
    let drawn = independent(&posterior, options.samples, seed)?;
    let seconds = start.elapsed().as_secs_f64();
    let samples = options.benchmark.scratch(&format!("samples-{name}-{index}"));
    write_points(&samples, problem.parameter_names(), &drawn.samples)?;
    let mut cells = vec![format!("{seconds:.2}"), format!("{:.4}", posterior.negative_mass().ratio)];
    for classifier in if options.in_rounds() { &["mlp", "forest"][..] } else { &["mlp"] } {
        cells.push(format!("{:.4}", options.benchmark.c2st_by(classifier, &samples, name, index)?));
    }
    std::fs::remove_file(&samples)?;
    Ok(cells)
}

/// The fit after all rounds; the simulations of one round are draws of the prior.
fn infer(options: &Options, problem: &dyn BenchmarkProblem, observation: &Observation, seed: u64) -> Result<Fit> {
    let settings = RoundsSettings { budget: options.budget, rounds: options.rounds, fit: options.model.settings(seed) };
    let mut rounds = Rounds::new(problem.prior(), observation, &settings)?;
    let fit = rounds.run(
        |batch| match simulated(problem, batch, seed)? {
            recorded if options.repeats => told(recorded, problem.repeats()),
            recorded => Ok(recorded),
        },
        &mut |_| true,
    )?;
    if options.verbose {
        fit.history().into_iter().flat_map(|history| &history.rounds).for_each(|round| eprintln!("{}", described(round)));
        fit.checks().iter().filter(|check| check.status > Status::Ok).for_each(|check| eprintln!("{}: {}", check.name, check.message()));
    }
    Ok(fit)
}

/// A round of a catalogue's problem.
pub fn simulated(problem: &dyn BenchmarkProblem, batch: &Batch, seed: u64) -> Result<Recorded, kelfi::Error> {
    let simulated = simulate_from(problem, batch.theta.clone(), seed, batch.first as u64);
    Ok(Recorded::Statistics(Arc::new(Simulations::new(simulated.theta, simulated.x)?)))
}

/// The same simulations, their outputs so many repeats.
fn told(recorded: Recorded, repeats: usize) -> Result<Recorded, kelfi::Error> {
    match recorded {
        Recorded::Statistics(simulations) => Ok(Recorded::Statistics(Arc::new(Arc::unwrap_or_clone(simulations).with_repeats(repeats)?))),
        other => Ok(other),
    }
}

fn described(round: &Round) -> String {
    let moved = round.movement.map_or(String::new(), |m| format!(", moved {:.2} stretched {:.2} ± {:.2}", m.shift, m.stretch, m.error));
    let lengths = round.frame.as_ref().map_or(String::new(), |frame| format!(", frame {:.3?}", frame.lengths));
    format!("{} simulations, {} used{moved}{lengths}, widths {:.4?}", round.simulations, round.used, round.place.deviations)
}

/// (task, algorithm, mean C2ST) at this budget.
fn published_scores(budget: usize) -> Result<Vec<(String, String, f64)>> {
    let mut scores = Vec::new();
    for line in include_str!("../data/published_c2st.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        // Reference methods of unlimited budget have a word there.
        if cells[2].parse() == Ok(budget) {
            scores.push((cells[0].into(), cells[1].into(), cells[3].parse()?));
        }
    }
    Ok(scores)
}
