//! Numbers that cannot be absurd, of random problems whose surrogates have large negative parts.

mod support;

use kelfi::kernel::Family;
use kelfi::posterior::Posterior;
use kelfi::samples::independent;
use kelfi::{Marginal, Points};
use support::{Problem, Random, assert_close};

/// Posteriors of two bounded parameters with a tenth or more of negative mass, for each kernel.
fn ragged() -> Vec<(Family, Posterior)> {
    let marginals = [Marginal::Uniform { low: -3.0, high: 3.0 }, Marginal::LogUniform { low: 0.01, high: 10.0 }];
    let mut found = vec![];
    for family in [Family::Gaussian, Family::Matern32] {
        let mut of_family = 0;
        for seed in 0..200 {
            if of_family == 4 {
                break;
            }
            let mut problem = Problem::random(&mut Random::new(300 + seed), 25, 2, support::independent(&marginals));
            problem.hyperparameters.family = family;
            problem.hyperparameters.epsilon = vec![0.4];
            problem.hyperparameters.length_scale = vec![0.5];
            problem.hyperparameters.regularization = 1e-6;
            if let Ok(posterior) = problem.posterior()
                && posterior.negative_mass().ratio > 0.1
            {
                of_family += 1;
                found.push((family, posterior));
            }
        }
        assert_eq!(of_family, 4, "{family:?}");
    }
    found
}

#[test]
fn moments_agree_with_samples_and_lie_inside_the_prior() {
    let mut absurd = 0;
    for (family, posterior) in ragged() {
        let samples = independent(&posterior, 4_000, 5).unwrap();
        // Five standard errors of the samples and of the mean.
        let tolerance = 5.0 * (samples.effective_sample_size.recip() + posterior.mean_error().powi(2)).sqrt();
        assert!(posterior.mean_error() < 0.03, "{family:?}: {}", posterior.mean_error());
        for (d, (low, high)) in [(-3.0, 3.0), (0.01, 10.0)].into_iter().enumerate() {
            let values = samples.samples.column(d);
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let std = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
            assert_close(&format!("{family:?}: mean"), posterior.mean()[d], mean, tolerance, std);
            assert_close(&format!("{family:?}: std"), posterior.std(d).unwrap(), std, 2.0 * tolerance, std);
            assert!(posterior.mean()[d] > low && posterior.mean()[d] < high);
            assert!(posterior.covariance().row(d)[d] > 0.0);
            let outside = posterior.signed_mean()[d] < low || posterior.signed_mean()[d] > high;
            absurd += usize::from(outside || posterior.signed_covariance().row(d)[d] < 0.0);
        }
    }
    assert!(absurd > 0, "the signed moments of all these problems make sense: they test nothing");
}

#[test]
fn outside_the_support_there_is_no_density() {
    for (_, posterior) in ragged() {
        let outside = Points::from_rows(&[[3.5, 1.0], [0.0, -1.0], [f64::INFINITY, 1.0]]).unwrap();
        assert_eq!(posterior.value(&outside).unwrap(), vec![0.0; 3]);
        assert_eq!(posterior.pdf(&outside).unwrap(), vec![0.0; 3]);
        assert_eq!(posterior.log_prob(&outside).unwrap(), vec![f64::NEG_INFINITY; 3]);
        assert_eq!(posterior.marginal(1, &[-1.0, 11.0]).unwrap(), vec![0.0; 2]);
        let mixed = Points::from_rows(&[vec![3.5, 1.0], posterior.mode().unwrap()]).unwrap();
        let found = posterior.log_prob(&mixed).unwrap();
        assert!(found[0] == f64::NEG_INFINITY && found[1].is_finite(), "{found:?}");
    }
}

#[test]
fn the_mode_is_as_high_as_the_best_of_ten_thousand_samples() {
    for (family, posterior) in ragged() {
        let samples = independent(&posterior, 10_000, 6).unwrap().samples;
        let best = posterior.log_prob(&samples).unwrap().into_iter().fold(f64::NEG_INFINITY, f64::max);
        let mode = posterior.log_prob(&Points::from_rows(&[posterior.mode().unwrap()]).unwrap()).unwrap()[0];
        assert!(mode >= best - 1e-9, "{family:?}: {mode} {best}");
    }
}

#[test]
fn a_constant_is_predicted_as_itself_and_a_shift_shifts() {
    for (family, posterior) in ragged() {
        assert_close(&format!("{family:?}: ones"), posterior.predictive(&[1.0; 25]).unwrap(), 1.0, 1e-9, 1.0);
        let recorded: Vec<f64> = (0..25).map(|i| (f64::from(i)).sin()).collect();
        let shifted: Vec<f64> = recorded.iter().map(|f| f + 10.0).collect();
        let found = posterior.predictive(&recorded).unwrap();
        assert_close(&format!("{family:?}: shifted"), posterior.predictive(&shifted).unwrap(), found + 10.0, 1e-6, 1.0);
    }
}

/// E[f] = f̄ + Σ_j (A⁻¹ (f - f̄))_j ∫ ℓ(θ_j, θ) q(θ|y) dθ, the integral being the embedding at θ_j.
#[test]
fn a_prediction_is_the_regression_averaged_over_the_posterior() {
    let mut closed_forms = 0;
    for seed in 0..30 {
        let mut problem = Problem::random(&mut Random::new(900 + seed), 20, 2, support::standard_prior(2));
        problem.hyperparameters.epsilon = vec![3.0];
        problem.hyperparameters.length_scale = vec![2.0];
        problem.hyperparameters.regularization = 0.1;
        let (model, posterior) = (problem.model().unwrap(), problem.posterior().unwrap());
        let recorded: Vec<f64> = problem.theta.iter().map(|theta| theta[0] + theta[1] * theta[1]).collect();
        let mean = recorded.iter().sum::<f64>() / 20.0;
        let centred: Vec<f64> = recorded.iter().map(|f| f - mean).collect();
        let coefficients = model.operator().solver().solve(&centred);
        let embedding = posterior.embedding(None, &Points::from_rows(&problem.theta).unwrap()).unwrap();
        let expected = mean + coefficients.iter().zip(embedding).map(|(c, e)| c * e).sum::<f64>();
        let ratio = posterior.negative_mass().ratio;
        let closed = posterior.clipped().is_none();
        closed_forms += usize::from(closed);
        let tolerance = if closed { 1e-10 } else { 0.02 + 5.0 * ratio };
        assert_close("predictive", posterior.predictive(&recorded).unwrap(), expected, tolerance, 1.0);
    }
    assert!(closed_forms > 3, "{closed_forms} of 30 posteriors are close to a density");
}
