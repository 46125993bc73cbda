//! The exponential-gamma toy: posteriors of the surrogate methods beside the exact one (the paper's Figure 1).

use super::contestant::{Asked, Contestant};
use crate::figure::{Axes, Line, lines};
use crate::study::{Runs, Study, StudyOptions};
use crate::table::Table;
use crate::toy::Choices;
use anyhow::{Context, Result};
use kelfi::method::Answer;
use kelfi::{KernelMeansLikelihood, Observation, Points, Posterior, Prior, Question, Recorded, Simulations};
use kelfi_baselines::kernel::kernel_abc::{Choice, KernelAbc, Sampling};
use kelfi_baselines::kernel::kernel_bayes::KernelBayes;
use kelfi_baselines::kernel::maximum_mean::{Discrepancy, MaximumMean};
use kelfi_baselines::process::gps_abc::GpsAbc;
use kelfi_problems::exponential_gamma::ExponentialGamma;
use kelfi_problems::{BenchmarkProblem, simulate_many};
use rand::Rng;
use rand_distr::{Distribution, Exp1};
use serde_json::json;
use std::sync::Arc;

/// Calls, and those that GPS-ABC may make (paper).
const CALLS: usize = 100;
const CALLS_OF_GPS: usize = 200;
/// Steps of GPS-ABC (paper).
const LENGTH: usize = 10_000;
/// Waiting times in a data set (paper).
const DATA: usize = 15;
/// The repeat that is drawn: the seed of our other toy figure.
const DRAWN: u64 = 4;
/// θ is looked at up to here, in so many cells.
const LARGEST: f64 = 10.0;
const CELLS: usize = 400;

/// A family of settings, the best of which by total variation counts, as the paper's authors chose by hand.
struct Entry {
    name: &'static str,
    calls: usize,
    /// Whether outputs are the waiting times themselves.
    raw: bool,
    /// How many of the settings count: the paper shows GPS-ABC twice.
    shown: usize,
    settings: Vec<(String, Contestant)>,
}

fn entries() -> Vec<Entry> {
    const RIDGES: [f64; 6] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1];
    let by_ridge = |of: fn(f64) -> Contestant| RIDGES.map(|ridge| (format!("ridge {ridge:e}"), of(ridge))).into();
    let gps = |tolerance: f64, error: f64| {
        let method = GpsAbc { tolerance, error, draws: 10, length: LENGTH, ..GpsAbc::default() };
        (format!("ε {tolerance} spreads; ξ {error}"), Contestant::new("GPS-ABC", method))
    };
    let default = |name: &'static str| -> Option<Entry> {
        let method = kelfi_baselines::by_name(name).ok()?;
        let contestant = Contestant { name: name.into(), method, point: super::contestant::Point::Mean };
        Some(Entry { name, calls: CALLS, raw: false, shown: 1, settings: vec![("default".into(), contestant)] })
    };
    let surrogates = [
        Entry {
            name: "GPS-ABC",
            calls: CALLS_OF_GPS,
            raw: false,
            shown: 2,
            settings: [0.01, 0.1, 0.3].into_iter().flat_map(|tolerance| [0.05, 0.2].map(|error| gps(tolerance, error))).collect(),
        },
        Entry {
            name: "K-ABC",
            calls: CALLS,
            raw: false,
            shown: 1,
            settings: by_ridge(|ridge| {
                let choice = Choice::Median { factor: 1.0, ridge };
                Contestant::new("K-ABC", KernelAbc { choice, ..KernelAbc::median(Sampling::Clipped) })
            }),
        },
        Entry {
            name: "K2-ABC",
            calls: CALLS,
            raw: true,
            shown: 1,
            settings: by_ridge(|ridge| {
                let tolerance = Some(ridge);
                Contestant::new("K2-ABC", MaximumMean { tolerance, ..MaximumMean::new(Discrepancy::Quadratic) })
            }),
        },
        Entry {
            name: "KBR",
            calls: CALLS,
            raw: false,
            shown: 1,
            settings: by_ridge(|ridge| Contestant::new("KBR", KernelBayes { ridge, ..KernelBayes::new(Sampling::Clipped) })),
        },
    ];
    surrogates.into_iter().chain(["kelfi", "kelfi-rounds", "rejection", "prior"].into_iter().filter_map(default)).collect()
}

/// The exact posterior and the grid that others are held against.
struct Toy {
    problem: ExponentialGamma,
    observation: Vec<f64>,
    /// Waiting times with the observed mean: quantiles of an exponential distribution.
    waiting: Vec<f64>,
    grid: Vec<f64>,
    exact: Vec<f64>,
}

