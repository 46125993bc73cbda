//! Relevance of the statistics: learned tolerances, ranked, beside what the paper says.

use super::error::{epsilon_of, geometric_mean};
use super::{Method, SURFACE_AT};
use crate::study::Study;
use crate::table::Table;
use anyhow::Result;
use kelfi::simulations::scales::robust_scale;
use kelfi_problems::blowfly::Blowfly;
use kelfi_problems::{BenchmarkProblem, simulate_many};
use std::time::Instant;

/// Prior simulations the spread of a statistic is taken from.
const SPREAD_FROM: usize = 10_000;

/// What the paper's text says of a statistic.
fn paper_says(statistic: &str) -> &'static str {
    match statistic {
        "log_quarter_1" => "irrelevant",
        "maxima_0.5" | "maxima_1.5" => "relevant",
        _ => "",
    }
}

/// Geometric means over the repeats, ranked: 1 is the most relevant, that is the smallest tolerance. The paper compares raw tolerances;
/// statistics have different units, so tolerances over the prior's spread are ranked as well.
pub fn report(study: &Study, problem: &Blowfly, runs: &Table) -> Result<()> {
    let start = Instant::now();
    let prior = simulate_many(problem, SPREAD_FROM, 0).successes().1;
    study.say(&format!("{SPREAD_FROM} prior simulations in {:.2} s", start.elapsed().as_secs_f64()));
    let names = problem.statistic_names();
    let spreads: Vec<f64> =
        (0..names.len()).map(|i| robust_scale(&prior.iter().map(|x| x[i]).collect::<Vec<f64>>()).unwrap_or(1.0)).collect();
    let mut table = Table::new(&["method", "simulations", "statistic", "paper", "epsilon", "rank", "epsilon / spread", "rank / spread"]);
    for method in [Method::PerStatistic, Method::LeaveOneOut] {
        for m in [SURFACE_AT, 1_000] {
            let repeats = runs.matching(&[("method", &method.name()), ("simulations", &m.to_string())])?;
            let raw: Vec<f64> = names.iter().map(|name| Ok(geometric_mean(&repeats.numbers(&epsilon_of(name))?))).collect::<Result<_>>()?;
            let relative: Vec<f64> = raw.iter().zip(&spreads).map(|(epsilon, spread)| epsilon / spread).collect();
            let (rank, relative_rank) = (ranks(&raw), ranks(&relative));
            for (i, name) in names.iter().enumerate() {
                table.row(vec![
                    method.name(),
                    m.to_string(),
                    name.clone(),
                    paper_says(name).into(),
                    format!("{:.3}", raw[i]),
                    rank[i].to_string(),
                    format!("{:.3}", relative[i]),
                    relative_rank[i].to_string(),
                ]);
            }
        }
    }
    table.print("Blowfly: tolerances per statistic (geometric means over the repeats) and their ranks (1 = most relevant)");
    table.write(&study.path("relevance.csv"))
}

/// Place of every value in ascending order, from 1.
fn ranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0; values.len()];
    order.iter().enumerate().for_each(|(place, &index)| ranks[index] = place + 1);
    ranks
}
