//! Seconds and factorisations of learning beside the authors' procedure: 1,000 plain gradient steps in NumPy/SciPy.

use crate::table::Table;
use anyhow::{Context, Result};
use kelfi::learning::{EpsilonChoice, KernelMeansOptions, Objective, learn};
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{Marginal, Observation, Points, Prior, Question, Recorded, Simulations};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    /// A Python with NumPy and SciPy for the peer.
    #[arg(long, default_value = "python3")]
    python: String,
    /// Numbers of simulations.
    #[arg(long, value_delimiter = ',', default_values_t = [300, 1_000, 2_500])]
    simulations: Vec<usize>,
    /// Gradient steps the peer really takes at 2,500 simulations, more where they cost less; its time is multiplied up to 1,000.
    /// Without a peer if 0.
    #[arg(long, default_value_t = 20)]
    steps: usize,
    /// Only the learner of this name: loo, mkml or "mkml ard".
    #[arg(long)]
    learner: Option<String>,
    /// Learn this many times; the table has the middle time.
    #[arg(long, default_value_t = 3)]
    repeats: usize,
    /// Where the CSV file goes.
    #[arg(long, default_value = "experiments/results/timing")]
    out: PathBuf,
}

const PARAMETERS: usize = 4;
const STATISTICS: usize = 10;

impl Options {
    fn peer_steps(&self, m: usize) -> usize {
        (self.steps as f64 * (2_500.0 / m as f64).powi(2)).ceil().min(1_000.0) as usize
    }
}

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    let mut table = Table::new(&[
        "m",
        "learner",
        "seconds",
        "factorisations",
        "evaluations",
        "peer: steps run",
        "peer: 1000 steps (s)",
        "times faster",
    ]);
    for &m in &options.simulations {
        let (recorded, observation, prior) = problem(m)?;
        let peer = if options.steps > 0 { peer_seconds(options, m)? } else { f64::NAN };
        let evidence = KernelMeansOptions { objective: Objective::Evidence, ..KernelMeansOptions::default() };
        let isotropic = KernelMeansOptions { epsilon: EpsilonChoice::Isotropic, ..evidence.clone() };
        for (name, settings) in [("loo", KernelMeansOptions::default()), ("mkml", isotropic), ("mkml ard", evidence)] {
            if options.learner.as_deref().is_some_and(|only| only != name) {
                continue;
            }
            let mut seconds = vec![];
            let mut counts = (0, 0);
            for _ in 0..options.repeats.max(1) {
                let start = Instant::now();
                let (_, learned) = learn(&Question::new(&prior, &recorded, &observation), &settings, &mut |_| true)?;
                seconds.push(start.elapsed().as_secs_f64());
                counts = (learned.factorisations, learned.evaluations);
            }
            seconds.sort_by(f64::total_cmp);
            let seconds = seconds[seconds.len() / 2];
            table.row(vec![
                m.to_string(),
                name.to_string(),
                format!("{seconds:.3}"),
                counts.0.to_string(),
                counts.1.to_string(),
                options.peer_steps(m).to_string(),
                format!("{peer:.1}"),
                format!("{:.0}", peer / seconds),
            ]);
        }
    }
    table.print("A full learn (n = 10, D = 4) beside 1,000 gradient steps of the evidence in NumPy/SciPy");
    table.write(&options.out.join("timing.csv"))
}

/// Ten smooth functions of four parameters with noise.
fn problem(m: usize) -> Result<(Recorded, Observation, Prior)> {
    let prior = Prior::independent((0..PARAMETERS).map(|d| (format!("p{d}"), Marginal::Normal { mean: 0.0, std: 1.0 })).collect())?;
    let theta = prior.draw(m, 1);
    let output = |theta: &[f64], index: u64| -> Vec<f64> {
        let mut rng = stream(1, Purpose::Simulator, index);
        let signal = |k: usize| theta[k % PARAMETERS] + 0.5 * (theta[(k + 1) % PARAMETERS] * (1.0 + k as f64 / 5.0)).sin();
        (0..STATISTICS).map(|k| signal(k) + 0.3 * standard_normal(&mut rng)).collect()
    };
    let x: Vec<Vec<f64>> = theta.iter().enumerate().map(|(j, theta)| output(theta, j as u64)).collect();
    let y = output(&[0.3, -0.5, 0.8, 0.1], u64::MAX);
    let simulations = Simulations::new(theta, Points::from_rows(&x)?)?;
    Ok((Recorded::Statistics(Arc::new(simulations)), Observation::Statistics(y), prior))
}

/// Runs the peer in the same minute, with as many threads as it likes.
fn peer_seconds(options: &Options, m: usize) -> Result<f64> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers/numpy_evidence.py");
    let output = Command::new(&options.python)
        .arg(&script)
        .args([m.to_string(), PARAMETERS.to_string(), STATISTICS.to_string(), options.peer_steps(m).to_string()])
        .output()
        .with_context(|| format!("could not start {}; name a Python with NumPy and SciPy by --python", options.python))?;
    anyhow::ensure!(output.status.success(), "the peer failed: {}", String::from_utf8_lossy(&output.stderr));
    let per_step: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().context("the peer did not print its seconds per step")?;
    Ok(1_000.0 * per_step)
}