impl Toy {
    fn new() -> Self {
        let problem = ExponentialGamma::standard();
        let observation = problem.observation().to_vec();
        let quantiles: Vec<f64> = (0..DATA).map(|i| -(1.0 - (i as f64 + 0.5) / DATA as f64).ln()).collect();
        let scale = observation[0] * DATA as f64 / quantiles.iter().sum::<f64>();
        let waiting = quantiles.iter().map(|q| q * scale).collect();
        let grid: Vec<f64> = (0..CELLS).map(|k| LARGEST * (k as f64 + 0.5) / CELLS as f64).collect();
        let exact = grid.iter().map(|&theta| problem.ln_posterior_density(theta, &observation).exp()).collect();
        Self { problem, observation, waiting, grid, exact }
    }

    fn prior(&self) -> &Prior {
        self.problem.prior()
    }

    /// The density of an answer on the grid: that of the prior times exp(gain).
    fn density(&self, answer: &Answer) -> Result<Vec<f64>> {
        self.grid.iter().map(|&theta| Ok((answer.gain(&[theta])? + self.prior().ln_density(&[theta])?).exp())).collect()
    }

    /// ½ Σ |q − p| over the cells; what lies beyond the grid counts as missed.
    fn total_variation(&self, density: &[f64]) -> f64 {
        let cell = LARGEST / CELLS as f64;
        let inside: f64 = density.iter().zip(&self.exact).map(|(q, p)| (q - p).abs() * cell).sum();
        let beyond = |density: &[f64]| (1.0 - density.iter().sum::<f64>() * cell).max(0.0);
        0.5 * (inside + (beyond(density) - beyond(&self.exact)).abs())
    }

    fn ask(&self, entry: &Entry, contestant: &Contestant, seed: u64) -> Result<(Vec<f64>, usize)> {
        let statistic = |theta: &[f64], rng: &mut dyn Rng| self.problem.simulate(theta, rng).ok();
        let raw = |theta: &[f64], rng: &mut dyn Rng| {
            Some((0..DATA).map(|_| -> f64 { <Exp1 as Distribution<f64>>::sample(&Exp1, rng) / theta[0] }).collect())
        };
        let outcome = match entry.raw {
            true => Asked { prior: self.prior(), simulator: &raw, observation: &self.waiting }.of(contestant, entry.calls, seed)?,
            false => {
                Asked { prior: self.prior(), simulator: &statistic, observation: &self.observation }.of(contestant, entry.calls, seed)?
            }
        };
        Ok((self.density(&outcome.answer)?, outcome.calls))
    }

    /// The paper's variants of KELFI and ours, by name.
    fn kelfi(&self, seed: u64) -> Result<Vec<(&'static str, Vec<f64>)>> {
        let simulated = simulate_many(&self.problem, CALLS, seed);
        let recorded = Recorded::Statistics(Arc::new(Simulations::new(simulated.theta, simulated.x)?));
        let observation = Observation::Statistics(self.observation.clone());
        let question = Question::new(self.prior(), &recorded, &observation);
        let density = |(name, hyperparameters)| -> Result<_> {
            let posterior = Posterior::new(Arc::new(KernelMeansLikelihood::new(&question, &hyperparameters)?), seed)?;
            Ok((name, posterior.pdf(&Points::from_column(self.grid.clone()))?))
        };
        Choices::learned(&question)?.choices.into_iter().map(density).collect()
    }
}

