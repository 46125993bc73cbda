//! Ten statistics of a series of counts: quarter means of levels and differences, and two numbers of maxima.

use crate::moments::{mean, squared_deviations};

/// Counts are reported in thousands.
const UNIT: f64 = 1000.0;
/// Keeps the logarithm of an extinct population finite.
const GUARD: f64 = 1e-12;
/// Thresholds of the two maxima counts, in standard deviations of the series.
const THRESHOLDS: [f64; 2] = [0.5, 1.5];

/// s₁…s₄: ln of the mean of each quarter of the sorted counts; s₅…s₈: mean of each quarter of the sorted first differences;
/// s₉, s₁₀: maxima of the series over its standard deviation, by hysteresis.
///
/// The differences, one fewer, are cut at the indices of the counts, so their last block is one shorter.
pub fn statistics(series: &[f64]) -> [f64; 10] {
    let mut levels = series.to_vec();
    let mut differences: Vec<f64> = series.windows(2).map(|pair| pair[1] - pair[0]).collect();
    levels.sort_unstable_by(f64::total_cmp);
    differences.sort_unstable_by(f64::total_cmp);
    let [a, b, c, d] = quarter_means(&levels, series.len()).map(|level| (level + GUARD).ln());
    let [e, f, g, h] = quarter_means(&differences, series.len());
    let [fine, coarse] = maxima(series);
    [a, b, c, d, e, f, g, h, fine, coarse]
}

/// Means, in thousands, of the blocks cut at length/4, length/2 and 3 length/4.
fn quarter_means(sorted: &[f64], length: usize) -> [f64; 4] {
    let cuts = [0, length / 4, length / 2, 3 * length / 4, sorted.len()];
    std::array::from_fn(|quarter| mean(&sorted[cuts[quarter]..cuts[quarter + 1]]) / UNIT)
}

/// Maxima of the series in units of its population standard deviation; none if it is constant.
fn maxima(series: &[f64]) -> [f64; 2] {
    let sd = (squared_deviations(series) / series.len() as f64).sqrt();
    if sd > 0.0 { THRESHOLDS.map(|threshold| count_maxima(series.iter().map(|value| value / sd), threshold) as f64) } else { [0.0; 2] }
}

/// A maximum counts once the series has fallen by `threshold` below it; the next is sought after a rise by `threshold`.
fn count_maxima(values: impl Iterator<Item = f64>, threshold: f64) -> usize {
    let (mut high, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut seeking_maximum = true;
    let mut count = 0;
    for value in values {
        high = high.max(value);
        low = low.min(value);
        if seeking_maximum && value < high - threshold {
            count += 1;
            low = value;
            seeking_maximum = false;
        } else if !seeking_maximum && value > low + threshold {
            high = value;
            seeking_maximum = true;
        }
    }
    count
}
