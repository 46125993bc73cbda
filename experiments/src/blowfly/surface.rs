//! The surface of ln q(y) at m = 280, the error at marked choices, and whether a higher q(y) goes with a smaller error.

use super::{Method, RUNS_PER_ESTIMATE, SURFACE_AT, record};
use crate::figure::{Axes, HeatMap, heat_map};
use crate::study::{Runs, Study};
use crate::table::Table;
use anyhow::Result;
use kelfi::axis::log_spaced;
use kelfi::learning::KernelMeansOptions;
use kelfi::learning::surface::surface;
use kelfi::{Hyperparameters, KernelMeansLikelihood, Observation, Posterior, Question, Recorded};
use kelfi_problems::BenchmarkProblem;
use kelfi_problems::blowfly::{Blowfly, nmse};
use std::sync::Arc;

/// ε and β₀ are shown between these.
const SHOWN: (f64, f64) = (0.1, 10.0);
/// ε and β₀ are compared between these.
const RANGE: (f64, f64) = (0.2, 10.0);
/// What λ is tied to: λ = 10⁻³ β₀.
const TIED: f64 = 1e-3;
/// Sets of runs at a choice, for the scatter of its error.
const EVALUATIONS: u64 = 10;
/// Tolerances below this are compared on their own as well: there the posterior is not yet nearly the prior.
const NARROW: f64 = 2.0;
/// Places on each axis where q(y) and the error are compared, and runs for each error there.
const COMPARED: (usize, usize) = (10, 300);

/// Draws the surface, tabulates the choices, compares.
pub fn report(study: &Study, problem: &Blowfly, repeats: u64) -> Result<()> {
    draw(study, problem)?;
    agreement(study, problem, repeats)
}

/// ln q(y) and the posterior mean at (ε, β₀); `None` where q(y) is not positive.
fn at(problem: &Blowfly, recorded: &Recorded, observation: &Observation, epsilon: f64, length: f64) -> Result<Option<(f64, Vec<f64>)>> {
    let hyperparameters = Hyperparameters::isotropic(epsilon, length, TIED * length);
    let model = KernelMeansLikelihood::new(&Question::new(problem.prior(), recorded, observation), &hyperparameters)?;
    let Ok(evidence) = model.log_marginal_likelihood() else { return Ok(None) };
    Ok(Some((evidence, Posterior::new(Arc::new(model), 1)?.mean())))
}

fn draw(study: &Study, problem: &Blowfly) -> Result<()> {
    let (recorded, observation) = record(problem, SURFACE_AT, 1)?;
    let best = |method: Method| -> Result<(f64, f64)> {
        let chosen = method.learn(&recorded, &observation, problem.prior())?.1.hyperparameters;
        Ok((chosen.epsilon[0], chosen.length_scale[0]))
    };
    let (top, reach) = (best(Method::Paper)?, best(Method::Reach(20))?);
    let scaled = |name: &'static str, e: f64, b: f64| (name, (top.0 * e, top.1 * b));
    let choices = [
        scaled("largest q(y)", 1.0, 1.0),
        scaled("half ε", 0.5, 1.0),
        scaled("twice ε", 2.0, 1.0),
        scaled("four times ε", 4.0, 1.0),
        scaled("half β₀", 1.0, 0.5),
        scaled("twice β₀", 1.0, 2.0),
        ("reach 20", reach),
        ("(10; 10)", (10.0, 10.0)),
    ];
    let mut table = Table::new(&["mark", "choice", "epsilon", "length scale", "ln q(y)", "nmse mean %", "nmse sd %"]);
    for (index, (name, (epsilon, length))) in choices.iter().enumerate() {
        let cells = match at(problem, &recorded, &observation, *epsilon, *length)? {
            None => ["q(y) ≤ 0"; 3].map(String::from),
            Some((evidence, estimate)) => {
                let errors: Vec<f64> = (0..EVALUATIONS)
                    .map(|seed| nmse(problem, &estimate, RUNS_PER_ESTIMATE, 2_000 + seed))
                    .collect::<Result<_, kelfi::Error>>()?;
                let mean = errors.iter().sum::<f64>() / errors.len() as f64;
                let sd = (errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (errors.len() - 1) as f64).sqrt();
                [format!("{evidence:.2}"), format!("{mean:.2}"), format!("{sd:.2}")]
            }
        };
        let place = [(index + 1).to_string(), (*name).to_string(), format!("{epsilon:.3}"), format!("{length:.3}")];
        table.row(place.into_iter().chain(cells).collect());
    }
    table.print("Blowfly, m = 280: error at marked choices, mean and standard deviation over ten sets of 1,000 runs");
    table.write(&study.path("surface_choices.csv"))?;

    let axis = log_spaced(SHOWN, 100);
    let data =
        surface(&Question::new(problem.prior(), &recorded, &observation), &KernelMeansOptions::paper(), &axis, &axis, &mut |_| true)?;
    let axes = Axes {
        title: "Blowfly, m = 280: ln q(y), λ = 0.001 β₀; numbers: rows of surface_choices.csv",
        x: "ε (units of the statistics)",
        y: "β₀ (prior standard deviations)",
        log_x: true,
        log_y: true,
    };
    let inside = |value: f64| SHOWN.0 < value && value < SHOWN.1;
    let marks = choices.iter().enumerate().filter(|(_, (_, (e, b)))| inside(*e) && inside(*b));
    let marks = marks.map(|(index, (_, (e, b)))| (*e, *b, (index + 1).to_string())).collect();
    let values = data.log_marginal_likelihood.values();
    heat_map(&study.path("surface.svg"), &HeatMap { axes, x: &axis, y: &axis, values, unit: "ln q(y)", depth: 12.0, marks })
}

