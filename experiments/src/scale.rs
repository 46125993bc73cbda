//! Seconds, memory and accuracy of the default fit against the number of simulations, parameters and statistics.
//!
//! θ ~ N(0, I). Statistic k is t + 0.2 t² + N(0, 0.3²), t a combination of the parameters with coefficients of unit length, the same for all
//! sizes: a mildly bent model whose likelihood is known. The reference is a long run of chains on the exact posterior.

use crate::figure::{Axes, Line, lines};
use crate::table::Table;
use anyhow::Result;
use kelfi::chains::slice_chains::Chains;
use kelfi::chains::target::Target;
use kelfi::prior::LatentPrior;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{Fit, FitOptions, Marginal, ModelChoice, Observation, Points, Prior, Question, Recorded, Simulations};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    /// Numbers of simulations.
    #[arg(long, value_delimiter = ',', default_values_t = [300, 1_000, 3_000, 10_000, 100_000])]
    simulations: Vec<usize>,
    /// Number of parameters.
    #[arg(long, default_value_t = 2)]
    parameters: usize,
    /// Number of statistics.
    #[arg(long, default_value_t = 5)]
    statistics: usize,
    /// Which model.
    #[arg(long, default_value = "auto")]
    model: String,
    /// Seeds: one fit to other simulations each.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Where the files go; rows are added to those that are there.
    #[arg(long, default_value = "experiments/results/scale")]
    out: PathBuf,
}

const NOISE: f64 = 0.3;
const BEND: f64 = 0.2;
const SAMPLES: usize = 10_000;
const REFERENCE: usize = 20_000;
const COLUMNS: [&str; 13] = [
    "parameters",
    "statistics",
    "simulations",
    "seed",
    "model",
    "fit_seconds",
    "sample_seconds",
    "cpu_seconds",
    "peak_mb",
    "r_hat",
    "mean_error",
    "narrowest",
    "widest",
];

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    let path = options.out.join("scale.csv");
    let mut table = if path.exists() { Table::read(&path)? } else { Table::new(&COLUMNS) };
    let problem = Bent::new(options.parameters, options.statistics);
    let reference = problem.reference()?;
    for &m in &options.simulations {
        for seed in 1..=options.seeds {
            table.row(problem.measured(m, seed, &options.model, &reference)?);
            table.write(&path)?;
        }
    }
    table.print("The default fit against the number of simulations, parameters and statistics");
    figure(&table, options)
}

/// Seconds against the number of simulations, a line for each kind of problem.
fn figure(table: &Table, options: &Options) -> Result<()> {
    let mut kinds: Vec<(String, String)> = table.rows().iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    kinds.sort();
    kinds.dedup();
    let of_kind = |(parameters, statistics): &(String, String)| -> Result<Line> {
        let rows = table.matching(&[("parameters", parameters), ("statistics", statistics)])?;
        let mut points: Vec<(f64, f64)> = rows.numbers("simulations")?.into_iter().zip(rows.numbers("fit_seconds")?).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        Ok(Line::plain(&format!("{parameters} parameters, {statistics} statistics"), &x, y))
    };
    let curves: Vec<Line> = kinds.iter().map(of_kind).collect::<Result<_>>()?;
    let axes = Axes { title: "Seconds of the default fit", x: "simulations", y: "seconds", log_x: true, log_y: true };
    lines(&options.out.join("scale.svg"), &axes, &curves)
}

/// The problem of one size.
struct Bent {
    parameters: usize,
    /// Coefficients of each statistic.
    rows: Vec<Vec<f64>>,
    observed: Vec<f64>,
}

/// Means and standard deviations of every parameter.
type Moments = Vec<(f64, f64)>;

impl Bent {
    fn new(parameters: usize, statistics: usize) -> Self {
        let mut rng = stream(1, Purpose::Experiment, (parameters * 1_000 + statistics) as u64);
        let mut normal = |count: usize| -> Vec<f64> { (0..count).map(|_| standard_normal(&mut rng)).collect() };
        let unit = |row: Vec<f64>| {
            let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            row.into_iter().map(|v| v / length).collect()
        };
        let rows: Vec<Vec<f64>> = (0..statistics).map(|_| unit(normal(parameters))).collect();
        let (truth, noise) = (normal(parameters), normal(statistics));
        let mut problem = Self { parameters, rows, observed: vec![] };
        problem.observed = problem.means(&truth).iter().zip(noise).map(|(mean, e)| mean + NOISE * e).collect();
        problem
    }

    fn means(&self, theta: &[f64]) -> Vec<f64> {
        self.along(theta).into_iter().map(|t| t + BEND * t * t).collect()
    }

