//! The paper's blowfly experiment: error of the posterior mean against simulations, learned ε, relevance of the statistics, the surface.

use crate::figure::{Axes, HeatMap, Line, heat_map, lines};
use crate::table::Table;
use anyhow::Result;
use kelfi::learning::surface::surface;
use kelfi::learning::{EpsilonChoice, LearnSettings, Objective, learn};
use kelfi::{Hyperparameters, KernelMeansLikelihood, Observation, Posterior, Recorded, Simulations};
use kelfi_problems::blowfly::{Blowfly, nmse};
use kelfi_problems::{Problem, simulate_many};
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    /// Three repeats at four sizes instead of ten at ten.
    #[arg(long)]
    quick: bool,
    /// Where results go.
    #[arg(long, default_value = "experiments/results/blowfly")]
    out: PathBuf,
}

const RUNS_PER_ESTIMATE: usize = 1_000;

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    let problem = Blowfly::new();
    error_against_simulations(&problem, options)?;
    relevance(&problem, options)?;
    surface_at_280(&problem, options)
}

fn record(problem: &Blowfly, m: usize, seed: u64) -> Result<(Recorded, Observation)> {
    let simulated = simulate_many(problem, m, seed);
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(simulated.theta, simulated.x)?));
    Ok((recorded, Observation::Statistics(problem.observation().to_vec())))
}

/// NMSE (percent) of the posterior mean in ln θ, and the first tolerance.
fn one(problem: &Blowfly, m: usize, seed: u64, settings: &LearnSettings) -> Result<(f64, f64)> {
    let (recorded, observation) = record(problem, m, seed)?;
    let (model, learned) = learn(&recorded, &observation, problem.prior(), settings, &mut |_| true)?;
    let posterior = Posterior::new(Arc::new(model), seed)?;
    Ok((nmse(problem, &posterior.mean(), RUNS_PER_ESTIMATE, 1_000 + seed)?, learned.hyperparameters.epsilon[0]))
}

fn methods() -> Vec<(&'static str, LearnSettings)> {
    vec![
        ("mkml (paper)", LearnSettings::paper()),
        ("mkml ard", LearnSettings { epsilon: EpsilonChoice::PerStatistic, ..LearnSettings::paper() }),
        ("loo (ours)", LearnSettings::default()),
    ]
}

fn error_against_simulations(problem: &Blowfly, options: &Options) -> Result<()> {
    let sizes: &[usize] = if options.quick { &[100, 300, 600, 1_000] } else { &[50, 100, 150, 200, 280, 300, 400, 600, 800, 1_000] };
    let repeats = if options.quick { 3 } else { 10 };
    let mut table = Table::new(&["method", "simulations", "nmse mean %", "nmse min %", "nmse max %", "epsilon mean"]);
    let mut curves = Vec::new();
    let mut tolerances = Vec::new();
    for (name, settings) in methods() {
        let mut curve = Line { name: name.into(), x: vec![], y: vec![], low: vec![], high: vec![] };
        let mut tolerance = Line::plain(name, &[], vec![]);
        for &m in sizes {
            let results: Vec<(f64, f64)> =
                (1..=repeats).into_par_iter().map(|seed| one(problem, m, seed, &settings)).collect::<Result<_>>()?;
            let errors: Vec<f64> = results.iter().map(|r| r.0).collect();
            let mean = |values: &dyn Fn(&(f64, f64)) -> f64| results.iter().map(values).sum::<f64>() / results.len() as f64;
            let (low, high) = errors.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), e| (l.min(*e), h.max(*e)));
            let (error, epsilon) = (mean(&|r| r.0), mean(&|r| r.1));
            table.row(vec![
                name.into(),
                m.to_string(),
                format!("{error:.3}"),
                format!("{low:.3}"),
                format!("{high:.3}"),
                format!("{epsilon:.4}"),
            ]);
            eprintln!("{name}, m = {m}: NMSE {error:.2} % ({low:.2} to {high:.2})");
            curve.x.push(m as f64);
            curve.y.push(error);
            curve.low.push(low);
            curve.high.push(high);
            tolerance.x.push(m as f64);
            tolerance.y.push(epsilon);
        }
        curves.push(curve);
        if name != "mkml ard" {
            tolerances.push(tolerance);
        }
    }
    table.print(&format!("Blowfly: NMSE of the posterior mean over {repeats} repeats (prior mean: 6.1 %)"));
    table.write(&options.out.join("nmse.csv"))?;
    let axes =
        Axes { title: "Blowfly: error against simulations (mean, min to max)", x: "simulations", y: "NMSE (%)", log_x: false, log_y: true };
    lines(&options.out.join("nmse.svg"), &axes, &curves)?;
    let axes = Axes {
        title: "Blowfly: learned tolerance of the first statistic",
        x: "simulations",
        y: "ε (units of the statistic)",
        log_x: false,
        log_y: true,
    };
    lines(&options.out.join("epsilon.svg"), &axes, &tolerances)
}

