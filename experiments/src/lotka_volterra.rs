//! The paper's Lotka-Volterra experiment: marginals of the log-parameters from 2,500 prior simulations.

use crate::figure::{Axes, Line, lines};
use crate::table::Table;
use anyhow::Result;
use kelfi::learning::{LearnSettings, Units};
use kelfi::{Inference, Observation, Recorded, Simulations};
use kelfi_problems::lotka_volterra::LotkaVolterra;
use kelfi_problems::{Problem, simulate_many};
use std::path::PathBuf;
use std::sync::Arc;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    /// Number of simulations.
    #[arg(short = 'n', long, default_value_t = 2_500)]
    simulations: usize,
    /// Number of seeds.
    #[arg(long, default_value_t = 5)]
    seeds: u64,
    /// Where results go.
    #[arg(long, default_value = "experiments/results/lotka-volterra")]
    out: PathBuf,
}

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    let problem = LotkaVolterra::new();
    let truth = problem.truth().map(<[f64]>::to_vec).unwrap_or_default();
    let mut table = Table::new(&["learner", "seed", "parameter", "truth", "mean", "mode", "q025", "q975", "truth inside"]);
    let mut inside = [[0_usize; 4]; 2];
    let mut curves: Vec<Line> = Vec::new();
    let grid: Vec<f64> = (0..400).map(|k| -5.0 + 7.0 * (f64::from(k) + 0.5) / 400.0).collect();
    for (kind, (name, settings)) in
        [("mkml", LearnSettings { units: Units::Raw, ..LearnSettings::paper() }), ("loo", LearnSettings::default())].into_iter().enumerate()
    {
        for seed in 1..=options.seeds {
            let simulated = simulate_many(&problem, options.simulations, seed);
            let recorded = Recorded::Statistics(Arc::new(Simulations::new(simulated.theta, simulated.x)?));
            let observation = Observation::Statistics(problem.observation().to_vec());
            let settings = LearnSettings { seed, ..settings.clone() };
            let inference = Inference::new(&recorded, &observation, problem.prior(), &settings, &mut |_| true)?;
            let posterior = &inference.posterior;
            let (mean, mode) = (posterior.mean(), posterior.mode()?);
            for d in 0..4 {
                let (low, high) = posterior.interval(d, 0.95)?;
                let hit = low <= truth[d] && truth[d] <= high;
                inside[kind][d] += usize::from(hit);
                table.row(vec![
                    name.into(),
                    seed.to_string(),
                    problem.parameter_names()[d].clone(),
                    format!("{:.3}", truth[d]),
                    format!("{:.3}", mean[d]),
                    format!("{:.3}", mode[d]),
                    format!("{low:.3}"),
                    format!("{high:.3}"),
                    if hit { "yes" } else { "no" }.into(),
                ]);
            }
            eprintln!("{name}, seed {seed}: {:?}", inference.learned.hyperparameters);
            if seed == 1 {
                curves.push(Line::plain(name, &grid, posterior.marginal(0, &grid)?));
            }
        }
    }
    table.print(&format!(
        "Lotka-Volterra: 95 % intervals of ln θ from {} prior simulations, failed ones kept as κ = 0",
        options.simulations
    ));
    for (kind, name) in ["mkml", "loo"].iter().enumerate() {
        println!("{name}: truth inside the interval of ln θ₁..θ₄ in {:?} of {} seeds", inside[kind], options.seeds);
    }
    table.write(&options.out.join("intervals.csv"))?;
    let axes =
        Axes {
            title: "Lotka-Volterra: marginal of ln θ₁ (truth -4.61)", x: "ln θ₁", y: "posterior density", log_x: false, log_y: false
        };
    lines(&options.out.join("theta1.svg"), &axes, &curves)
}
