//! From 1,000 simulations to 10,000 samples: seconds and C2ST of kelfi beside sbi's neural posterior and likelihood estimation, the same
//! simulations, the same machine, one after the other.

use crate::benchmark::{Benchmark, peer, write_points};
use crate::model_name::ModelName;
use crate::study::{Runs, Study, StudyOptions};
use crate::table::Table;
use anyhow::{Context, Result, ensure};
use kelfi::samples::independent;
use kelfi::{Fit, Observation, Points, Question, Recorded, Simulations};
use kelfi_problems::{BenchmarkProblem, sbibm::task, simulate_many};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    benchmark: Benchmark,
    /// A Python with sbi [default: a virtual environment made beside the benchmark; it takes some gigabytes].
    #[arg(long)]
    sbi_python: Option<PathBuf>,
    /// Observations of each task.
    #[arg(long, value_delimiter = ',', default_values_t = [1])]
    observations: Vec<usize>,
    /// Number of simulations.
    #[arg(long, default_value_t = 1_000)]
    simulations: usize,
    /// Number of samples.
    #[arg(long, default_value_t = 10_000)]
    samples: usize,
    #[command(flatten)]
    study: StudyOptions,
}

/// Task and its prior in the peer's words.
const TASKS: [(&str, &str); 2] = [("two_moons", "uniform:-1:1"), ("gaussian_linear", "normal:0:0.31622776601683794")];
const OURS: [ModelName; 3] = [ModelName::Auto, ModelName::LocationScale, ModelName::KernelMeans];
const PEERS: [&str; 2] = ["NPE", "NLE"];

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    options.benchmark.fetch()?;
    let neural = match &options.sbi_python {
        Some(python) => python.clone(),
        None => options.benchmark.environment("venv-sbi", &["sbi==0.27.*"])?,
    };
    let study = Study::open(
        &options.study,
        "field",
        json!({ "simulations": options.simulations, "samples": options.samples, "seed": "number of the observation" }),
        json!({ "observations": options.observations }),
    )?;
    let methods: Vec<String> = OURS.iter().map(|m| m.name().to_string()).chain(PEERS.map(String::from)).collect();
    let mut keys = vec![];
    for (task, _) in TASKS {
        for observation in &options.observations {
            methods.iter().for_each(|method| keys.push(vec![task.to_string(), observation.to_string(), method.clone()]));
        }
    }
    // One after the other and before any classifier: seconds are those of a method alone on the machine.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let columns: [&str; 3] = ["task", "observation", "method"];
    let timed = Runs { file: "seconds.csv", keys: &columns, values: &["seconds"], rows_each: 1 };
    let seconds =
        alone.install(|| study.compute(&timed, &keys, |k| Ok(vec![vec![format!("{:.2}", sample(options, &neural, &keys[k])?)]])))?;
    let judged = Runs { file: "c2st.csv", keys: &columns, values: &["c2st"], rows_each: 1 };
    let scores = study.compute(&judged, &keys, |k| Ok(vec![vec![format!("{:.4}", score(options, &keys[k])?)]]))?;
    let mut table = Table::new(&["task", "method", "seconds", "C2ST", "NPE / this", "NLE / this"]);
    for (task, _) in TASKS {
        let mean = |method: &str, column: &str| -> Result<f64> {
            let runs = if column == "seconds" { &seconds } else { &scores };
            let values = runs.matching(&[("task", task), ("method", method)])?.numbers(column)?;
            Ok(values.iter().sum::<f64>() / values.len() as f64)
        };
        let (npe, nle) = (mean("NPE", "seconds")?, mean("NLE", "seconds")?);
        for method in &methods {
            let took = mean(method, "seconds")?;
            let [of_npe, of_nle] = [npe, nle].map(|peer| format!("{:.1}", peer / took));
            table.row(vec![task.into(), method.clone(), format!("{took:.1}"), format!("{:.3}", mean(method, "c2st")?), of_npe, of_nle]);
        }
    }
    table.print(&format!("From {} simulations to {} samples", options.simulations, options.samples));
    table.write(&study.path("table.csv"))
}

/// Where the samples of a run are kept until they are judged.
fn samples_of(options: &Options, key: &[String]) -> PathBuf {
    options.benchmark.cache.join(format!("field-{}-{}.csv", key.join("-"), options.samples))
}

/// C2ST of the samples of one method.
fn score(options: &Options, key: &[String]) -> Result<f64> {
    let samples = samples_of(options, key);
    ensure!(samples.exists(), "{} is gone\n  start over with --fresh", samples.display());
    options.benchmark.c2st(&samples, &key[0], key[1].parse()?)
}

/// Samples by one method, and the seconds they took.
fn sample(options: &Options, python: &Path, key: &[String]) -> Result<f64> {
    let (name, index, method) = (key[0].as_str(), key[1].parse::<usize>()?, key[2].as_str());
    let observation = options.benchmark.observation(name, index)?;
    let problem = task(name, Some(observation.clone()))?;
    let simulated = simulate_many(&problem, options.simulations, index as u64);
    let samples = samples_of(options, key);
    match OURS.into_iter().find(|ours| ours.name() == method) {
        Some(model) => {
            let infer = || -> Result<Points> {
                let recorded = Recorded::Statistics(Arc::new(Simulations::new(simulated.theta, simulated.x)?));
                let y = Observation::Statistics(observation);
                let fit = Fit::new(&Question::new(problem.prior(), &recorded, &y), &model.settings(index as u64), &mut |_| true)?;
                Ok(independent(&fit.posterior, options.samples, index as u64)?.samples)
            };
            let start = Instant::now();
            // In a thread of its own: it has all processors, as users have it, and this one waits instead of beginning the next run.
            let drawn = std::thread::scope(|scope| scope.spawn(infer).join().expect("inference does not panic"))?;
            let seconds = start.elapsed().as_secs_f64();
            write_points(&samples, problem.parameter_names(), &drawn)?;
            Ok(seconds)
        }
        None => {
            let [theta, x, y] = ["theta", "x", "y"].map(|what| options.benchmark.scratch(&format!("field-{name}-{index}-{what}")));
            write_points(&theta, problem.parameter_names(), &simulated.theta)?;
            write_points(&x, problem.statistic_names(), &simulated.x)?;
            write_points(&y, problem.statistic_names(), &Points::from_rows(&[observation])?)?;
            neural(options, python, method, name, [&theta, &x, &y, &samples], index)
        }
    }
}

/// Seconds the peer says it took.
fn neural(options: &Options, python: &Path, method: &str, name: &str, files: [&Path; 4], seed: usize) -> Result<f64> {
    let prior = TASKS.iter().find(|(task, _)| *task == name).context("a task without a prior")?.1;
    let mut command = Command::new(python);
    command.arg(peer("sbi_neural.py")).args([method, prior]).args(files);
    let output = command.args([options.samples.to_string(), seed.to_string()]).output()?;
    ensure!(output.status.success(), "{method} failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().last().and_then(|line| line.trim().parse().ok()).context("the peer printed no seconds")
}
