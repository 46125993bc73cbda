//! Blowfly: error of the point estimate against calls, for every method (the paper's Figure 3, left).

use super::contestant::{Asked, Contestant, PaperKelfi, Point};
use crate::figure::{Axes, Legend, Line, Panel, panels};
use crate::study::{Runs, Study, StudyOptions};
use crate::table::Table;
use anyhow::Result;
use kelfi_baselines::chains::adaptive_synthetic::AdaptiveSynthetic;
use kelfi_baselines::chains::mcmc_abc::{McmcAbc, Memory, Tolerance};
use kelfi_baselines::chains::pilot::Steps;
use kelfi_baselines::chains::synthetic::SyntheticLikelihood;
use kelfi_baselines::kernel::kernel_abc::{KernelAbc, Sampling};
use kelfi_baselines::kernel::kernel_bayes::KernelBayes;
use kelfi_baselines::process::gps_abc::GpsAbc;
use kelfi_baselines::yardstick::Units;
use kelfi_problems::BenchmarkProblem;
use kelfi_problems::blowfly::{Blowfly, nmse};
use rand::Rng;
use serde_json::json;

/// Simulations at a point estimate that its error is a mean over (paper, appendix).
const RUNS_PER_ESTIMATE: usize = 1_000;
/// Calls of the curves, and those of the table.
const CALLS: [usize; 6] = [50, 100, 200, 300, 500, 1_000];
const TABLED: [usize; 2] = [300, 1_000];
/// Methods of the catalogue that are drawn: ours, and those people reach for first.
const DRAWN: [&str; 8] =
    ["kelfi", "kelfi-rounds", "rejection", "rejection-regression", "smc-abc", "kernel-recursive-abc", "synthetic-likelihood", "mdn"];

/// The methods of the paper's figure with the settings of its appendix, and what it says about them. Where it starts its chains it does
/// not say; ours start at the nearest of a fifth of the calls.
fn of_the_paper() -> Vec<(Contestant, &'static str)> {
    let steps = Steps::Fixed(0.1);
    let units = Units::Raw;
    let mcmc = McmcAbc { tolerance: Tolerance::Fixed(5.0), steps, units, ..McmcAbc::new(Memory::PseudoMarginal) };
    let synthetic = SyntheticLikelihood { tolerance: 0.5, repeats: 10, steps, units, ..SyntheticLikelihood::default() };
    let adaptive = AdaptiveSynthetic { first: 10, more: 10, error: 0.3, draws: 10, tolerance: 0.5, steps, units };
    let surrogate = GpsAbc { error: 0.05, draws: 10, more: 5, tolerance: 2.0, steps, units, ..GpsAbc::default() };
    let kernel = KernelAbc { units, ..KernelAbc::median(Sampling::Clipped) };
    let rule = KernelBayes { units, ..KernelBayes::new(Sampling::Clipped) };
    vec![
        (Contestant::new("KELFI (paper)", PaperKelfi), "lowest error; below 1 % from 300 calls on"),
        (Contestant { point: Point::ModeOf(rule), ..Contestant::new("KBR (paper; mode)", rule) }, "among the first three"),
        (Contestant::new("GPS-ABC (paper)", surrogate), "among the first three"),
        (Contestant::new("MCMC-ABC (paper)", mcmc), "next best at 280 calls: almost 3 %"),
        (Contestant::new("SL-ABC (paper)", synthetic), "behind the first three"),
        (Contestant::new("ASL-ABC (paper)", adaptive), "behind the first three"),
        (Contestant::new("K-ABC (paper)", kernel), "behind the first three"),
        (Contestant::new("K-ABC S (paper)", KernelAbc { units, ..KernelAbc::scaled() }), "significantly better than K-ABC"),
    ]
}

