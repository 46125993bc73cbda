//! Weights and their logarithms: sums that do not overflow, and draws in proportion.

use rand::{Rng, RngExt};

/// ln Σ exp.
pub fn ln_sum_exp(terms: &[f64]) -> f64 {
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY { largest } else { largest + terms.iter().map(|t| (t - largest).exp()).sum::<f64>().ln() }
}

/// ln of the mean of exp, by the largest; what is not finite counts as exp(−∞).
pub fn ln_mean_exp(terms: &[f64]) -> f64 {
    let largest = terms.iter().copied().filter(|t| t.is_finite()).fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    let sum: f64 = terms.iter().filter(|t| t.is_finite()).map(|t| (t - largest).exp()).sum();
    largest + (sum / terms.len() as f64).ln()
}

/// An index in proportion to the weights, which sum to 1.
pub fn pick(weights: &[f64], rng: &mut dyn Rng) -> usize {
    let mut level = rng.random::<f64>();
    for (i, w) in weights.iter().enumerate() {
        level -= w;
        if level < 0.0 {
            return i;
        }
    }
    weights.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use kelfi::random::{Purpose, stream};

    #[test]
    fn sums_of_exponentials_are_as_by_hand_and_do_not_overflow() {
        assert!((ln_sum_exp(&[2.0_f64.ln(), 3.0_f64.ln()]) - 5.0_f64.ln()).abs() < 1e-15);
        assert!((ln_sum_exp(&[1e4, 1e4]) - 1e4 - 2.0_f64.ln()).abs() < 1e-9);
        assert_eq!(ln_sum_exp(&[f64::NEG_INFINITY; 2]), f64::NEG_INFINITY);
        // A failed call is one of the terms that the mean is over.
        assert!((ln_mean_exp(&[0.0, f64::NAN]) - 0.5_f64.ln()).abs() < 1e-15);
        assert_eq!(ln_mean_exp(&[f64::NAN]), f64::NEG_INFINITY);
    }

    #[test]
    fn indices_come_in_proportion_to_their_weights() {
        let mut counts = [0.0; 3];
        (0..20_000).for_each(|i| counts[pick(&[0.2, 0.0, 0.8], &mut stream(1, Purpose::Experiment, i))] += 1.0 / 20_000.0);
        assert!((counts[0] - 0.2_f64).abs() < 0.012 && counts[1] == 0.0, "{counts:?}");
    }
}
