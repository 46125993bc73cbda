//! Do rounds keep every mode? The weight of one mode of posteriors with two and four of them, over many seeds, and whether a check spoke.

use crate::study::{Runs, Study, StudyOptions};
use crate::table::Table;
use anyhow::Result;
use kelfi::checks::Status;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::rounds::{Batch, HowMany, Rounds, RoundsSettings};
use kelfi::samples::independent;
use kelfi::{FitOptions, LOCATION_SCALE, Marginal, ModelChoice, Observation, Points, Prior, Recorded, Simulations};
use serde_json::json;
use std::sync::Arc;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    /// Simulations in all.
    #[arg(long, default_value_t = 200)]
    budget: usize,
    /// Seeds of each case.
    #[arg(long, default_value_t = 100)]
    repeats: usize,
    #[command(flatten)]
    study: StudyOptions,
}

/// Every parameter's square is observed as 1, with this noise: modes at ±1.
const NOISE: f64 = 0.1;
/// A weight may be off by this.
const TOLERANCE: f64 = 0.1;
/// Checks that tell of modes.
const TELLING: [&str; 4] = ["missed_mode", "region", "chains", "rounds"];
const SAMPLES: usize = 4_000;

/// A posterior with several modes: the prior of each of its parameters, and the weight of the mode where all are negative.
struct Case {
    name: &'static str,
    marginal: Marginal,
    parameters: usize,
}

const CASES: [Case; 3] = [
    Case { name: "two equal modes", marginal: Marginal::Uniform { low: -2.0, high: 2.0 }, parameters: 1 },
    Case { name: "modes of 73 and 27 %", marginal: Marginal::Normal { mean: 0.5, std: 1.0 }, parameters: 1 },
    Case { name: "four equal modes", marginal: Marginal::Uniform { low: -2.0, high: 2.0 }, parameters: 2 },
];

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    let repeats = if options.study.quick { options.repeats.min(10) } else { options.repeats };
    let study = Study::open(
        &options.study,
        "lost-modes",
        json!({ "budget": options.budget, "noise": NOISE, "rounds": "auto" }),
        json!({ "repeats": repeats }),
    )?;
    let tasks: Vec<(usize, u64)> = (0..CASES.len()).flat_map(|case| (1..=repeats as u64).map(move |seed| (case, seed))).collect();
    let keys: Vec<Vec<String>> = tasks.iter().map(|(case, seed)| vec![CASES[*case].name.into(), seed.to_string()]).collect();
    let file = Runs { file: "runs.csv", keys: &["case", "seed"], values: &["simulations", "weight", "told"], rows_each: 1 };
    let runs = study.compute(&file, &keys, |k| Ok(vec![CASES[tasks[k].0].one(options.budget, tasks[k].1)?]))?;
    let mut table = Table::new(&["case", "truth", "mean weight", "within 0.1", "within 0.1 or told", "told", "simulations"]);
    for case in &CASES {
        let of_case = runs.matching(&[("case", case.name)])?;
        let [weights, told, simulations] = ["weight", "told", "simulations"].map(|column| of_case.numbers(column));
        let (weights, told, simulations) = (weights?, told?, simulations?);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let right = |weight: &f64| (weight - case.truth()).abs() <= TOLERANCE;
        let count = |keep: &dyn Fn(usize) -> bool| (0..weights.len()).filter(|k| keep(*k)).count().to_string();
        table.row(vec![
            case.name.into(),
            format!("{:.3}", case.truth()),
            format!("{:.3}", mean(&weights)),
            count(&|k| right(&weights[k])),
            count(&|k| right(&weights[k]) || told[k] > 0.0),
            count(&|k| told[k] > 0.0),
            format!("{:.0}", mean(&simulations)),
        ]);
    }
    table.print(&format!("Weights of modes over {repeats} seeds with at most {} simulations in rounds", options.budget));
    table.write(&study.path("table.csv"))
}

impl Case {
    fn prior(&self) -> Result<Prior> {
        Ok(Prior::independent((0..self.parameters).map(|d| (format!("theta_{}", d + 1), self.marginal.clone())).collect())?)
    }

    /// The weight of the mode where all parameters are negative, by quadrature of one of them.
    fn truth(&self) -> f64 {
        let prior = match self.marginal {
            Marginal::Normal { mean, std } => Box::new(move |t: f64| (-0.5 * ((t - mean) / std).powi(2)).exp()) as Box<dyn Fn(f64) -> f64>,
            _ => Box::new(|t: f64| f64::from(u8::from(t.abs() < 2.0))),
        };
        let density = |t: f64| prior(t) * (-0.5 * ((t * t - 1.0) / NOISE).powi(2)).exp();
        let sum = |from: f64| (0..30_000).map(|k| density(from + 1e-4 * (f64::from(k) + 0.5))).sum::<f64>();
        let (negative, positive) = (sum(-3.0), sum(0.0));
        (negative / (negative + positive)).powi(self.parameters as i32)
    }

    /// The cells of one run.
    fn one(&self, budget: usize, seed: u64) -> Result<Vec<String>> {
        let fit = FitOptions::of(ModelChoice::Use(&LOCATION_SCALE), seed);
        let settings = RoundsSettings { budget, rounds: HowMany::Auto, fit };
        let mut rounds = Rounds::new(&self.prior()?, &Observation::Statistics(vec![1.0; self.parameters]), &settings)?;
        let simulate = |batch: &Batch| {
            let one = |k: usize| {
                let mut rng = stream(seed, Purpose::Simulator, (batch.first + k) as u64);
                batch.theta.row(k).iter().map(|theta| theta * theta + NOISE * standard_normal(&mut rng)).collect::<Vec<f64>>()
            };
            let x = Points::from_rows(&(0..batch.theta.rows()).map(one).collect::<Vec<_>>())?;
            Ok(Recorded::Statistics(Arc::new(Simulations::new(batch.theta.clone(), x)?)))
        };
        let fit = rounds.run(simulate, &mut |_| true)?;
        let samples = independent(&fit.posterior, SAMPLES, seed)?.samples;
        let weight = samples.iter().filter(|theta| theta.iter().all(|t| *t < 0.0)).count() as f64 / SAMPLES as f64;
        let told = fit.checks().iter().any(|check| check.status > Status::Ok && TELLING.contains(&check.name.as_str()));
        Ok(vec![rounds.simulations().to_string(), format!("{weight:.4}"), u8::from(told).to_string()])
    }
}