/// Runs the experiment. What is reported is all that the file of runs has, not only what was asked for this time.
pub fn run(options: &StudyOptions, calls: Option<&[usize]>, methods: &[String], repeats: u64) -> Result<()> {
    let calls: &[usize] = calls.unwrap_or(if options.quick { &[50, 300] } else { &CALLS });
    let study = Study::open(
        options,
        "arena-blowfly",
        json!({ "first_seed": 1, "runs_per_estimate": RUNS_PER_ESTIMATE, "estimate": "mean of 2,000 posterior samples; mode for KBR (paper)" }),
        json!({ "calls": calls, "repeats": repeats }),
    )?;
    // One repeat of everything after the other: what is done when the machine is needed is a whole.
    for repeat in 1..=repeats {
        study.say(&format!("repeat {repeat} of {repeats}"));
        compute(&study, calls, methods, repeat)?;
    }
    report(&study, &Table::read(&study.path("runs.csv"))?)
}

fn contestants() -> Vec<Contestant> {
    of_the_paper().into_iter().map(|(contestant, _)| contestant).chain(Contestant::catalogue()).collect()
}

/// Every wanted method and number of calls, repeats 1 to this.
fn compute(study: &Study, calls: &[usize], methods: &[String], repeats: u64) -> Result<()> {
    let wanted = |name: &str| methods.is_empty() || methods.iter().any(|part| name.contains(part.as_str()));
    let contestants: Vec<Contestant> = contestants().into_iter().filter(|contestant| wanted(&contestant.name)).collect();
    anyhow::ensure!(!contestants.is_empty(), "no method has {} in its name", methods.join(" or "));
    let tasks: Vec<(usize, usize, u64)> = (0..contestants.len())
        .flat_map(|c| calls.iter().map(move |&m| (c, m)))
        .flat_map(|(c, m)| (1..=repeats).map(move |seed| (c, m, seed)))
        .collect();
    let keys: Vec<Vec<String>> =
        tasks.iter().map(|&(c, m, seed)| vec![contestants[c].name.clone(), m.to_string(), seed.to_string()]).collect();
    let file = Runs {
        file: "runs.csv",
        keys: &["method", "calls allowed", "seed"],
        values: &["nmse", "calls made", "seconds", "remark"],
        rows_each: 1,
    };
    let problem = Blowfly::new();
    let simulator = |theta: &[f64], rng: &mut dyn Rng| problem.simulate(theta, rng).ok();
    let asked = Asked { prior: problem.prior(), simulator: &simulator, observation: problem.observation() };
    study.compute(&file, &keys, |k| {
        let (c, m, seed) = tasks[k];
        Ok(vec![match asked.of(&contestants[c], m, seed) {
            Ok(outcome) => {
                let error = nmse(&problem, &outcome.point, RUNS_PER_ESTIMATE, 1_000 + seed)?;
                let remark = outcome.answer.remark().unwrap_or_default().replace(',', ";");
                vec![format!("{error:.4}"), outcome.calls.to_string(), format!("{:.2}", outcome.seconds), remark]
            }
            // A method that refuses this budget has no error there.
            Err(error) => {
                let reason = error.to_string().replace(',', ";").replace('\n', " ");
                vec!["NaN".into(), "0".into(), "0".into(), format!("no answer: {reason}")]
            }
        }])
    })?;
    Ok(())
}

/// Mean error with its standard error.
#[derive(Clone, Copy)]
struct Mean {
    repeats: usize,
    mean: f64,
    standard_error: f64,
    low: f64,
    high: f64,
}

/// Over repeats with an answer; `None` if there was none.
fn mean_of(runs: &Table, method: &str, calls: usize) -> Result<Option<Mean>> {
    let found: Vec<f64> = runs.matching(&[("method", method), ("calls allowed", &calls.to_string())])?.numbers("nmse")?;
    let found: Vec<f64> = found.into_iter().filter(|error| error.is_finite()).collect();
    if found.is_empty() {
        return Ok(None);
    }
    let n = found.len() as f64;
    let mean = found.iter().sum::<f64>() / n;
    let standard_error = (found.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
    let (low, high) = found.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), e| (l.min(*e), h.max(*e)));
    Ok(Some(Mean { repeats: found.len(), mean, standard_error, low, high }))
}

