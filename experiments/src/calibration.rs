//! Do intervals have the coverage they claim? Observations made by parameters drawn from the prior, everything learned, over many repeats.
//!
//! The share of the posterior below the true value is uniform if the posterior is right; a central interval of size s covers where
//! |2 share - 1| <= s. Coverage is over all parameters of a problem together; its standard error is over repeats. Each model has two rows:
//! intervals of its posterior, and those calibrated by leaving out. Where the exact posterior can be sampled its intervals have a row of
//! their own: what they cover more or less than they say is chance in the observations, which all rows share.

use crate::model_name::ModelName;
use crate::sbibm::simulated;
use crate::study::{Runs, Study, StudyOptions};
use crate::table::Table;
use anyhow::{Context, Result};
use kelfi::Observation;
use kelfi::rounds::{HowMany, Rounds, RoundsSettings};
use kelfi_problems::{Reference, by_name, data_set};
use serde_json::json;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    /// Problems of the catalogue.
    #[arg(long, value_delimiter = ',', default_values_t = ["linear_gaussian", "exponential_gamma", "sbibm_two_moons"].map(String::from))]
    problems: Vec<String>,
    /// Surrogates.
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["kernel-means", "location-scale"])]
    models: Vec<ModelName>,
    /// Number of simulations.
    #[arg(long, default_value_t = 300)]
    simulations: usize,
    /// Rounds: 1, another number, or auto.
    #[arg(long, default_value = "1")]
    rounds: HowMany,
    /// Observations of each problem.
    #[arg(long, default_value_t = 300)]
    repeats: usize,
    /// Repeat r uses this plus r.
    #[arg(long, default_value_t = FIRST_SEED)]
    first_seed: u64,
    #[command(flatten)]
    study: StudyOptions,
}

/// Sizes of the intervals, and how much less than that they may cover.
const SIZES: [f64; 3] = [0.5, 0.9, 0.95];
const ALLOWED: f64 = 0.03;
/// The seed of the first repeat: large, so that no observation is made by the random numbers of a simulation.
pub const FIRST_SEED: u64 = 1_000;

/// The row of the exact posterior, and how many draws its shares rest on.
const EXACT: &str = "exact";
const EXACT_DRAWS: usize = 10_000;

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    let repeats = if options.study.quick { options.repeats.min(20) } else { options.repeats };
    let models: Vec<&str> = options.models.iter().map(|model| model.name()).collect();
    let mut settings = json!({ "simulations": options.simulations, "first seed": options.first_seed });
    let mut name = "calibration".to_string();
    if options.rounds != HowMany::Exactly(1) {
        settings["rounds"] = json!(options.rounds.to_string());
        name = format!("{name}-rounds-{}", options.rounds);
    }
    let extent = json!({ "problems": options.problems, "models": models, "repeats": repeats });
    let study = Study::open(&options.study, &name, settings, extent)?;
    let mut tasks = vec![];
    for problem in &options.problems {
        let exact = is_sampled(problem)?.then_some(None);
        for model in exact.into_iter().chain(options.models.iter().copied().map(Some)) {
            (0..repeats).for_each(|repeat| tasks.push((problem, model, repeat)));
        }
    }
    let key = |(problem, model, repeat): &(&String, Option<ModelName>, usize)| {
        vec![problem.to_string(), model.map_or(EXACT, |model| model.name()).into(), repeat.to_string()]
    };
    let keys: Vec<Vec<String>> = tasks.iter().map(key).collect();
    let file = Runs { file: "runs.csv", keys: &["problem", "model", "repeat"], values: &["used", "shares", "recalibrated"], rows_each: 1 };
    let runs = study.compute(&file, &keys, |k| {
        let (problem, model, repeat) = tasks[k];
        let (used, shares, recalibrated) = match model {
            Some(model) => one(options, problem, model, repeat)?,
            None => {
                let shares = exact_shares(options, problem, repeat)?;
                (EXACT.into(), shares.clone(), shares)
            }
        };
        Ok(vec![vec![used, joined(&shares), joined(&recalibrated)]])
    })?;
    let mut table = coverage_table();
    for problem in &options.problems {
        if is_sampled(problem)? {
            let rows = runs.matching(&[("problem", problem), ("model", EXACT)])?;
            table.row(coverage_row(problem, EXACT, &shares(&rows, "shares")?));
        }
        for model in &models {
            let rows = runs.matching(&[("problem", problem), ("model", model)])?;
            table.row(coverage_row(problem, model, &shares(&rows, "shares")?));
            table.row(coverage_row(problem, &format!("{model} calibrated"), &shares(&rows, "recalibrated")?));
        }
    }
    table.print(&format!("Share of true values inside central intervals, {} simulations each, everything learned", options.simulations));
    table.write(&study.path("table.csv"))
}

/// Whether the exact posterior of a problem can be sampled.
fn is_sampled(name: &str) -> Result<bool> {
    Ok(matches!(by_name(name)?.reference(), Reference::Sampler))
}

