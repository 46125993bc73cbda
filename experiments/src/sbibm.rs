//! KELFI on tasks of sbibm: 10,000 samples per task and observation, C2ST beside the published scores.
//!
//! Observations and reference samples are inside the Python package sbibm 1.1.0, fetched at run time and never committed.

use crate::study::{Runs, Study, StudyOptions};
use crate::table::Table;
use anyhow::{Context, Result, ensure};
use kelfi::learning::LearnSettings;
use kelfi::samples::independent;
use kelfi::{Inference, Observation, Points, Recorded, Simulations};
use kelfi_problems::{Problem, sbibm::task, simulate_many};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    /// A Python with pip and scikit-learn.
    #[arg(long, default_value = "python3")]
    python: String,
    /// Which surrogate: kernel-means or location-scale.
    #[arg(long, default_value = "kernel-means")]
    model: String,
    /// Number of simulations.
    #[arg(long, default_value_t = 1_000)]
    budget: usize,
    /// Tasks; without it five for kernel-means and all eight for location-scale.
    #[arg(long, value_delimiter = ',')]
    tasks: Vec<String>,
    /// Observations, 1 to 10; tune on 1 to 3 only.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 3])]
    observations: Vec<usize>,
    /// Where the package is unpacked.
    #[arg(long, default_value = "target/sbibm")]
    cache: PathBuf,
    /// Samples compared.
    #[arg(long, default_value_t = 10_000)]
    samples: usize,
    #[command(flatten)]
    study: StudyOptions,
}

const FIVE: [&str; 5] = ["gaussian_linear", "gaussian_mixture", "two_moons", "slcp", "sir"];
const OTHERS: [&str; 3] = ["gaussian_linear_uniform", "bernoulli_glm", "lotka_volterra"];

impl Options {
    fn chosen_tasks(&self) -> Vec<String> {
        let others: &[&str] = if self.model == "location-scale" { &OTHERS } else { &[] };
        if self.tasks.is_empty() { FIVE.iter().chain(others).map(|name| name.to_string()).collect() } else { self.tasks.clone() }
    }
}

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    ensure!(["kernel-means", "location-scale"].contains(&options.model.as_str()), "--model is kernel-means or location-scale");
    fetch(options)?;
    let names = options.chosen_tasks();
    let published = published_scores(options.budget)?;
    let observations: &[usize] = if options.study.quick { &options.observations[..1] } else { &options.observations };
    let study = Study::open_part(
        &options.study,
        "sbibm",
        &format!("{}-{}", options.model, options.budget),
        json!({ "model": options.model, "simulations": options.budget, "samples": options.samples, "seed": "number of the observation" }),
        json!({ "tasks": names, "observations": observations }),
    )?;
    let tasks: Vec<(&str, usize)> = names.iter().flat_map(|name| observations.iter().map(|&index| (name.as_str(), index))).collect();
    let keys: Vec<Vec<String>> = tasks.iter().map(|(name, index)| vec![name.to_string(), index.to_string()]).collect();
    let file = Runs { file: "runs.csv", keys: &["task", "observation"], values: &["seconds", "negative mass", "c2st"], rows_each: 1 };
    let runs = study.compute(&file, &keys, |k| {
        let (seconds, negative_mass, score) = one(options, tasks[k].0, tasks[k].1)?;
        Ok(vec![vec![format!("{seconds:.2}"), format!("{negative_mass:.4}"), format!("{score:.4}")]])
    })?;
    let mut table = Table::new(&["task", "KELFI mean", "REJ-ABC", "SMC-ABC", "NPE", "NLE"]);
    for name in &names {
        let scores = runs.matching(&[("task", name)])?.numbers("c2st")?;
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let mut cells = vec![name.clone(), format!("{mean:.3}")];
        for method in ["REJ-ABC", "SMC-ABC", "NPE", "NLE"] {
            cells.push(published.iter().find(|p| p.0 == *name && p.1 == method).map_or("-".into(), |p| format!("{:.3}", p.2)));
        }
        table.row(cells);
    }
    table.print(&format!("C2ST at {} simulations (0.5 = perfect); published: means over ten observations", options.budget));
    table.write(&study.path("table.csv"))
}

fn one(options: &Options, name: &str, index: usize) -> Result<(f64, f64, f64)> {
    let folder = options.cache.join(format!("sbibm/tasks/{name}/files/num_observation_{index}"));
    let observation = numbers(&folder.join("observation.csv"))?;
    let problem = task(name, Some(observation.clone()))?;
    let simulated = simulate_many(&problem, options.budget, index as u64);
    let start = Instant::now();
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(simulated.theta, simulated.x)?));
    let settings = LearnSettings { seed: index as u64, ..LearnSettings::default() };
    let observation = Observation::Statistics(observation);
    let posterior = if options.model == "location-scale" {
        let model = kelfi::model::LocationScaleLikelihood::learn(&recorded, &observation, problem.prior(), index as u64, &|| true)?;
        kelfi::Posterior::new(Arc::new(model), index as u64)?
    } else {
        Inference::new(&recorded, &observation, problem.prior(), &settings, &mut |_| true)?.posterior
    };
    let drawn = independent(&posterior, options.samples, index as u64)?;
    let seconds = start.elapsed().as_secs_f64();
    let samples = options.cache.join(format!("samples-{name}-{index}-{}.csv", std::process::id()));
    write_samples(&samples, problem.parameter_names(), &drawn.samples)?;
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers/c2st.py");
    let output =
        Command::new(&options.python).arg(script).arg(&samples).arg(folder.join("reference_posterior_samples.csv.bz2")).output()?;
    ensure!(output.status.success(), "the C2ST script failed: {}", String::from_utf8_lossy(&output.stderr));
    let score = String::from_utf8_lossy(&output.stdout).trim().parse().context("the C2ST script printed no number")?;
    Ok((seconds, posterior.negative_mass().ratio, score))
}

/// Downloads and unpacks the package once.
fn fetch(options: &Options) -> Result<()> {
    if options.cache.join("sbibm/tasks").is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(&options.cache)?;
    let pip = ["-m", "pip", "download", "--quiet", "--no-deps", "sbibm==1.1.0", "-d"];
    let status = Command::new(&options.python).args(pip).arg(&options.cache).status()?;
    ensure!(status.success(), "could not download sbibm 1.1.0 with {}", options.python);
    let wheel =
        std::fs::read_dir(&options.cache)?.filter_map(Result::ok).map(|e| e.path()).find(|p| p.extension().is_some_and(|e| e == "whl"));
    let wheel = wheel.context("the download left no wheel")?;
    let status = Command::new(&options.python).args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&options.cache).status()?;
    ensure!(status.success(), "could not unpack {}", wheel.display());
    Ok(())
}

/// The one row of numbers below a header.
fn numbers(path: &Path) -> Result<Vec<f64>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
    let row = text.lines().nth(1).context("an observation file has two lines")?;
    row.split(',').map(|cell| cell.trim().parse().with_context(|| format!("{cell:?} is not a number"))).collect()
}

fn write_samples(path: &Path, names: &[String], samples: &Points) -> Result<()> {
    let mut text = names.join(",") + "\n";
    for row in samples.iter() {
        text += &(row.iter().map(|v| format!("{v:e}")).collect::<Vec<_>>().join(",") + "\n");
    }
    Ok(std::fs::write(path, text)?)
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