fn relevance(problem: &Blowfly, options: &Options) -> Result<()> {
    let m = if options.quick { 300 } else { 1_000 };
    let (recorded, observation) = record(problem, m, 1)?;
    let mut table = Table::new(&["statistic", "mkml ard epsilon", "mkml rank", "loo epsilon", "loo epsilon / spread", "loo rank"]);
    let evidence = LearnSettings { epsilon: EpsilonChoice::PerStatistic, ..LearnSettings::paper() };
    let paper = learn(&recorded, &observation, problem.prior(), &evidence, &mut |_| true)?.1;
    let ours = learn(&recorded, &observation, problem.prior(), &LearnSettings::default(), &mut |_| true)?.1;
    // The paper ranks raw tolerances; ours are ranked in units of each statistic's spread.
    let mut by_epsilon: Vec<usize> = (0..10).collect();
    by_epsilon.sort_by(|&a, &b| paper.statistics[a].epsilon.total_cmp(&paper.statistics[b].epsilon));
    let ranking = ours.ranking();
    let place = |order: &[usize], i: usize| order.iter().position(|&k| k == i).map_or(0, |p| p + 1).to_string();
    for (i, name) in problem.statistic_names().iter().enumerate() {
        table.row(vec![
            name.clone(),
            format!("{:.3}", paper.statistics[i].epsilon),
            place(&by_epsilon, i),
            format!("{:.3}", ours.statistics[i].epsilon),
            format!("{:.3}", ours.statistics[i].relative_epsilon),
            place(&ranking, i),
        ]);
    }
    table.print(&format!("Blowfly: relevance of the statistics at m = {m} (1 = most relevant)"));
    table.write(&options.out.join("relevance.csv"))
}

/// The surface at m = 280 with the error of six marked choices.
fn surface_at_280(problem: &Blowfly, options: &Options) -> Result<()> {
    let (recorded, observation) = record(problem, 280, 1)?;
    let settings = LearnSettings::paper();
    let learned = learn(&recorded, &observation, problem.prior(), &settings, &mut |_| true)?.1;
    let spaced = |low: f64, high: f64| -> Vec<f64> { (0..100).map(|k| low * (high / low).powf(f64::from(k) / 99.0)).collect() };
    let (epsilons, lengths) = (spaced(0.3, 10.0), spaced(0.3, 10.0));
    let data = surface(&recorded, &observation, problem.prior(), &settings, &epsilons, &lengths, &mut |_| true)?;
    let best = (learned.hyperparameters.epsilon[0], learned.hyperparameters.length_scale[0]);
    let choices = [(1.0, 1.0), (0.5, 1.0), (2.0, 1.0), (4.0, 1.0), (1.0, 0.5), (1.0, 2.0)].map(|(e, b)| (best.0 * e, best.1 * b));
    let mut table = Table::new(&["choice", "epsilon", "length scale", "ln q(y)", "nmse %"]);
    let mut marks = Vec::new();
    for (index, &(epsilon, length)) in choices.iter().chain(&[(10.0, 10.0)]).enumerate() {
        let hyperparameters = Hyperparameters::isotropic(epsilon, length, 1e-3 * length);
        let model = KernelMeansLikelihood::new(recorded.clone(), &observation, problem.prior(), &hyperparameters)?;
        let (evidence, posterior) = (model.log_marginal_likelihood(), Posterior::new(Arc::new(model), 1));
        let error = posterior.and_then(|p| nmse(problem, &p.mean(), RUNS_PER_ESTIMATE, 7));
        let show = |value: Result<f64, kelfi::Error>| value.map_or("no positive evidence".to_string(), |v| format!("{v:.2}"));
        table.row(vec![(index + 1).to_string(), format!("{epsilon:.3}"), format!("{length:.3}"), show(evidence), show(error)]);
        marks.push((epsilon, length, (index + 1).to_string()));
    }
    table.print("Blowfly, m = 280: NMSE at marked hyperparameters (1 = mkml optimum; 7 = (10, 10), nearly the prior)");
    table.write(&options.out.join("surface_choices.csv"))?;
    let axes = Axes {
        title: "Blowfly, m = 280: ln q(y) over (ε, β₀), λ = 0.001 β₀",
        x: "ε (raw statistics)",
        y: "β₀ (prior standard deviations)",
        log_x: true,
        log_y: true,
    };
    let inside = marks.into_iter().filter(|(e, b, _)| (0.3..=10.0).contains(e) && (0.3..=10.0).contains(b)).collect();
    heat_map(
        &options.out.join("surface.svg"),
        &HeatMap { axes, x: &epsilons, y: &lengths, values: data.log_marginal_likelihood.values(), depth: 6.0, marks: inside },
    )?;
    println!(
        "objective of the paper at its optimum: ln q(y) = {:.3}; {} factorisations",
        learned.optima[0].objective, learned.factorisations
    );
    debug_assert_eq!(settings.objective, Objective::Evidence);
    Ok(())
}
