//! A problem whose correlation is all that the parameter moves: it is found, used, saved and loaded.

use kelfi::model::saved::SavedModel;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::samples::independent;
use kelfi::{
    Fit, FitOptions, LOCATION_SCALE, LocationScaleLikelihood, Marginal, ModelChoice, Observation, Points, Prior, Question, Recorded,
    Simulations,
};
use std::sync::Arc;

/// Four pairs of mean 0 and variance 1 with correlation tanh θ.
fn pairs(theta: f64, seed: u64, index: u64) -> Vec<f64> {
    let mut rng = stream(seed, Purpose::Simulator, index);
    let (p, rest) = (theta.tanh(), (1.0 - theta.tanh().powi(2)).sqrt());
    let mut pair = || {
        let first = standard_normal(&mut rng);
        [first, p * first + rest * standard_normal(&mut rng)]
    };
    (0..4).flat_map(|_| pair()).collect()
}

/// Mean and standard deviation of the exact posterior, by quadrature.
fn exact(y: &[f64]) -> (f64, f64) {
    let ln = |theta: f64| {
        let p = theta.tanh();
        let one = |pair: &[f64]| {
            -0.5 * (1.0 - p * p).ln() - 0.5 * (pair[0].powi(2) + pair[1].powi(2) - 2.0 * p * pair[0] * pair[1]) / (1.0 - p * p)
        };
        -0.5 * theta * theta + y.chunks(2).map(one).sum::<f64>()
    };
    let grid: Vec<f64> = (0..8_001).map(|k| -4.0 + 0.001 * f64::from(k)).collect();
    let weights: Vec<f64> = grid.iter().map(|theta| ln(*theta).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mean = grid.iter().zip(&weights).map(|(t, w)| w * t).sum::<f64>() / total;
    (mean, (grid.iter().zip(&weights).map(|(t, w)| w * (t - mean).powi(2)).sum::<f64>() / total).sqrt())
}

fn question(moves: bool, y: &[f64]) -> Question {
    let prior = Prior::independent(vec![("theta".into(), Marginal::Normal { mean: 0.0, std: 1.0 })]).unwrap();
    let theta = prior.draw(400, 2);
    let x: Vec<Vec<f64>> = theta.iter().zip(0..).map(|(theta, index)| pairs(if moves { theta[0] } else { 0.5 }, 1, index)).collect();
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, Points::from_rows(&x).unwrap()).unwrap()));
    // As different statistics, not as the four repeats that they could be recognised as.
    Question::new(&prior, &recorded, &Observation::Statistics(y.to_vec())).with_repeats(1).unwrap()
}

fn fitted(question: &Question) -> Fit {
    Fit::new(question, &FitOptions::of(ModelChoice::Use(&LOCATION_SCALE), 1), &mut |_| true).unwrap()
}

fn moving(fit: &Fit) -> Vec<(usize, usize)> {
    fit.model_as::<LocationScaleLikelihood>().unwrap().hyperparameters().moving.iter().map(|pair| pair.of).collect()
}

#[test]
fn the_posterior_comes_from_the_correlation_alone_and_is_saved_with_it() {
    for theta in [-1.2, 1.0] {
        let y = pairs(theta, 3, 0);
        let fit = fitted(&question(true, &y));
        assert_eq!(moving(&fit), [(1, 0), (3, 2), (5, 4), (7, 6)]);
        let ((mean, sd), found) = (exact(&y), fit.posterior.mean()[0]);
        assert!((found - mean).abs() < 0.5 * sd, "{found} for {mean} ± {sd}");
        let ratio = fit.posterior.std(0).unwrap() / sd;
        assert!((0.75..1.35).contains(&ratio), "{ratio}");
        let saved = SavedModel::new(fit.model.as_ref());
        assert_eq!(saved.format, 4, "readers of version 3 would take the correlation for constant");
        let again = Fit::load(&SavedModel::from_json(&saved.to_json().unwrap()).unwrap(), Some(&fit.record()), 1, &mut || true).unwrap();
        let samples = |fit: &Fit| independent(&fit.posterior, 50, 1).unwrap().samples;
        assert_eq!(samples(&again), samples(&fit));
    }
}

#[test]
fn a_correlation_that_stays_does_not_move() {
    let fit = fitted(&question(false, &pairs(0.5, 3, 0)));
    assert_eq!(moving(&fit), []);
    assert_eq!(SavedModel::new(fit.model.as_ref()).format, 2);
}

#[test]
fn predicted_outputs_have_the_correlation_of_their_parameters() {
    let fit = fitted(&question(true, &pairs(1.0, 3, 0)));
    let model = fit.model_as::<LocationScaleLikelihood>().unwrap();
    for z in [-1.0_f64, 1.0] {
        let outputs = model.outputs_at(&Points::from_column(vec![z; 4_000]), 1);
        let product = outputs.iter().map(|x| x[0] * x[1]).sum::<f64>() / 4_000.0;
        // 400 simulations know the correlation at ±1 to about 0.06.
        assert!((product - z.tanh()).abs() < 0.2, "{z}: {product}");
    }
}
