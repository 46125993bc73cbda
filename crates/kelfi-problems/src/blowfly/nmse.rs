//! The normalised mean squared error by which blowfly answers are judged (KELFI paper, section 6).

use super::Blowfly;
use crate::problem::BenchmarkProblem;
use crate::simulate::replicate;
use kelfi::{Error, Points};

const PRIOR_MSE: &str = include_str!("../../data/blowfly_prior_mse.csv");
/// Column of the file: median over 40 sets of 10,000 prior runs.
/// Means of s₅…s₈ do not settle at 10,000 runs (ln P has sd 2), so one denominator is fixed for all.
const DENOMINATOR: usize = 2;

/// NMSE in percent of the statistics in `runs` (one run a row): (100/10) Σ_k mean_j (x_jk − y_k)² / MSE_prior,k.
///
/// The prior itself scores about 100, the prior's mean 6.
pub fn nmse_of(problem: &Blowfly, runs: &Points) -> Result<f64, Error> {
    if runs.is_empty() {
        return Err(Error::Empty { what: "the set of runs".into(), advice: "give at least one row of statistics".into() });
    }
    runs.require_finite("the set of runs")?;
    let y = problem.observation();
    if runs.columns() != y.len() {
        return Err(Error::Shape {
            left: "the set of runs".into(),
            left_rows: runs.rows(),
            left_columns: runs.columns(),
            right: "the observation".into(),
            right_rows: 1,
            right_columns: y.len(),
            advice: "each run needs the ten statistics".into(),
        });
    }
    let denominators = prior_mse();
    let ratio = |k: usize| runs.iter().map(|x| (x[k] - y[k]).powi(2)).sum::<f64>() / runs.rows() as f64 / denominators[k];
    Ok(100.0 * (0..y.len()).map(ratio).sum::<f64>() / y.len() as f64)
}

/// NMSE in percent of `runs` simulations at the point estimate `theta` (the paper uses 1,000).
pub fn nmse(problem: &Blowfly, theta: &[f64], runs: usize, seed: u64) -> Result<f64, Error> {
    nmse_of(problem, &replicate(problem, theta, runs, seed).x)
}

/// Fixed denominators: mean squared distance of prior runs from the observation, one for each statistic.
pub fn prior_mse() -> Vec<f64> {
    PRIOR_MSE.lines().skip(1).filter_map(|line| line.split(',').nth(DENOMINATOR)?.parse().ok()).collect()
}