fn report(study: &Study, runs: &Table) -> Result<()> {
    let paper = of_the_paper();
    let names: Vec<String> = contestants().into_iter().map(|contestant| contestant.name).collect();
    let mut calls: Vec<usize> = runs.numbers("calls allowed")?.into_iter().map(|m| m as usize).collect();
    calls.sort_unstable();
    calls.dedup();
    curve(study, runs, &calls, &names)?;
    let tabled: Vec<usize> = TABLED.into_iter().filter(|m| calls.contains(m)).collect();
    let mut columns = vec!["method".to_string()];
    columns.extend(tabled.iter().flat_map(|m| [format!("nmse % at {m}"), format!("standard error at {m}"), format!("rank at {m}")]));
    columns.extend(["answers stuck or missing".to_string(), "repeats".into(), "paper".into()]);
    let mut table = Table::new(&columns.iter().map(String::as_str).collect::<Vec<_>>());
    let errors: Vec<Vec<Option<Mean>>> =
        tabled.iter().map(|&m| names.iter().map(|name| mean_of(runs, name, m)).collect()).collect::<Result<_>>()?;
    let rank = |of: &[Option<Mean>], k: usize| of[k].map(|own| 1 + of.iter().flatten().filter(|other| other.mean < own.mean).count());
    for (k, name) in names.iter().enumerate() {
        let mut cells = vec![name.clone()];
        for of in &errors {
            let number = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.2}"));
            cells.push(number(of[k].map(|m| m.mean)));
            cells.push(number(of[k].map(|m| m.standard_error)));
            cells.push(rank(of, k).map_or_else(|| "-".into(), |rank| rank.to_string()));
        }
        let own = runs.matching(&[("method", name)])?;
        let counted: Vec<&Vec<String>> = own.rows().iter().filter(|row| tabled.iter().any(|m| row[1] == m.to_string())).collect();
        let stuck = counted.iter().filter(|row| is_no_posterior(&row[6])).count();
        let repeats = counted.len() / tabled.len().max(1);
        let said = paper.iter().find(|(contestant, _)| contestant.name == *name).map_or("", |(_, said)| *said);
        cells.extend([format!("{stuck} of {}", counted.len()), repeats.to_string(), said.into()]);
        table.row(cells);
    }
    table.print("Blowfly: NMSE of the point estimate, every method");
    table.write(&study.path("table.csv"))
}

/// Whether a remark says that there is nothing but a point, or nothing at all.
fn is_no_posterior(remark: &str) -> bool {
    remark.contains("a point; not a posterior") || remark.starts_with("no answer")
}

/// Two panels: the paper's methods with its settings, and ours with those people reach for first.
fn curve(study: &Study, runs: &Table, calls: &[usize], names: &[String]) -> Result<()> {
    let mut curve = Table::new(&["method", "calls", "repeats", "nmse mean %", "standard error", "nmse min %", "nmse max %"]);
    for name in names {
        for &m in calls {
            if let Some(found) = mean_of(runs, name, m)? {
                let cells = [found.mean, found.standard_error, found.low, found.high].map(|value| format!("{value:.3}"));
                curve.row([name.clone(), m.to_string(), found.repeats.to_string()].into_iter().chain(cells).collect());
            }
        }
    }
    curve.write(&study.path("nmse.csv"))?;
    let line = |name: &str| -> Result<Line> {
        let found = curve.matching(&[("method", name)])?;
        Ok(Line::plain(name, &found.numbers("calls")?, found.numbers("nmse mean %")?))
    };
    let of_paper: Vec<Line> = of_the_paper().iter().map(|(contestant, _)| line(&contestant.name)).collect::<Result<_>>()?;
    // The paper's own method is in both panels, so that they can be compared.
    let ours: Vec<Line> = DRAWN.iter().chain(&["KELFI (paper)"]).map(|name| line(name)).collect::<Result<_>>()?;
    let axes = |title| Axes { title, x: "calls of the simulator", y: "NMSE (%)", log_x: true, log_y: true };
    panels(
        &study.path("nmse.svg"),
        &[
            Panel { axes: axes("The paper's methods, its settings"), lines: of_paper, legend: Legend::Beside },
            Panel { axes: axes("Our default and the usual methods, with KELFI (paper)"), lines: ours, legend: Legend::Beside },
        ],
    )
}