/// Runs the experiment.
pub fn run(options: &StudyOptions, repeats: u64) -> Result<()> {
    let settings = json!({ "first_seed": 1, "calls": CALLS, "calls_of_gps": CALLS_OF_GPS, "chosen": "the best settings of each method over all repeats" });
    let study = Study::open(options, "arena-toy", settings, json!({ "repeats": repeats }))?;
    let toy = Toy::new();
    let others = others(&study, &toy, repeats)?;
    let kelfi = of_kelfi(&study, &toy, repeats)?;
    let mut table = Table::new(&["method", "settings", "calls", "total variation", "standard error", "rank"]);
    let mut rows: Vec<(String, String, f64, f64, f64)> = vec![];
    let mut curves = vec![Line::plain("exact", &toy.grid, toy.exact.clone())];
    for entry in entries() {
        for (place, label) in best(&others, &entry)?.into_iter().enumerate() {
            let found = others.matching(&[("method", entry.name), ("settings", &label)])?;
            let name = if entry.shown > 1 { format!("{} ({})", entry.name, place + 1) } else { entry.name.to_string() };
            let (mean, error) = mean_and_error(&found.numbers("total variation")?);
            let calls = found.numbers("calls")?;
            rows.push((name.clone(), label.clone(), calls.iter().sum::<f64>() / calls.len() as f64, mean, error));
            let (_, contestant) = entry.settings.iter().find(|(known, _)| *known == label).context("settings of this entry")?;
            if entry.name != "prior" && entry.name != "rejection" {
                curves.push(Line::plain(&name, &toy.grid, toy.ask(&entry, contestant, DRAWN)?.0));
            }
        }
    }
    for (name, density) in toy.kelfi(DRAWN)? {
        let plain = plain(name);
        let (mean, error) = mean_and_error(&kelfi.matching(&[("choice", &plain)])?.numbers("total variation")?);
        rows.push((format!("KELFI {plain}"), "learned".into(), CALLS as f64, mean, error));
        if name.starts_with("all-opt") || name.starts_with("scale-global") {
            curves.push(Line::dashed(&format!("KELFI {}", name.split(' ').next().unwrap_or(name)), &toy.grid, cut(density, &toy.exact)));
        }
    }
    let rank = |own: f64| 1 + rows.iter().filter(|row| row.3 < own).count();
    for (name, label, calls, mean, error) in &rows {
        let cells =
            [name.clone(), label.clone(), format!("{calls:.0}"), format!("{mean:.3}"), format!("{error:.3}"), rank(*mean).to_string()];
        table.row(cells.into());
    }
    table.print(&format!("Exponential-gamma toy: total variation from the exact posterior, {repeats} repeats"));
    table.write(&study.path("table.csv"))?;
    let axes = Axes {
        title: "Exponential-gamma toy: posteriors from 100 simulations (GPS-ABC: up to 200)",
        x: "θ (events per unit of time)",
        y: "posterior density (tall peaks cut)",
        log_x: false,
        log_y: false,
    };
    lines(&study.path("posteriors.svg"), &axes, &curves)
}

/// Names without commas, for tables.
fn plain(name: &str) -> String {
    name.replace(',', ";")
}

/// Densities cut at twice the exact one's peak, so that a spike does not flatten the others.
fn cut(density: Vec<f64>, exact: &[f64]) -> Vec<f64> {
    let top = 2.0 * exact.iter().copied().fold(0.0, f64::max);
    density.into_iter().map(|q| q.min(top)).collect()
}

fn others(study: &Study, toy: &Toy, repeats: u64) -> Result<Table> {
    let entries = entries();
    let mut tasks = vec![];
    for (e, entry) in entries.iter().enumerate() {
        (0..entry.settings.len()).for_each(|s| tasks.extend((1..=repeats).map(|seed| (e, s, seed))));
    }
    let keys: Vec<Vec<String>> =
        tasks.iter().map(|&(e, s, seed)| vec![entries[e].name.to_string(), entries[e].settings[s].0.clone(), seed.to_string()]).collect();
    let file = Runs { file: "runs.csv", keys: &["method", "settings", "seed"], values: &["total variation", "calls"], rows_each: 1 };
    study.compute(&file, &keys, |k| {
        let (e, s, seed) = tasks[k];
        let (density, calls) = toy.ask(&entries[e], &entries[e].settings[s].1, seed)?;
        Ok(vec![vec![format!("{:.4}", toy.total_variation(&density)), calls.to_string()]])
    })
}

fn of_kelfi(study: &Study, toy: &Toy, repeats: u64) -> Result<Table> {
    let mut table = Table::new(&["choice", "seed", "total variation"]);
    for seed in 1..=repeats {
        for (name, density) in toy.kelfi(seed)? {
            table.row(vec![plain(name), seed.to_string(), format!("{:.4}", toy.total_variation(&density))]);
        }
    }
    table.write(&study.path("kelfi.csv"))?;
    Ok(table)
}

/// The settings of an entry with the smallest mean total variation, as many as are shown.
fn best(runs: &Table, entry: &Entry) -> Result<Vec<String>> {
    let mut means: Vec<(f64, String)> = entry
        .settings
        .iter()
        .map(|(label, _)| {
            let found = runs.matching(&[("method", entry.name), ("settings", label)])?.numbers("total variation")?;
            Ok((mean_and_error(&found).0, label.clone()))
        })
        .collect::<Result<_>>()?;
    means.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(means.into_iter().take(entry.shown).map(|(_, label)| label).collect())
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt())
}
