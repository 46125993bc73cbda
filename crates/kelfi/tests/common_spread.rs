//! A problem in which the parameter moves the noise of all statistics a little, and nothing else: it is found, used, saved and loaded.

use kelfi::model::saved::SavedModel;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{
    Fit, FitOptions, LOCATION_SCALE, LocationScaleLikelihood, Marginal, ModelChoice, Observation, Points, Prior, Question, Recorded,
    Simulations,
};
use std::sync::Arc;

const STATISTICS: usize = 8;
/// ln of the variance of every statistic is this times θ: too little to be seen in one of them with 500 simulations.
const SLOPE: f64 = 0.2;
/// Central differences of a function of order one.
const STEP: f64 = 1e-5;
const CLOSE: f64 = 1e-6;

fn question(slope: f64, y: &[f64]) -> Question {
    let prior = Prior::independent(vec![("theta".into(), Marginal::Normal { mean: 0.0, std: 1.0 })]).unwrap();
    let theta = prior.draw(500, 2);
    let row = |(theta, index): (&[f64], u64)| -> Vec<f64> {
        let mut rng = stream(1, Purpose::Simulator, index);
        (0..STATISTICS).map(|_| (0.5 * slope * theta[0]).exp() * standard_normal(&mut rng)).collect()
    };
    let x: Vec<Vec<f64>> = theta.iter().zip(0..).map(row).collect();
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, Points::from_rows(&x).unwrap()).unwrap()));
    // As different statistics: they could be recognised as repeats, whose spread is that of one.
    Question::new(&prior, &recorded, &Observation::Statistics(y.to_vec())).with_repeats(1).unwrap()
}

fn fitted(question: &Question) -> Fit {
    Fit::new(question, &FitOptions::of(ModelChoice::Use(&LOCATION_SCALE), 1), &mut |_| true).unwrap()
}

/// Mean and standard deviation of the exact posterior, by quadrature.
fn exact(y: &[f64]) -> (f64, f64) {
    let squares: f64 = y.iter().map(|y| y * y).sum();
    let ln = |t: f64| -0.5 * t * t - 0.5 * STATISTICS as f64 * SLOPE * t - 0.5 * squares * (-SLOPE * t).exp();
    let grid: Vec<f64> = (0..1_201).map(|k| -6.0 + 0.01 * f64::from(k)).collect();
    let weights: Vec<f64> = grid.iter().map(|t| ln(*t).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mean = grid.iter().zip(&weights).map(|(t, w)| w * t).sum::<f64>() / total;
    (mean, (grid.iter().zip(&weights).map(|(t, w)| w * (t - mean).powi(2)).sum::<f64>() / total).sqrt())
}

/// Values of this size, up and down.
fn observed(size: f64) -> Vec<f64> {
    (0..STATISTICS).map(|k| if k % 2 == 0 { size } else { -size }).collect()
}

#[test]
fn the_posterior_comes_from_the_common_spread_alone_and_is_saved_with_it() {
    for size in [0.3, 1.7] {
        let y = observed(size);
        let fit = fitted(&question(SLOPE, &y));
        assert!(fit.model_as::<LocationScaleLikelihood>().unwrap().hyperparameters().common_spread.is_some());
        let ((mean, sd), found) = (exact(&y), fit.posterior.mean()[0]);
        // Without it the posterior is the prior: 0, where the exact mean is not.
        assert!(mean.abs() > 0.5 * sd && (found - mean).abs() < 0.35 * sd, "{found} for {mean} ± {sd}");
        let ratio = fit.posterior.std(0).unwrap() / sd;
        assert!((0.8..1.25).contains(&ratio), "{ratio}");
        let saved = SavedModel::new(fit.model.as_ref());
        assert_eq!(saved.format, 6, "readers of version 5 would take the spread for constant");
        let again = Fit::load(&SavedModel::from_json(&saved.to_json().unwrap()).unwrap(), Some(&fit.record()), 1, &mut || true).unwrap();
        assert_eq!(again.posterior.mean(), fit.posterior.mean());
    }
}

#[test]
fn a_spread_that_stays_is_not_found() {
    let fit = fitted(&question(0.0, &observed(1.0)));
    assert!(fit.model_as::<LocationScaleLikelihood>().unwrap().hyperparameters().common_spread.is_none());
    assert_eq!(SavedModel::new(fit.model.as_ref()).format, 2);
}

#[test]
fn gradients_are_those_of_the_values() {
    let fit = fitted(&question(SLOPE, &observed(1.7)));
    let model = fit.model_as::<LocationScaleLikelihood>().unwrap();
    let ln = |z: f64| model.ln_values_and_gradients(&Points::from_column(vec![z])).0[0];
    for z in [-1.1, 0.2, 0.9] {
        let at = Points::from_column(vec![z]);
        let (values, gradients) = model.ln_values_and_gradients(&at);
        assert!((values[0] - model.ln_values(&at)[0]).abs() < CLOSE, "values with and without gradients");
        let slope = (ln(z + STEP) - ln(z - STEP)) / (2.0 * STEP);
        assert!((gradients.row(0)[0] - slope).abs() < CLOSE * (1.0 + slope.abs()), "{} for {slope} at {z}", gradients.row(0)[0]);
    }
}
