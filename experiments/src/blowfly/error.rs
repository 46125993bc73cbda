//! Error of the posterior mean and learned ε against the number of simulations.

use super::{Method, RUNS_PER_ESTIMATE, VARIED_AT, record};
use crate::figure::{Axes, Line, lines};
use crate::study::{Runs, Study};
use crate::table::{Spread, Table};
use anyhow::Result;
use kelfi::Posterior;
use kelfi_problems::BenchmarkProblem;
use kelfi_problems::blowfly::{Blowfly, nmse};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Every method, size and repeat of the paper's figure.
pub fn runs(study: &Study, problem: &Blowfly, sizes: &[usize], repeats: u64) -> Result<Table> {
    let wanted = |method: Method, m: usize| !method.varied() || VARIED_AT.contains(&m);
    let tasks: Vec<(Method, usize, u64)> = Method::ALL
        .into_iter()
        .flat_map(|method| sizes.iter().filter(move |&&m| wanted(method, m)).map(move |&m| (method, m)))
        .flat_map(|(method, m)| (1..=repeats).map(move |seed| (method, m, seed)))
        .collect();
    compute(study, problem, "runs.csv", &tasks)
}

/// NMSE in percent, β₀, λ, and ε of each statistic.
fn compute(study: &Study, problem: &Blowfly, name: &str, tasks: &[(Method, usize, u64)]) -> Result<Table> {
    let keys: Vec<Vec<String>> = tasks.iter().map(|(method, m, seed)| vec![method.name(), m.to_string(), seed.to_string()]).collect();
    let mut values = vec!["nmse".to_string(), "length scale".into(), "lambda".into()];
    values.extend(problem.statistic_names().iter().map(|name| epsilon_of(name)));
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let file = Runs { file: name, keys: &["method", "simulations", "seed"], values: &values, rows_each: 1 };
    study.compute(&file, &keys, |k| {
        let (method, m, seed) = tasks[k];
        let (recorded, observation) = record(problem, m, seed)?;
        let (model, learned) = method.learn(&recorded, &observation, problem.prior())?;
        let posterior = Posterior::new(Arc::new(model), seed)?;
        let error = nmse(problem, &posterior.mean(), RUNS_PER_ESTIMATE, 1_000 + seed)?;
        let chosen = &learned.hyperparameters;
        let mut cells = vec![format!("{error:.4}"), format!("{:.4}", chosen.length_scale[0]), format!("{:.4e}", chosen.regularization)];
        cells.extend(learned.statistics.iter().map(|statistic| format!("{:.5}", statistic.epsilon)));
        Ok(vec![cells])
    })
}

/// Ten repeats leave the means uncertain: fresh ones, more of them, at the two sizes that claims are made about.
pub fn confirm(study: &Study, problem: &Blowfly, seeds: RangeInclusive<u64>) -> Result<()> {
    let methods = [Method::Paper, Method::Reach(20), Method::LeaveOneOut];
    let places = methods.into_iter().flat_map(|method| VARIED_AT.map(|m| (method, m)));
    let tasks: Vec<(Method, usize, u64)> =
        places.clone().flat_map(|(method, m)| seeds.clone().map(move |seed| (method, m, seed))).collect();
    let runs = compute(study, problem, "confirmation_runs.csv", &tasks)?;
    let mut table = Table::new(&["method", "simulations", "repeats", "nmse mean %", "standard error", "median", "below 1 %"]);
    for (method, m) in places {
        let found = runs.matching(&[("method", &method.name()), ("simulations", &m.to_string())])?.numbers("nmse")?;
        let below = found.iter().filter(|error| **error < 1.0).count();
        let cells = [mean(&found), standard_error(&found), Spread::of(&found).median].map(|value| format!("{value:.3}"));
        let ends = [method.name(), m.to_string(), found.len().to_string()].into_iter().chain(cells);
        table.row(ends.chain([below.to_string()]).collect());
    }
    table.print("Blowfly: the same with fresh repeats");
    table.write(&study.path("confirmation.csv"))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of the mean.
fn standard_error(values: &[f64]) -> f64 {
    let (mean, n) = (mean(values), values.len() as f64);
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt()
}

/// Column of the tolerance of a statistic.
pub fn epsilon_of(statistic: &str) -> String {
    format!("epsilon {statistic}")
}

/// exp of the mean logarithm.
pub fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// Mean, smallest and largest error and the mean tolerance, as a table and two figures.
pub fn report(study: &Study, runs: &Table, sizes: &[usize]) -> Result<()> {
    let mut table = Table::new(&["method", "simulations", "nmse mean %", "nmse min %", "nmse max %", "standard error", "epsilon"]);
    let (mut errors, mut tolerances) = (vec![], vec![]);
    for method in Method::ALL {
        let mut error = Line::plain(&method.name(), &[], vec![]);
        let mut tolerance = error.clone();
        for &m in sizes.iter().filter(|m| !method.varied() || VARIED_AT.contains(m)) {
            let repeats = runs.matching(&[("method", &method.name()), ("simulations", &m.to_string())])?;
            let found = repeats.numbers("nmse")?;
            let (mean, uncertainty) = (mean(&found), standard_error(&found));
            let (low, high) = found.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), e| (l.min(*e), h.max(*e)));
            // With a tolerance per statistic this is the first one's.
            let epsilon = geometric_mean(&repeats.numbers(&epsilon_of("log_quarter_1"))?);
            let cells = [mean, low, high, uncertainty, epsilon].map(|value| format!("{value:.3}"));
            table.row([method.name(), m.to_string()].into_iter().chain(cells).collect());
            error.x.push(m as f64);
            error.y.push(mean);
            error.low.push(low);
            error.high.push(high);
            tolerance.x.push(m as f64);
            tolerance.y.push(epsilon);
        }
        if !method.varied() {
            errors.push(error);
        }
        if matches!(method, Method::Paper | Method::Reach(20)) {
            tolerances.push(tolerance);
        }
    }
    table.print("Blowfly: NMSE of the posterior mean over the repeats, and the geometric mean of the (first) learned tolerance");
    table.write(&study.path("nmse.csv"))?;
    // Four bands on one another cannot be read: the paper's objective and its mended form keep theirs.
    errors.iter_mut().skip(2).for_each(|line| (line.low, line.high) = (vec![], vec![]));
    let ends: Vec<f64> = [sizes[0], sizes[sizes.len() - 1]].map(|m| m as f64).to_vec();
    errors.push(Line::dashed("paper's claim from 300 on: below 1 %", &ends, vec![1.0; 2]));
    let axes = Axes {
        title: "Blowfly: error of the posterior mean (mean of ten repeats; bands: smallest to largest)",
        x: "simulations m",
        y: "NMSE (%)",
        log_x: false,
        log_y: true,
    };
    lines(&study.path("nmse.svg"), &axes, &errors)?;
    let axes = Axes {
        title: "Blowfly: learned tolerance (geometric mean of ten repeats)",
        x: "simulations m",
        y: "ε (units of the statistics)",
        log_x: true,
        log_y: true,
    };
    lines(&study.path("epsilon.svg"), &axes, &tolerances)
}
