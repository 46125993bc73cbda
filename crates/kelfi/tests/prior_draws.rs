//! Simulations that were not drawn from the prior: told, and judged by what was simulated.

use kelfi::checks::Status;
use kelfi::diagnostics::Verdict;
use kelfi::{
    Fit, FitOptions, KERNEL_MEANS, LOCATION_SCALE, Marginal, ModelChoice, Observation, Points, Prior, Question, Recorded, Simulations,
};
use std::sync::Arc;

/// θ ~ N(0, 1) but simulated from N(0, 0.3²), x = θ + 0.3 N(0, 1).
fn narrow_fit(y: f64, model: ModelChoice) -> Fit {
    let prior = Prior::independent(vec![("a".into(), Marginal::Normal { mean: 0.0, std: 1.0 })]).unwrap();
    let theta = prior.draw(200, 8).map_rows(1, |t| vec![0.3 * t[0]]);
    let noise = prior.draw(200, 9);
    let x = Points::from_column((0..200).map(|i| theta.row(i)[0] + 0.3 * noise.row(i)[0]).collect());
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, x).unwrap()));
    Fit::new(&Question::new(&prior, &recorded, &Observation::Statistics(vec![y])), &FitOptions::of(model, 1), &mut |_| true).unwrap()
}

#[test]
fn a_posterior_where_nothing_was_simulated_fails_and_models_are_compared_by_what_was_simulated() {
    let far = narrow_fit(1.6, ModelChoice::Auto);
    assert_eq!(far.model.family(), &LOCATION_SCALE, "{:?}", far.comparison);
    let check = far.checks().into_iter().find(|check| check.name == "prior_draws").unwrap();
    assert_eq!(check.status, Status::Fail, "{}", check.message());
    assert!(check.message().contains("narrower region than the prior") && check.message().contains("% of the posterior lie outside"));
    let near = narrow_fit(0.1, ModelChoice::Use(&LOCATION_SCALE));
    let check = near.checks().into_iter().find(|check| check.name == "prior_draws").unwrap();
    assert_eq!(check.status, Status::Warn, "{}", check.message());
    // The posterior under the prior is wider than that of what was simulated, and right: 0.287 against 0.21.
    assert!((near.posterior.std(0).unwrap() - 0.287).abs() < 0.04, "{:?}", near.posterior.std(0));
    let calibration = near.calibration().unwrap();
    assert!(calibration.by_simulated && calibration.verdict(0) == Verdict::Calibrated, "{:?}", calibration.uniformity(0));
}

#[test]
fn the_kernel_means_model_is_calibrated_by_what_was_simulated_too() {
    let near = narrow_fit(0.1, ModelChoice::Use(&KERNEL_MEANS));
    let calibration = near.calibration().unwrap();
    assert!(calibration.by_simulated && calibration.verdict(0) == Verdict::Calibrated, "{:?}", calibration.uniformity(0));
}
