//! Lotka-Volterra: 95 % intervals of the log rates by each method (the paper's Figure 3, right).

use super::contestant::{Asked, Contestant, PaperKelfi};
use crate::figure::{Group, intervals};
use crate::study::{Runs, Study, StudyOptions};
use crate::table::Table;
use anyhow::Result;
use kelfi_baselines::chains::mcmc_abc::{McmcAbc, Memory, Tolerance};
use kelfi_baselines::chains::smc_abc::SmcAbc;
use kelfi_baselines::kernel::kernel_abc::Sampling;
use kelfi_baselines::kernel::kernel_bayes::KernelBayes;
use kelfi_baselines::nearest::Acceptance;
use kelfi_baselines::neural::mixture_density::MixtureDensity;
use kelfi_baselines::variational::implicit::Implicit;
use kelfi_baselines::{Rejection, by_name};
use kelfi_problems::BenchmarkProblem;
use kelfi_problems::lotka_volterra::LotkaVolterra;
use rand::Rng;
use serde_json::json;

/// Calls of KELFI and KBR, and of MDN, as in the paper.
const CALLS: usize = 2_500;
const CALLS_OF_MDN: usize = 10_000;
/// Calls of the three ABC methods; the paper says up to 100,000.
const CALLS_OF_ABC: usize = 10_000;

/// The methods of the paper's figure and ours, each with its calls.
fn contestants() -> Result<Vec<(Contestant, usize)>> {
    // Of ten thousand draws the nearest hundred: a twentieth would be far from the observation.
    let rejection = Rejection { acceptance: Acceptance { share: 0.01, least: 25 } };
    let mcmc = McmcAbc { tolerance: Tolerance::Share(0.01), ..McmcAbc::new(Memory::PseudoMarginal) };
    let mut all = vec![
        (Contestant::new("REJ-ABC", rejection), CALLS_OF_ABC),
        (Contestant::new("MCMC-ABC", mcmc), CALLS_OF_ABC),
        (Contestant::new("SMC-ABC", SmcAbc::adaptive()), CALLS_OF_ABC),
        (Contestant::new("LFVI", Implicit::default()), CALLS),
        (Contestant::new("MDN", MixtureDensity::from_prior()), CALLS_OF_MDN),
        (Contestant::new("KBR", KernelBayes::new(Sampling::Clipped)), CALLS),
        (Contestant::new("KELFI (paper)", PaperKelfi), CALLS),
    ];
    for name in ["kelfi", "kelfi-rounds"] {
        all.push((Contestant { name: name.into(), method: by_name(name)?, point: super::contestant::Point::Mean }, CALLS));
    }
    Ok(all)
}

/// Runs the experiment.
pub fn run(options: &StudyOptions, repeats: u64) -> Result<()> {
    let divisor = if options.quick { 10 } else { 1 };
    let study = Study::open(
        options,
        "arena-lotka-volterra",
        json!({ "first_seed": 1, "statistics": "normalised by the published pilot", "calls_divided_by": divisor }),
        json!({ "repeats": repeats }),
    )?;
    let problem = LotkaVolterra::new();
    let mut table = None;
    for repeat in 1..=repeats {
        table = Some(runs(&study, &problem, divisor, repeat)?);
    }
    match table {
        Some(runs) => report(&study, &problem, &runs, divisor),
        None => Ok(()),
    }
}

/// Four rows, one a rate, for every method and repeat.
fn runs(study: &Study, problem: &LotkaVolterra, divisor: usize, repeats: u64) -> Result<Table> {
    let contestants = contestants()?;
    let tasks: Vec<(usize, u64)> = (0..contestants.len()).flat_map(|c| (1..=repeats).map(move |seed| (c, seed))).collect();
    let keys: Vec<Vec<String>> = tasks.iter().map(|&(c, seed)| vec![contestants[c].0.name.clone(), seed.to_string()]).collect();
    let file = Runs {
        file: "runs.csv",
        keys: &["method", "seed"],
        values: &["parameter", "truth", "mean", "q025", "q975", "calls", "seconds", "remark"],
        rows_each: 4,
    };
    let truth = problem.truth().map(<[f64]>::to_vec).unwrap_or_default();
    let simulator = |theta: &[f64], rng: &mut dyn Rng| problem.simulate(theta, rng).ok();
    let asked = Asked { prior: problem.prior(), simulator: &simulator, observation: problem.observation() };
    study.compute(&file, &keys, |k| {
        let (c, seed) = tasks[k];
        let (contestant, calls) = &contestants[c];
        let outcome = asked.of(contestant, calls / divisor, seed)?;
        let remark = outcome.answer.remark().unwrap_or_default().replace(',', ";");
        let rate = |d: usize| {
            let mut values = outcome.samples.column(d);
            values.sort_by(f64::total_cmp);
            let at = |level: f64| values[(level * values.len() as f64) as usize];
            let numbers = [truth[d], outcome.point[d], at(0.025), at(0.975)].map(|value| format!("{value:.4}"));
            let last = [outcome.calls.to_string(), format!("{:.1}", outcome.seconds), remark.clone()];
            [problem.parameter_names()[d].clone()].into_iter().chain(numbers).chain(last).collect::<Vec<String>>()
        };
        Ok((0..truth.len()).map(rate).collect())
    })
}

/// For each method and rate: is the truth inside, how wide, how far is the mean? And a figure of the first rate.
fn report(study: &Study, problem: &LotkaVolterra, runs: &Table, divisor: usize) -> Result<()> {
    let mut table = Table::new(&["method", "calls", "parameter", "repeats", "truth inside", "mean width", "mean error of mean"]);
    let mut groups: Vec<Group> = vec![];
    let first = &problem.parameter_names()[0];
    let mut truth_of_first = 0.0;
    for (contestant, calls) in contestants()? {
        for name in problem.parameter_names() {
            let rows = runs.matching(&[("method", &contestant.name), ("parameter", name)])?;
            let [truth, mean, low, high] = ["truth", "mean", "q025", "q975"].map(|column| rows.numbers(column));
            let (truth, mean, low, high) = (truth?, mean?, low?, high?);
            let n = truth.len();
            let average = |f: &dyn Fn(usize) -> f64| format!("{:.3}", (0..n).map(f).sum::<f64>() / n as f64);
            let inside = (0..n).filter(|&k| low[k] <= truth[k] && truth[k] <= high[k]).count();
            table.row(vec![
                contestant.name.clone(),
                (calls / divisor).to_string(),
                name.clone(),
                n.to_string(),
                inside.to_string(),
                average(&|k| high[k] - low[k]),
                average(&|k| (mean[k] - truth[k]).abs()),
            ]);
            if name == first {
                truth_of_first = truth[0];
                let name = format!("{}, {} calls", contestant.name, calls / divisor);
                groups.push(Group { name, intervals: (0..n).map(|k| [low[k], mean[k], high[k]]).collect() });
            }
        }
    }
    table.print("Lotka-Volterra: 95 % intervals of the log rates (the prior's are 6.65 wide)");
    table.write(&study.path("intervals.csv"))?;
    let title = "Lotka-Volterra: 95 % intervals and means of ln θ₁; dashed: the truth";
    intervals(&study.path("intervals.svg"), title, "ln θ₁ (logarithm of the rate of predator births)", &groups, truth_of_first)
}
