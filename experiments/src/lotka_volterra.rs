//! The paper's Lotka-Volterra experiment: marginals of the log-parameters from 2,500 prior simulations.

use crate::figure::{Axes, Legend, Line, Panel, panels};
use crate::study::{Runs, Study, StudyOptions};
use crate::table::Table;
use anyhow::Result;
use kelfi::learning::{KernelMeansOptions, learn};
use kelfi::{Observation, Posterior, Question, Recorded, Simulations};
use kelfi_problems::lotka_volterra::LotkaVolterra;
use kelfi_problems::{BenchmarkProblem, simulate_many};
use serde_json::json;
use std::sync::Arc;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    /// Number of simulations [default: 2,500; 600 if quick].
    #[arg(short = 'n', long)]
    simulations: Option<usize>,
    /// Number of seeds [default: 5; 2 if quick].
    #[arg(long)]
    seeds: Option<u64>,
    #[command(flatten)]
    study: StudyOptions,
}

/// Cells of ln θ on which marginals are kept: the prior's interval [-5, 2] in steps of 0.05.
const CELLS: usize = 140;
const VALUES: [&str; 7] = ["parameter", "truth", "mean", "mode", "q025", "q975", "sd"];

fn learners() -> [(&'static str, KernelMeansOptions); 2] {
    [("mkml", KernelMeansOptions::paper()), ("loo", KernelMeansOptions::default())]
}

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    let quick = options.study.quick;
    let m = options.simulations.unwrap_or(if quick { 600 } else { 2_500 });
    let seeds = options.seeds.unwrap_or(if quick { 2 } else { 5 });
    let study = Study::open(
        &options.study,
        "lotka-volterra",
        json!({ "simulations": m, "first_seed": 1, "statistics": "normalised by the published pilot" }),
        json!({ "seeds": seeds, "learners": learners().map(|(name, _)| name) }),
    )?;
    let problem = LotkaVolterra::new();
    let grid: Vec<f64> = (0..CELLS).map(|k| -5.0 + 7.0 * (k as f64 + 0.5) / CELLS as f64).collect();
    let runs = runs(&study, &problem, m, seeds, &grid)?;
    intervals(&study, &problem, &runs, m, seeds)?;
    draw(&study, &problem, &runs, m, seeds, &grid)
}

/// Four rows, one a parameter, for every learner and seed; the marginal's density on the grid at their ends.
fn runs(study: &Study, problem: &LotkaVolterra, m: usize, seeds: u64, grid: &[f64]) -> Result<Table> {
    let truth = problem.truth().map(<[f64]>::to_vec).unwrap_or_default();
    let tasks: Vec<(usize, u64)> = (0..learners().len()).flat_map(|learner| (1..=seeds).map(move |seed| (learner, seed))).collect();
    let keys: Vec<Vec<String>> = tasks.iter().map(|(learner, seed)| vec![learners()[*learner].0.into(), seed.to_string()]).collect();
    let densities: Vec<String> = grid.iter().map(|value| density_at(*value)).collect();
    let values: Vec<&str> = VALUES.into_iter().chain(densities.iter().map(String::as_str)).collect();
    study.compute(&Runs { file: "runs.csv", keys: &["learner", "seed"], values: &values, rows_each: 4 }, &keys, |k| {
        let (learner, seed) = tasks[k];
        let simulated = simulate_many(problem, m, seed);
        let recorded = Recorded::Statistics(Arc::new(Simulations::new(simulated.theta, simulated.x)?));
        let observation = Observation::Statistics(problem.observation().to_vec());
        let settings = KernelMeansOptions { seed, ..learners()[learner].1.clone() };
        let (model, learned) = learn(&Question::new(problem.prior(), &recorded, &observation), &settings, &mut |_| true)?;
        study.say(&format!("{:?}", learned.hyperparameters));
        let posterior = Posterior::new(Arc::new(model), seed)?;
        let (mean, mode) = (posterior.mean(), posterior.mode()?);
        (0..truth.len())
            .map(|d| -> Result<Vec<String>> {
                let (low, high) = posterior.interval(d, 0.95)?;
                let mut cells = vec![problem.parameter_names()[d].clone()];
                cells.extend([truth[d], mean[d], mode[d], low, high, posterior.std(d)?].map(|value| format!("{value:.4}")));
                cells.extend(posterior.marginal(d, grid)?.iter().map(|density| format!("{density:.4}")));
                Ok(cells)
            })
            .collect()
    })
}

/// Column of the density at a value.
fn density_at(value: f64) -> String {
    format!("density at {value:.3}")
}

