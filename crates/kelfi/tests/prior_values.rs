//! CDFs and quantiles of every family against values made with SciPy and mpmath (see `data/make_prior_values.py`).

use kelfi::prior::Marginal;
use serde::Deserialize;

/// Relative error of a quantile or a probability.
const RELATIVE: f64 = 1e-10;

#[derive(Deserialize)]
struct Case {
    marginal: Marginal,
    /// (tail, probability, quantile, ln probability at the rounded quantile).
    rows: Vec<(String, f64, f64, f64)>,
}

/// What an error of the quantile is relative to: itself, unless it vanishes inside the support (the centre of a symmetric
/// family, or low + p (high − low) = 0), where only the rounding of the settings can be asked for.
fn size(marginal: &Marginal, quantile: f64) -> f64 {
    let (low, high) = marginal.support();
    if low < 0.0 && high > 0.0 && quantile.abs() < 1e-12 { 1.0 } else { quantile.abs() }
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("data/prior_values.json")).unwrap()
}

#[test]
fn quantiles_agree_with_reference_values_in_both_tails() {
    let mut worst: f64 = 0.0;
    for case in cases() {
        for (tail, probability, quantile, _) in &case.rows {
            let marginal = &case.marginal;
            let ours = if tail == "lower" { marginal.quantile(*probability) } else { marginal.quantile_survival(*probability) };
            let error = (ours - quantile).abs() / size(marginal, *quantile);
            worst = worst.max(error);
            assert!(error <= RELATIVE, "{marginal:?}: {tail} {probability:e}: {ours:e} instead of {quantile:e}, error {error:e}");
        }
    }
    println!("largest relative error of a quantile: {worst:e}");
}

#[test]
fn probabilities_agree_with_reference_values_in_both_tails() {
    let mut worst: f64 = 0.0;
    for case in cases() {
        for (tail, probability, quantile, ln_probability) in &case.rows {
            let marginal = &case.marginal;
            let lower = tail == "lower";
            let (ours, plain) = if lower {
                (marginal.ln_cdf(*quantile), marginal.cdf(*quantile))
            } else {
                (marginal.ln_survival(*quantile), marginal.survival(*quantile))
            };
            // |Δ ln P| is the relative error of P.
            let error = (ours - ln_probability).abs().max((plain.ln() - ln_probability).abs());
            worst = worst.max(error);
            assert!(error <= RELATIVE, "{marginal:?}: {tail} {probability:e} at {quantile:e}: error {error:e}");
        }
    }
    println!("largest relative error of a probability: {worst:e}");
}

#[test]
fn the_reference_covers_every_family_and_both_far_tails() {
    let cases = cases();
    let families: std::collections::HashSet<_> = cases.iter().map(|case| std::mem::discriminant(&case.marginal)).collect();
    assert_eq!(families.len(), 15);
    let far = cases.iter().flat_map(|case| &case.rows).filter(|row| row.1 == 1e-300).count();
    assert!(far >= 40, "{far} values at 1e-300");
}