/// For every repeat: Spearman's rank correlation of ln q(y) with the error over a grid of (ε, β₀). The paper's claim is a strongly
/// negative one.
fn agreement(study: &Study, problem: &Blowfly, repeats: u64) -> Result<()> {
    let keys: Vec<Vec<String>> = (1..=repeats).map(|seed| vec![seed.to_string()]).collect();
    let values = [
        "places",
        "rank correlation",
        "rank correlation for epsilon below 2",
        "error at the largest q(y)",
        "smallest error",
        "its epsilon",
        "its length scale",
    ];
    let file = Runs { file: "agreement.csv", keys: &["seed"], values: &values, rows_each: 1 };
    let table = study.compute(&file, &keys, |k| {
        let (recorded, observation) = record(problem, SURFACE_AT, k as u64 + 1)?;
        let axis = log_spaced(RANGE, COMPARED.0);
        let mut found: Vec<(f64, f64, f64, f64)> = vec![];
        for &length in &axis {
            for &epsilon in &axis {
                if let Some((evidence, estimate)) = at(problem, &recorded, &observation, epsilon, length)? {
                    found.push((evidence, nmse(problem, &estimate, COMPARED.1, 3_000)?, epsilon, length));
                }
            }
        }
        let correlation = |widest: f64| {
            let (evidence, error): (Vec<f64>, Vec<f64>) = found.iter().filter(|f| f.2 < widest).map(|f| (f.0, f.1)).unzip();
            spearman(&evidence, &error)
        };
        let top = found.iter().max_by(|a, b| a.0.total_cmp(&b.0)).map_or(f64::NAN, |f| f.1);
        let least = found.iter().min_by(|a, b| a.1.total_cmp(&b.1)).copied().unwrap_or((f64::NAN, f64::NAN, f64::NAN, f64::NAN));
        let mut cells = vec![found.len().to_string()];
        cells.extend([correlation(f64::INFINITY), correlation(NARROW), top, least.1, least.2, least.3].map(|value| format!("{value:.3}")));
        Ok(vec![cells])
    })?;
    table.print("Blowfly, m = 280: rank correlation of ln q(y) and the error over a 10 × 10 grid of (ε, β₀)");
    Ok(())
}

/// Pearson's correlation of the ranks.
fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
        let mut ranks = vec![0.0; values.len()];
        order.iter().enumerate().for_each(|(place, &index)| ranks[index] = place as f64);
        ranks
    };
    let (a, b) = (ranks(a), ranks(b));
    let middle = (a.len() as f64 - 1.0) / 2.0;
    let product: f64 = a.iter().zip(&b).map(|(x, y)| (x - middle) * (y - middle)).sum();
    product / a.iter().map(|x| (x - middle).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_correlation_sees_order_only() {
        assert_eq!(spearman(&[1.0, 2.0, 30.0, 4.0], &[0.1, 0.2, 0.9, 0.3]), 1.0);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[9.0, 1.0, -7.0]), -1.0);
        // Ranks 1 2 3 4 and 2 1 4 3: 1 - 6·4/(4·15) = 0.6.
        assert!((spearman(&[1.0, 2.0, 3.0, 4.0], &[2.0, 1.0, 4.0, 3.0]) - 0.6).abs() < 1e-12);
    }
}