/// Share of the exact posterior below each true value.
fn exact_shares(options: &Options, name: &str, repeat: usize) -> Result<Vec<f64>> {
    let problem = by_name(name)?;
    let seed = options.first_seed + repeat as u64;
    let (truth, y) = data_set(problem.as_ref(), seed)?;
    let draws = problem.reference_samples(&y, EXACT_DRAWS, seed)?;
    Ok(truth
        .iter()
        .enumerate()
        .map(|(d, value)| draws.iter().filter(|draw| draw[d] <= *value).count() as f64 / EXACT_DRAWS as f64)
        .collect())
}

/// The model used, the share of the posterior below each true value, and what leaving out makes of it.
fn one(options: &Options, name: &str, model: ModelName, repeat: usize) -> Result<(String, Vec<f64>, Vec<f64>)> {
    let problem = by_name(name)?;
    let seed = options.first_seed + repeat as u64;
    let (truth, y) = data_set(problem.as_ref(), seed)?;
    let settings = RoundsSettings { budget: options.simulations, rounds: options.rounds, fit: model.settings(seed) };
    let fit = Rounds::new(problem.prior(), &Observation::Statistics(y), &settings)?
        .run(|batch| simulated(problem.as_ref(), batch, seed), &mut |_| true)
        .with_context(|| format!("{name}, {}, repeat {repeat}", model.name()))?;
    let share = |(d, &value): (usize, &f64)| -> Result<f64> { Ok(fit.posterior.cdf(d, &[value])?[0]) };
    let shares: Vec<f64> = truth.iter().enumerate().map(share).collect::<Result<_>>()?;
    let calibration = fit.calibration()?;
    let recalibrated = shares.iter().enumerate().map(|(d, &share)| calibration.recalibrated(d, share)).collect();
    Ok((fit.model.family().name.into(), shares, recalibrated))
}

/// Several numbers in one cell.
pub fn joined(values: &[f64]) -> String {
    values.iter().map(|v| format!("{v:.5}")).collect::<Vec<_>>().join(" ")
}

/// The shares of each run in one column.
pub fn shares(runs: &Table, column: &str) -> Result<Vec<Vec<f64>>> {
    let place = runs.columns().iter().position(|name| name == column).with_context(|| format!("there is no column {column}"))?;
    let numbers = |row: &Vec<String>| row[place].split(' ').map(|cell| cell.parse().context("a share is not a number")).collect();
    runs.rows().iter().map(numbers).collect()
}

/// An empty table of coverage.
pub fn coverage_table() -> Table {
    Table::new(&["problem", "model", "repeats", "50 %", "90 %", "95 %", "standard errors", "verdict"])
}

/// Coverage by the shares of all runs, and whether it is enough.
pub fn coverage_row(problem: &str, model: &str, shares: &[Vec<f64>]) -> Vec<String> {
    let found = SIZES.map(|size| coverage(shares, size));
    let kept = SIZES.iter().zip(&found).all(|(size, (covered, _))| *covered >= size - ALLOWED);
    let mut row = vec![problem.to_string(), model.to_string(), shares.len().to_string()];
    row.extend(found.iter().map(|(covered, _)| format!("{:.1}", 100.0 * covered)));
    row.push(found.iter().map(|(_, error)| format!("{:.1}", 100.0 * error)).collect::<Vec<_>>().join(" "));
    row.push(if kept { "covers" } else { "too narrow" }.into());
    row
}

/// How often intervals of this size cover, and the standard error over runs.
fn coverage(shares: &[Vec<f64>], size: f64) -> (f64, f64) {
    let of_run = |run: &Vec<f64>| run.iter().filter(|share| (2.0 * **share - 1.0).abs() <= size).count() as f64 / run.len() as f64;
    let each: Vec<f64> = shares.iter().map(of_run).collect();
    let count = each.len() as f64;
    let mean = each.iter().sum::<f64>() / count;
    let variance = each.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean, (variance / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_counts_central_shares_and_its_error_is_over_runs() {
        let shares = vec![vec![0.5, 0.74], vec![0.5, 0.76], vec![0.01, 0.99], vec![0.5, 0.5]];
        let (covered, error) = coverage(&shares, 0.5);
        assert!((covered - 5.0 / 8.0).abs() < 1e-12);
        // 1, ½, 0, 1 around ⅝: variance 0.2292 over four runs.
        assert!((error - (0.229_166_666_666_666_66_f64 / 4.0).sqrt()).abs() < 1e-12);
        assert_eq!(coverage_row("p", "m", &shares).last().unwrap(), "too narrow");
        let even: Vec<Vec<f64>> = (0..200).map(|k| vec![(k as f64 + 0.5) / 200.0]).collect();
        assert_eq!(coverage_row("p", "m", &even).last().unwrap(), "covers");
    }
}
