//! Whether chains agree, and how many independent samples they are worth.

/// Split R-hat and effective sample size (Geyer's initial positive pairs) of `count` chains;
/// values of one step of all chains stand together.
pub fn agreement(values: &[f64], count: usize) -> (f64, f64) {
    let kept = values.len() / count;
    let half = kept / 2;
    let chains: Vec<Vec<f64>> = (0..2 * count)
        .map(|c| (0..half).map(|t| values[(t + if c < count { 0 } else { kept - half }) * count + c % count]).collect())
        .collect();
    let (halves, length) = (chains.len() as f64, half as f64);
    let means: Vec<f64> = chains.iter().map(|c| c.iter().sum::<f64>() / length).collect();
    let grand = means.iter().sum::<f64>() / halves;
    let between = means.iter().map(|m| (m - grand).powi(2)).sum::<f64>() / (halves - 1.0);
    let within =
        chains.iter().zip(&means).map(|(c, m)| c.iter().map(|v| (v - m).powi(2)).sum::<f64>()).sum::<f64>() / (halves * (length - 1.0));
    if within <= 0.0 {
        return (1.0, values.len() as f64);
    }
    let variance = (length - 1.0) / length * within + between;
    let correlation = |lag: usize| {
        let lagged: f64 = chains
            .iter()
            .zip(&means)
            .map(|(c, m)| (0..half - lag).map(|t| (c[t] - m) * (c[t + lag] - m)).sum::<f64>() / (length - 1.0))
            .sum::<f64>()
            / halves;
        1.0 - (within - lagged) / variance
    };
    let mut sum = 0.0;
    let mut lag = 1;
    while lag + 1 < half {
        let pair = correlation(lag) + correlation(lag + 1);
        if pair <= 0.0 {
            break;
        }
        sum += pair;
        lag += 2;
    }
    ((variance / within).sqrt(), values.len() as f64 / (1.0 + 2.0 * sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};

    const CHAINS: usize = 20;
    const STEPS: usize = 400;

    /// Chains with this correlation from step to step and variance one, chain c shifted by `apart` where c is odd.
    fn chains(correlation: f64, apart: f64) -> Vec<f64> {
        let mut rng = stream(1, Purpose::Experiment, 0);
        let mut state: Vec<f64> = (0..CHAINS).map(|_| standard_normal(&mut rng)).collect();
        let mut values = Vec::new();
        for _ in 0..STEPS {
            for (c, x) in state.iter_mut().enumerate() {
                *x = correlation * *x + (1.0 - correlation * correlation).sqrt() * standard_normal(&mut rng);
                values.push(*x + if c % 2 == 1 { apart } else { 0.0 });
            }
        }
        values
    }

    #[test]
    fn independent_values_count_as_many_and_correlated_ones_as_theory_says() {
        let total = (CHAINS * STEPS) as f64;
        let (r_hat, effective) = agreement(&chains(0.0, 0.0), CHAINS);
        assert!((r_hat - 1.0).abs() < 0.01 && effective > 0.8 * total, "{r_hat} {effective}");
        // A first-order autoregression is worth (1 - ρ)/(1 + ρ) of its length.
        let (_, effective) = agreement(&chains(0.8, 0.0), CHAINS);
        assert!((effective / total * 9.0 - 1.0).abs() < 0.25, "{}", effective / total);
    }

    #[test]
    fn chains_that_sit_apart_are_found_out() {
        // Two groups two standard deviations apart: √(1 + 1) in the limit.
        let (r_hat, effective) = agreement(&chains(0.0, 2.0), CHAINS);
        assert!(r_hat > 1.3 && r_hat < 1.5, "{r_hat}");
        assert!(effective < 1_000.0, "{effective}");
    }
}