    fn along(&self, theta: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|row| row.iter().zip(theta).map(|(a, t)| a * t).sum()).collect()
    }

    fn question(&self, m: usize, seed: u64) -> Result<Question> {
        let marginals = (0..self.parameters).map(|d| (format!("t{d}"), Marginal::Normal { mean: 0.0, std: 1.0 })).collect();
        let prior = Prior::independent(marginals)?;
        let theta = prior.draw(m, seed);
        let mut x = Points::zeros(m, self.rows.len());
        for j in 0..m {
            let mut rng = stream(seed, Purpose::Simulator, j as u64);
            let output = self.means(theta.row(j)).into_iter().map(|mean| mean + NOISE * standard_normal(&mut rng));
            x.row_mut(j).iter_mut().zip(output).for_each(|(x, value)| *x = value);
        }
        let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, x)?));
        Ok(Question::new(&prior, &recorded, &Observation::Statistics(self.observed.clone())))
    }

    fn reference(&self) -> Result<Moments> {
        Ok(moments(&Chains::new(self, 1, &mut || true)?.draw(self, REFERENCE, 1, &mut || true)?.z))
    }

    /// A row of the table.
    fn measured(&self, m: usize, seed: u64, model: &str, reference: &Moments) -> Result<Vec<String>> {
        let question = self.question(m, seed)?;
        // 5 sets the recorded peak back to what is in use now; where that is not possible the peak is that of the process.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let (began, cpu) = (Instant::now(), cpu_seconds());
        let fit = Fit::new(&question, &FitOptions::of(ModelChoice::named(model)?, seed), &mut |_| true)?;
        let fitted = began.elapsed().as_secs_f64();
        let began = Instant::now();
        let drawn = kelfi::samples::slice(&fit.posterior, SAMPLES, seed, &mut || true)?;
        let sampled = began.elapsed().as_secs_f64();
        let found = moments(&drawn.samples);
        let errors = found.iter().zip(reference).map(|(found, exact)| (found.0 - exact.0).abs() / exact.1);
        let ratios: Vec<f64> = found.iter().zip(reference).map(|(found, exact)| found.1 / exact.1).collect();
        let mut row = vec![self.parameters.to_string(), self.rows.len().to_string(), m.to_string(), seed.to_string()];
        row.push(fit.model.family().name.to_owned());
        row.extend([fitted, sampled, cpu_seconds() - cpu].map(|seconds| format!("{seconds:.1}")));
        row.push(format!("{:.0}", peak_megabytes()));
        row.push(format!("{:.3}", drawn.r_hat.iter().copied().fold(1.0, f64::max)));
        row.push(format!("{:.3}", errors.fold(0.0, f64::max)));
        row.push(format!("{:.3}", ratios.iter().copied().fold(f64::INFINITY, f64::min)));
        row.push(format!("{:.3}", ratios.iter().copied().fold(0.0, f64::max)));
        println!("{}", row.join(" "));
        Ok(row)
    }
}

/// The exact posterior.
impl Target for Bent {
    fn latent(&self) -> LatentPrior {
        LatentPrior::standard_normal(self.parameters)
    }

    fn ln_likelihoods(&self, z: &Points) -> Vec<f64> {
        let of_one = |theta: &[f64]| {
            let squared = self.means(theta).iter().zip(&self.observed).map(|(mean, y)| ((y - mean) / NOISE).powi(2)).sum::<f64>();
            -0.5 * squared
        };
        z.iter().map(of_one).collect()
    }

    fn most_promising(&self, _count: usize) -> Points {
        Points::zeros(1, self.parameters)
    }

    fn ln_gradients(&self, z: &Points) -> Option<(Vec<f64>, Points)> {
        let of_one = |theta: &[f64]| {
            let mut gradient = vec![0.0; self.parameters];
            for ((row, t), y) in self.rows.iter().zip(self.along(theta)).zip(&self.observed) {
                let factor = (y - t - BEND * t * t) / (NOISE * NOISE) * (1.0 + 2.0 * BEND * t);
                gradient.iter_mut().zip(row).for_each(|(g, a)| *g += factor * a);
            }
            gradient
        };
        Some((self.ln_likelihoods(z), z.map_rows(self.parameters, of_one)))
    }
}

fn moments(draws: &Points) -> Moments {
    let of_one = |d: usize| {
        let (values, count) = (draws.column(d), draws.rows() as f64);
        let mean = values.iter().sum::<f64>() / count;
        (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt())
    };
    (0..draws.columns()).map(of_one).collect()
}

/// The most memory that was in use, as Linux counts it; 0 elsewhere.
fn peak_megabytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).map_or(0.0, |kilobytes| kilobytes / 1024.0)
}

/// Seconds of all processors so far, as Linux counts them in hundredths; 0 elsewhere.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / 100.0
}
