//! What a tolerance alone does to intervals: the tolerances that the kernel means model learns, with so many simulations that no estimate is
//! needed. Beside the coverage of the model itself (`calibration`) it tells blur from error.

use crate::calibration::{FIRST_SEED, coverage_row, coverage_table, joined, shares};
use crate::model_name::ModelName;
use crate::study::{Runs, Study, StudyOptions};
use anyhow::{Context, Result, ensure};
use kelfi::{Fit, KernelMeansLikelihood, Observation, Question, Recorded, Simulations};
use kelfi_problems::{BenchmarkProblem, Simulated, by_name, data_set, simulate_many};
use serde_json::json;
use std::sync::Arc;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    /// Problems of the catalogue.
    #[arg(long, value_delimiter = ',', default_values_t = ["sbibm_two_moons"].map(String::from))]
    problems: Vec<String>,
    /// Simulations that tolerances are learned from.
    #[arg(long, default_value_t = 300)]
    simulations: usize,
    /// Simulations that are then weighted by their distance from the observation.
    #[arg(long, default_value_t = 1_000_000)]
    weighted: usize,
    /// Observations of each problem.
    #[arg(long, default_value_t = 300)]
    repeats: usize,
    #[command(flatten)]
    study: StudyOptions,
}

/// Seed of the weighted simulations.
const WEIGHTED_SEED: u64 = 7;

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    let repeats = if options.study.quick { options.repeats.min(20) } else { options.repeats };
    let study = Study::open(
        &options.study,
        "blur",
        json!({ "simulations": options.simulations, "weighted": options.weighted, "first seed": FIRST_SEED }),
        json!({ "problems": options.problems, "repeats": repeats }),
    )?;
    let problems: Vec<Box<dyn BenchmarkProblem>> = options.problems.iter().map(|name| Ok(by_name(name)?)).collect::<Result<_>>()?;
    let many: Vec<Simulated> = problems.iter().map(|problem| simulate_many(problem.as_ref(), options.weighted, WEIGHTED_SEED)).collect();
    let tasks: Vec<(usize, usize)> = (0..problems.len()).flat_map(|p| (0..repeats).map(move |repeat| (p, repeat))).collect();
    let keys: Vec<Vec<String>> = tasks.iter().map(|&(p, r)| vec![options.problems[p].clone(), r.to_string()]).collect();
    let file = Runs { file: "runs.csv", keys: &["problem", "repeat"], values: &["tolerances", "shares"], rows_each: 1 };
    let runs = study.compute(&file, &keys, |k| {
        let (p, repeat) = tasks[k];
        let (tolerances, shares) = one(options, problems[p].as_ref(), &many[p], repeat).with_context(|| keys[k].join(", "))?;
        Ok(vec![vec![joined(&tolerances), joined(&shares)]])
    })?;
    let mut table = coverage_table();
    for problem in &options.problems {
        table.row(coverage_row(problem, "tolerance alone", &shares(&runs.matching(&[("problem", problem)])?, "shares")?));
    }
    let title =
        format!("Tolerances learned from {} simulations, then {} simulations weighted by them", options.simulations, options.weighted);
    table.print(&title);
    table.write(&study.path("table.csv"))
}

/// The learned tolerances, and the share of weight below each true value.
fn one(options: &Options, problem: &dyn BenchmarkProblem, many: &Simulated, repeat: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    let seed = FIRST_SEED + repeat as u64;
    let (truth, y) = data_set(problem, seed)?;
    let simulated = simulate_many(problem, options.simulations, seed);
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(simulated.theta, simulated.x)?));
    let settings = ModelName::KernelMeans.settings(seed);
    let fit = Fit::new(&Question::new(problem.prior(), &recorded, &Observation::Statistics(y.clone())), &settings, &mut |_| true)?;
    let model = fit.model_as::<KernelMeansLikelihood>().context("the kernel means model was asked for")?;
    let tolerances = model.hyperparameters().epsilon.clone();
    Ok((tolerances.clone(), weighted_shares(many, &y, &tolerances, &truth)?))
}

/// Σ_j w_j [θ_jd < truth_d] / Σ_j w_j, w_j = exp(-½ Σ_i (x_ji - y_i)²/ε_i²).
fn weighted_shares(many: &Simulated, y: &[f64], tolerances: &[f64], truth: &[f64]) -> Result<Vec<f64>> {
    let (mut total, mut below) = (0.0, vec![0.0; truth.len()]);
    for (theta, x) in many.theta.iter().zip(many.x.iter()) {
        let squared: f64 = x.iter().zip(y).zip(tolerances).map(|((x, y), e)| ((x - y) / e).powi(2)).sum();
        let weight = if squared.is_finite() { (-0.5 * squared).exp() } else { 0.0 };
        total += weight;
        below.iter_mut().zip(theta.iter().zip(truth)).for_each(|(below, (t, truth))| *below += if t < truth { weight } else { 0.0 });
    }
    ensure!(total > 1.0, "no simulation comes near the observation; weight more of them");
    Ok(below.into_iter().map(|b| b / total).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kelfi::Points;

    #[test]
    fn nearer_simulations_weigh_more() {
        let theta = Points::from_column(vec![0.0, 1.0, 2.0]);
        let x = Points::from_column(vec![0.0, 0.5, f64::NAN]);
        let many = Simulated { theta, x, failures: vec![] };
        let far = (-0.5_f64 * 4.0).exp();
        let shares = weighted_shares(&many, &[0.0], &[0.25], &[0.7]).unwrap();
        assert!((shares[0] - 1.0 / (1.0 + far)).abs() < 1e-12, "{shares:?}");
        assert!(weighted_shares(&many, &[90.0], &[0.25], &[0.7]).is_err());
    }
}
