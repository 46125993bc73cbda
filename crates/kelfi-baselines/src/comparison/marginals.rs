//! One parameter at a time: quantiles of samples, and how far two distributions are apart.

use kelfi::Points;

/// Bins of the total variation, equally likely under the reference.
const BINS: usize = 20;
/// Levels at which marginals are kept: 2.5 %, 5 %, …, 97.5 %.
pub const LEVELS: usize = 39;

/// The level of quantile k.
pub fn level(k: usize) -> f64 {
    (k + 1) as f64 / (LEVELS + 1) as f64
}

/// Quantiles of every parameter at the kept levels.
pub fn quantiles(samples: &Points) -> Vec<Vec<f64>> {
    (0..samples.columns())
        .map(|d| {
            let sorted = sorted(samples.column(d));
            (0..LEVELS).map(|k| at(&sorted, level(k))).collect()
        })
        .collect()
}

/// Mean over parameters of ½ Σ_bins |p − q|, the bins equally likely under `exact`: 0 alike, 1 apart.
pub fn total_variation(samples: &Points, exact: &Points) -> f64 {
    let one = |d: usize| {
        let (exact, samples) = (sorted(exact.column(d)), samples.column(d));
        let edges: Vec<f64> = (1..BINS).map(|k| at(&exact, k as f64 / BINS as f64)).collect();
        let shares = |values: &[f64]| {
            let mut counts = [0.0; BINS];
            values.iter().for_each(|v| counts[edges.partition_point(|edge| edge <= v)] += 1.0 / values.len() as f64);
            counts
        };
        0.5 * shares(&exact).iter().zip(shares(&samples)).map(|(p, q)| (p - q).abs()).sum::<f64>()
    };
    (0..samples.columns()).map(one).sum::<f64>() / samples.columns() as f64
}

/// Mean over parameters and levels of |q − r| over the reference's 68 % half-width: how many of its standard deviations lie between.
pub fn apart(quantiles: &[Vec<f64>], reference: &[Vec<f64>]) -> f64 {
    let one = |(q, r): (&Vec<f64>, &Vec<f64>)| {
        let half_width = 0.5 * (r[(0.84 * LEVELS as f64) as usize] - r[(0.16 * LEVELS as f64) as usize]);
        let distance = q.iter().zip(r).map(|(q, r)| (q - r).abs()).sum::<f64>() / q.len() as f64;
        distance / half_width.max(f64::MIN_POSITIVE.sqrt())
    };
    quantiles.iter().zip(reference).map(one).sum::<f64>() / quantiles.len() as f64
}

/// At every parameter and level the median over several answers.
pub fn consensus(answers: &[&Vec<Vec<f64>>]) -> Option<Vec<Vec<f64>>> {
    let first = answers.first()?;
    let middle = |d: usize, k: usize| kelfi::simulations::scales::median(answers.iter().map(|a| a[d][k]).collect());
    (0..first.len()).map(|d| (0..LEVELS).map(|k| middle(d, k)).collect()).collect()
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn at(sorted: &[f64], level: f64) -> f64 {
    sorted[((level * sorted.len() as f64) as usize).min(sorted.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_between_marginals_are_as_by_hand() {
        let even = Points::from_column((0..1_000).map(f64::from).collect());
        let half = Points::from_column((0..1_000).map(|i| f64::from(i) / 2.0).collect());
        let far = Points::from_column((0..1_000).map(|i| f64::from(i) + 5_000.0).collect());
        assert!(total_variation(&even, &even) < 1e-12);
        // Uniform on [0, 500] against [0, 1000]: half of the mass lies where the other has none.
        assert!((total_variation(&half, &even) - 0.5).abs() < 0.01);
        assert!((total_variation(&far, &even) - 0.95).abs() < 1e-9, "all in the last of twenty bins");
        let moved = Points::from_column((0..1_000).map(|i| f64::from(i) + 680.0).collect());
        // 680 over half of the central 68 % of 1000: two.
        assert!((apart(&quantiles(&moved), &quantiles(&even)) - 2.0).abs() < 0.1);
        let (a, b, c) = (quantiles(&even), quantiles(&far), quantiles(&half));
        assert_eq!(consensus(&[&a, &b, &c]), Some(a.clone()), "between the other two everywhere");
        assert_eq!(consensus(&[]), None);
    }
}
