//! Mean, variance and quantiles of a series.

/// (1/n) Σ v_i.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Σ (v_i − v̄)².
pub(crate) fn squared_deviations(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|value| (value - centre).powi(2)).sum()
}

/// Σ (v_i − v̄)² / (n − 1).
pub(crate) fn variance(values: &[f64]) -> f64 {
    squared_deviations(values) / (values.len() as f64 - 1.0)
}

/// The quantile at `probability` of ascending values, linear between order statistics (position p (n − 1)).
pub(crate) fn quantile(sorted: &[f64], probability: f64) -> f64 {
    let position = probability * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (position - below as f64) * (sorted[above] - sorted[below])
}
