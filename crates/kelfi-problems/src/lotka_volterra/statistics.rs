//! Nine statistics of a predator-prey run.

use crate::moments::{mean, variance};

/// Means, ln(variance + 1), autocorrelations at lags 1 and 2 of both series, and their cross-correlation.
///
/// Every correlation is divided by K − 1 whatever its lag. A series without variance gives NaN: the run then counts as failed.
pub fn statistics(predators: &[f64], prey: &[f64]) -> [f64; 9] {
    let (mean_x, mean_y) = (mean(predators), mean(prey));
    let (var_x, var_y) = (variance(predators), variance(prey));
    let x = standardise(predators, mean_x, var_x);
    let y = standardise(prey, mean_y, var_y);
    [
        mean_x,
        mean_y,
        var_x.ln_1p(),
        var_y.ln_1p(),
        correlation(&x, &x[1..]),
        correlation(&x, &x[2..]),
        correlation(&y, &y[1..]),
        correlation(&y, &y[2..]),
        correlation(&x, &y),
    ]
}

fn standardise(values: &[f64], mean: f64, variance: f64) -> Vec<f64> {
    let sd = variance.sqrt();
    values.iter().map(|value| (value - mean) / sd).collect()
}

/// Σ_k a_k b_k / (K − 1), K the length of `a`; `b` may be shorter.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / (a.len() as f64 - 1.0)
}