/// Every interval, and how often each parameter's held the truth.
fn intervals(study: &Study, problem: &LotkaVolterra, runs: &Table, m: usize, seeds: u64) -> Result<()> {
    let mut all = Table::new(&["learner", "seed", "parameter", "truth", "mean", "mode", "q025", "q975", "truth inside"]);
    let mut summary =
        Table::new(&["learner", "parameter", "seeds", "truth inside", "mean width", "mean error of mean", "mean error of mode"]);
    for (learner, _) in learners() {
        for name in problem.parameter_names() {
            let rows = runs.matching(&[("learner", learner), ("parameter", name)])?;
            let [truth, mean, mode, low, high] = ["truth", "mean", "mode", "q025", "q975"].map(|column| rows.numbers(column));
            let (truth, mean, mode, low, high) = (truth?, mean?, mode?, low?, high?);
            let inside: Vec<bool> = (0..truth.len()).map(|k| low[k] <= truth[k] && truth[k] <= high[k]).collect();
            for (k, hit) in inside.iter().enumerate() {
                let cells = [truth[k], mean[k], mode[k], low[k], high[k]].map(|value| format!("{value:.3}"));
                let ends = [learner.to_string(), (k + 1).to_string(), name.clone()].into_iter().chain(cells);
                all.row(ends.chain([if *hit { "yes" } else { "no" }.to_string()]).collect());
            }
            let average = |f: &dyn Fn(usize) -> f64| format!("{:.3}", (0..truth.len()).map(f).sum::<f64>() / truth.len() as f64);
            summary.row(vec![
                learner.into(),
                name.clone(),
                seeds.to_string(),
                inside.iter().filter(|hit| **hit).count().to_string(),
                average(&|k| high[k] - low[k]),
                average(&|k| (mean[k] - truth[k]).abs()),
                average(&|k| (mode[k] - truth[k]).abs()),
            ]);
        }
    }
    all.print(&format!("Lotka-Volterra: 95 % intervals of ln θ from {m} prior simulations, failed ones kept as κ = 0"));
    all.write(&study.path("intervals.csv"))?;
    summary.print("Lotka-Volterra: coverage, widths and distances to the truth (the prior's 95 % interval is 6.65 wide)");
    summary.write(&study.path("coverage.csv"))
}

/// Marginals and intervals of the four parameters, all seeds.
fn draw(study: &Study, problem: &LotkaVolterra, runs: &Table, m: usize, seeds: u64, grid: &[f64]) -> Result<()> {
    let labels: Vec<String> = ["₁", "₂", "₃", "₄"].map(|d| format!("ln θ{d}")).to_vec();
    let titles: Vec<String> = labels.iter().map(|label| format!("{label}: {m} simulations, {seeds} seeds")).collect();
    let (mut marginals, mut intervals) = (vec![], vec![]);
    for (d, name) in problem.parameter_names().iter().enumerate() {
        let truth = runs.matching(&[("parameter", name)])?.numbers("truth")?[0];
        let (mut densities, mut bars): (Vec<Line>, Vec<Line>) = (vec![], vec![]);
        for (learner, _) in learners() {
            for seed in 1..=seeds {
                let row = runs.matching(&[("learner", learner), ("seed", &seed.to_string()), ("parameter", name)])?;
                let density: Vec<f64> = grid.iter().map(|value| Ok(row.numbers(&density_at(*value))?[0])).collect::<Result<_>>()?;
                let legend = if seed == 1 { learner } else { "" };
                densities.push(Line::plain(legend, grid, density));
                let ends = [row.numbers("q025")?[0], row.numbers("q975")?[0]];
                bars.push(Line::plain(legend, &ends, vec![bars.len() as f64 + 1.0; 2]));
            }
        }
        let top = cut_off(&mut densities);
        densities.push(Line::dashed("truth", &[truth; 2], vec![0.0, top]));
        bars.push(Line::dashed("truth", &[truth; 2], vec![0.5, bars.len() as f64 + 0.5]));
        let axes = Axes { title: &titles[d], x: &labels[d], y: "posterior density (tall peaks cut)", log_x: false, log_y: false };
        marginals.push(Panel { axes, lines: densities, legend: Legend::Corner });
        intervals.push(Panel { axes: Axes { y: "run (95 % interval)", ..axes }, lines: bars, legend: Legend::Corner });
    }
    panels(&study.path("marginals.svg"), &marginals)?;
    panels(&study.path("intervals.svg"), &intervals)
}

/// Cuts densities at one and a half times their median peak, so that a spike at the prior's edge does not flatten the others.
fn cut_off(lines: &mut [Line]) -> f64 {
    let mut peaks: Vec<f64> = lines.iter().map(|line| line.y.iter().copied().fold(0.0, f64::max)).collect();
    peaks.sort_by(f64::total_cmp);
    let top = (1.5 * peaks[peaks.len() / 2]).min(peaks[peaks.len() - 1]);
    lines.iter_mut().flat_map(|line| &mut line.y).for_each(|density| *density = density.min(top));
    top
}
