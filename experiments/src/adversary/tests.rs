//! The suite itself: references agree with closed forms, and exact posteriors know where the truth is.

use super::case::{Answer, Observed};
use super::{densities, gaussian, reference, registry};
use kelfi::Points;
use kelfi_problems::linear_gaussian::LinearGaussian;
use std::collections::BTreeSet;

/// Standard deviations; 100,000 weighted draws err by less than half of it.
const CLOSE: f64 = 0.02;

#[test]
fn there_are_more_than_sixty_problems_with_names_of_their_own() {
    let cases = registry::chosen(&[]).unwrap();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases.len());
    assert!(cases.len() >= 60 && cases.iter().filter(|case| case.usual).count() >= 30);
    let message = registry::chosen(&["linear_7".into()]).map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("there is no problem or family linear_7"), "{message}");
}

#[test]
fn references_agree_with_the_closed_form_in_one_to_four_dimensions() {
    for (parameters, statistics) in [(1, 1), (2, 2), (3, 3), (4, 8)] {
        let matrix = gaussian::mixing(parameters, statistics);
        let case = gaussian::linear("test", "a test", densities::standard_prior(parameters), matrix.clone(), 0.3);
        let (_, y) = case.observation(3).unwrap();
        let closed = LinearGaussian::new(Points::from_rows(&matrix).unwrap(), 0.3, y.clone()).unwrap();
        let (mean, covariance) = closed.posterior_moments(&y);
        for (d, marginal) in reference::posterior(&case, &y).unwrap().iter().enumerate() {
            let sd = covariance[d * parameters + d].sqrt();
            assert!((marginal.mean - mean[d]).abs() < CLOSE * sd, "mean {d} of {parameters}");
            assert!((marginal.sd / sd - 1.0).abs() < CLOSE, "standard deviation {d} of {parameters}: {} for {sd}", marginal.sd);
            let share = marginal.below(mean[d] + sd);
            assert!((share - 0.841_345).abs() < CLOSE, "share {d} of {parameters}: {share}");
            assert!((marginal.quantile(0.841_345) - mean[d] - sd).abs() < 2.0 * CLOSE * sd);
        }
    }
}

/// Over θ* from the prior the share of the exact posterior below θ* is uniform: mean ½, variance 1/12. A likelihood that does not belong
/// to its simulator breaks this.
fn shares_are_uniform(data_sets: u64, parameters: std::ops::RangeInclusive<usize>) {
    for case in registry::chosen(&[]).unwrap() {
        let drawn = matches!(case.observed, Observed::Drawn) && case.answer == Answer::Posterior;
        if !drawn || !parameters.contains(&case.prior.dimension()) {
            continue;
        }
        let mut shares = vec![vec![]; case.prior.dimension()];
        for seed in 0..data_sets {
            let (theta, y) = case.observation(100 + seed).unwrap();
            let theta = theta.expect("a drawn observation has parameters");
            let exact = reference::posterior(&case, &y).unwrap();
            (0..theta.len()).for_each(|d| shares[d].push(exact[d].below(theta[d])));
        }
        for (d, shares) in shares.iter().enumerate() {
            let count = shares.len() as f64;
            let mean = shares.iter().sum::<f64>() / count;
            let square = shares.iter().map(|s| (s - 0.5).powi(2)).sum::<f64>() / count;
            // Standard deviations of u and of (u - ½)²: √(1/12) and √(1/180). Four of them over all cases.
            assert!((mean - 0.5).abs() < 4.0 * (1.0 / 12.0 / count).sqrt(), "{}, parameter {d}: mean share {mean}", case.name);
            assert!((square - 1.0 / 12.0).abs() < 4.0 * (1.0 / 180.0 / count).sqrt(), "{}, parameter {d}: spread {square}", case.name);
        }
    }
}

#[test]
fn exact_posteriors_of_one_parameter_are_calibrated() {
    shares_are_uniform(24, 1..=1);
}

#[test]
#[ignore = "minutes"]
fn exact_posteriors_of_all_cases_are_calibrated() {
    shares_are_uniform(200, 1..=6);
}
