//! Either model through one door: the choice between them, saving, checks and predictions.

use kelfi::checks::Status;
use kelfi::learning::{EpsilonChoice, KernelMeansOptions, Objective};
use kelfi::model::ModelFamily;
use kelfi::model::saved::SavedModel;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::samples::independent;
use kelfi::simulations::DataSets;
use kelfi::{
    Error, Fit, FitOptions, KERNEL_MEANS, LOCATION_SCALE, Marginal, ModelChoice, Observation, Points, Prior, Question, Recorded,
    Simulations,
};
use rand::RngExt;
use std::sync::Arc;

fn auto() -> FitOptions {
    FitOptions::of(ModelChoice::Auto, 1)
}

fn prior() -> Prior {
    Prior::independent(vec![
        ("a".into(), Marginal::Normal { mean: 1.0, std: 2.0 }),
        ("b".into(), Marginal::Uniform { low: -2.0, high: 3.0 }),
    ])
    .unwrap()
}

/// x = (θ₁ + N(0, 0.09), θ₂³/5 + N(0, 0.04)); every thirteenth simulation fails.
fn curved(m: usize, seed: u64) -> Recorded {
    let theta = prior().draw(m, seed);
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let rows: Vec<Vec<f64>> = theta
        .iter()
        .enumerate()
        .map(|(i, t)| {
            let x = vec![t[0] + 0.3 * standard_normal(&mut rng), t[1].powi(3) / 5.0 + 0.2 * standard_normal(&mut rng)];
            if i % 13 == 12 { vec![f64::NAN; 2] } else { x }
        })
        .collect();
    Recorded::Statistics(Arc::new(Simulations::new(theta, Points::from_rows(&rows).unwrap()).unwrap()))
}

fn observed() -> Observation {
    Observation::Statistics(vec![1.5, 0.6])
}

fn fit(recorded: &Recorded, settings: &FitOptions) -> Result<Fit, Error> {
    Fit::new(&Question::new(&prior(), recorded, &observed()), settings, &mut |_| true)
}

fn using(kind: &'static ModelFamily) -> FitOptions {
    FitOptions { model: ModelChoice::Use(kind), ..auto() }
}

#[test]
fn the_model_with_the_higher_leave_one_out_score_is_chosen_and_both_scores_are_told() {
    let recorded = curved(150, 3);
    let chosen = fit(&recorded, &auto()).unwrap();
    let comparison = chosen.comparison.clone().unwrap();
    // Regressions learn a smooth mean with far fewer simulations than a kernel mean does.
    assert_eq!((chosen.model.family(), comparison.chosen.as_str()), (&LOCATION_SCALE, "location-scale"));
    let alone = fit(&recorded, &using(&LOCATION_SCALE)).unwrap();
    assert_eq!(comparison.score("location-scale"), alone.score());
    assert_eq!(alone.comparison, None);
    let (gain, error) = comparison.difference.unwrap();
    let (ours, theirs) = (comparison.score("location-scale").unwrap().0, comparison.score("kernel-means").unwrap().0);
    assert!((gain - (ours - theirs)).abs() < 1e-12 && gain > 2.0 * error, "{comparison:?}");
    assert!(comparison.reason.contains("left-out simulations near the observation better, by"), "{}", comparison.reason);
    // The exact posterior is worth about ln(2/0.3) + ln(spread of b) nats.
    assert!(ours > 2.0 && ours < 4.0, "{ours}");
}

#[test]
fn the_choice_follows_the_score_where_mean_and_spread_say_little() {
    // θ decides between two far values only: mean and spread say little, the whole distribution everything.
    let prior = Prior::independent(vec![("p".into(), Marginal::Uniform { low: 0.0, high: 1.0 })]).unwrap();
    let theta = prior.draw(400, 5);
    let mut rng = stream(5, Purpose::Experiment, 0);
    let x = theta.values().iter().map(|&p| if p > 0.5 { rng.random::<f64>() } else { 10.0 * rng.random::<f64>().round() }).collect();
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, Points::new(x, 400, 1).unwrap()).unwrap()));
    let found = Fit::new(&Question::new(&prior, &recorded, &Observation::Statistics(vec![0.4])), &auto(), &mut |_| true).unwrap();
    let comparison = found.comparison.unwrap();
    let best = comparison.score("kernel-means").unwrap().0.max(comparison.score("location-scale").unwrap().0);
    let scored = if comparison.chosen == "kernel-means" { comparison.score("kernel-means") } else { comparison.score("location-scale") };
    assert_eq!(scored.unwrap().0, best);
    // x = 0.4 says p > 0.5: half the prior, ln 2 nats at most.
    assert!(best > 0.3 && best < 1.0, "{comparison:?}");
}

#[test]
fn raw_data_few_simulations_and_given_hyperparameters_go_to_kernel_means_with_a_reason() {
    let few = fit(&curved(8, 1), &auto()).unwrap();
    assert_eq!(few.model.family(), &KERNEL_MEANS);
    assert!(few.comparison.unwrap().reason.contains("simulations"));
    let recorded = curved(60, 1);
    let given =
        FitOptions { learn: KernelMeansOptions { epsilon: EpsilonChoice::Fixed(vec![0.5]), ..KernelMeansOptions::default() }, ..auto() };
    let by_given = fit(&recorded, &given).unwrap();
    assert_eq!(by_given.model.family(), &KERNEL_MEANS);
    assert!(by_given.comparison.unwrap().reason.contains("tolerance"));
    let evidence = FitOptions { learn: KernelMeansOptions { objective: Objective::Evidence, ..KernelMeansOptions::default() }, ..auto() };
    assert!(fit(&recorded, &evidence).unwrap().comparison.unwrap().reason.contains("marginal likelihood"));
    let refused = fit(&recorded, &FitOptions { model: ModelChoice::Use(&LOCATION_SCALE), ..given }).unwrap_err();
    assert!(refused.to_string().contains("kernel means"), "{refused}");

    let prior = Prior::independent(vec![("m".into(), Marginal::Normal { mean: 0.0, std: 1.0 })]).unwrap();
    let theta = prior.draw(40, 2);
    let sets = theta.iter().map(|t| Some(Points::from_column(vec![t[0] - 0.1, t[0] + 0.2, t[0]]))).collect();
    let raw = Recorded::DataSets(Arc::new(DataSets::new(theta, sets, vec![0.5]).unwrap()));
    let y = Observation::DataSet(Points::from_column(vec![0.3, 0.1]));
    let found = Fit::new(&Question::new(&prior, &raw, &y), &auto(), &mut |_| true).unwrap();
    assert_eq!(found.model.family(), &KERNEL_MEANS);
    assert!(found.comparison.unwrap().reason.contains("raw data"));
}

#[test]
fn either_model_is_saved_and_built_again_with_the_same_bits() {
    let recorded = curved(60, 7);
    for kind in [&KERNEL_MEANS, &LOCATION_SCALE] {
        let made = fit(&recorded, &using(kind)).unwrap();
        let text = SavedModel::new(made.model.as_ref()).to_json().unwrap();
        let record: serde_json::Value = serde_json::from_str(&made.record().to_string()).unwrap();
        assert_eq!(record, made.record());
        let again = Fit::load(&SavedModel::from_json(&text).unwrap(), Some(&record), 1, &mut || true).unwrap();
        assert_eq!(again.record(), record);
        assert_eq!(again.model.family(), kind);
        let bits = |fit: &Fit| independent(&fit.posterior, 50, 4).unwrap().samples.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&again), bits(&made));
        assert_eq!(again.score(), made.score());
        let elsewhere = made.condition(&Observation::Statistics(vec![0.0, 0.1]), 1).unwrap();
        assert!(elsewhere.posterior.mean()[0] < made.posterior.mean()[0]);
    }
    let text = SavedModel::new(fit(&recorded, &using(&KERNEL_MEANS)).unwrap().model.as_ref()).to_json().unwrap();
    assert!(text.starts_with("{\"format\":1,"), "kernel means are still written as older versions read them");
}

#[test]
fn a_search_that_is_told_to_stop_stops() {
    let recorded = curved(100, 7);
    for limit in [0, 3, 40] {
        let mut calls = 0;
        let stopped = Fit::new(&Question::new(&prior(), &recorded, &observed()), &auto(), &mut |_| {
            calls += 1;
            calls <= limit
        });
        assert!(matches!(stopped, Err(Error::Interrupted)), "after {limit} steps");
    }
}

#[test]
fn checks_tell_an_observation_within_reach_from_one_that_is_not() {
    let recorded = curved(200, 11);
    let status = |y: [f64; 2], name: &str| {
        let y = Observation::Statistics(y.to_vec());
        let found = Fit::new(&Question::new(&prior(), &recorded, &y), &using(&LOCATION_SCALE), &mut |_| true).unwrap();
        found.checks().into_iter().find(|check| check.name == name).unwrap().status
    };
    assert_eq!(status([1.5, 0.6], "support"), Status::Ok);
    assert_eq!(status([1.5, 0.6], "effective_simulations"), Status::Ok);
    assert_ne!(status([1.5, 60.0], "support"), Status::Ok);
    for name in ["negative_mass", "failed_simulations", "hyperparameter_at_bound", "chains"] {
        assert_eq!(status([1.5, 0.6], name), Status::Ok, "{name}");
    }
}

#[test]
fn relevance_is_signal_over_noise_and_a_constant_statistic_has_none() {
    let Recorded::Statistics(two) = curved(150, 13) else { unreachable!() };
    let mut rng = stream(1, Purpose::Experiment, 9);
    // A failed simulation stays one: its NaN spreads.
    let rows: Vec<Vec<f64>> =
        two.outputs().iter().map(|x| vec![x[0], x[1], 7.0 + 0.0 * x[0], standard_normal(&mut rng) + 0.0 * x[0]]).collect();
    let wider = Points::from_rows(&rows).unwrap();
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(two.theta().clone(), wider).unwrap()));
    let y = Observation::Statistics(vec![1.5, 0.6, 7.0, 0.2]);
    let found = Fit::new(&Question::new(&prior(), &recorded, &y), &using(&LOCATION_SCALE), &mut |_| true).unwrap();
    let reports = found.statistics();
    // Signal over noise of the first: spread of θ₁ over 0.3.
    assert!((reports[0].relevance / (2.0 / 0.3) - 1.0).abs() < 0.3, "{}", reports[0].relevance);
    assert!((reports[0].epsilon / 0.3 - 1.0).abs() < 0.4, "{}", reports[0].epsilon);
    assert_eq!(reports[2].relevance, 0.0);
    assert!(reports[3].relevance < 0.4, "{}", reports[3].relevance);
}

#[test]
fn predictions_and_calibration_of_the_location_scale_model_are_those_of_the_simulator() {
    let recorded = curved(300, 17);
    let found = fit(&recorded, &using(&LOCATION_SCALE)).unwrap();
    let predictive = found.predicted().unwrap();
    let predicted = [predictive.statistic(0, 1.5), predictive.statistic(1, 0.6)];
    // New outputs at posterior parameters: noise and what the posterior leaves open, both about one noise.
    for (p, (y, noise)) in predicted.iter().zip([(1.5, 0.3), (0.6, 0.2)]) {
        assert!((p.quantiles[2] - y).abs() < 0.5 * noise, "{p:?}");
        let sd = (p.quantiles[3] - p.quantiles[1]) / 1.349;
        assert!(sd > 1.1 * noise && sd < 1.8 * noise, "{p:?}");
        assert!(p.tail() > 0.5, "{p:?}");
    }
    let calibration = found.calibration().unwrap();
    assert_eq!((calibration.shares.rows(), calibration.joint.len(), calibration.by_simulated), (200, 200, false));
    let check = calibration.check(prior().names());
    assert_eq!(check.status, Status::Ok, "{}", check.message());
}

#[test]
fn simulations_at_one_theta_are_refused_by_either_model_and_by_the_choice_between_them() {
    let Recorded::Statistics(some) = curved(30, 5) else { unreachable!("statistics were made") };
    let theta = some.theta().select(&[0; 30]);
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, some.outputs().clone()).unwrap()));
    for settings in [auto(), using(&KERNEL_MEANS), using(&LOCATION_SCALE)] {
        assert_eq!(fit(&recorded, &settings).unwrap_err(), Error::OneTheta { count: 30 });
    }
}

#[test]
fn a_simulation_given_twice_does_not_predict_itself() {
    let Recorded::Statistics(once) = curved(80, 5) else { unreachable!("statistics were made") };
    let twice = Arc::new(once.select(&(0..160).map(|i| i / 2).collect::<Vec<_>>()).unwrap());
    let [alone, both] = [once, twice].map(Recorded::Statistics);
    let score = |recorded: &Recorded, kind: &'static ModelFamily| fit(recorded, &using(kind)).unwrap().score().unwrap();
    for kind in [&KERNEL_MEANS, &LOCATION_SCALE] {
        let ((single, error), (double, _)) = (score(&alone, kind), score(&both, kind));
        // A twin left in would give nats more; what is learned from twice the weight moves scores a little.
        assert!(double < single + 2.0 * error, "{kind:?}: {double} from {single} ± {error}");
    }
    let tolerance = |recorded: &Recorded| fit(recorded, &using(&KERNEL_MEANS)).unwrap().statistics()[0].epsilon;
    let (one, two) = (tolerance(&alone), tolerance(&both));
    assert!(two > 0.5 * one, "{two} from {one}");
}

#[test]
fn a_damaged_location_scale_model_is_an_error_and_no_panic() {
    let made = fit(&curved(40, 7), &using(&LOCATION_SCALE)).unwrap();
    let value: serde_json::Value = serde_json::from_str(&SavedModel::new(made.model.as_ref()).to_json().unwrap()).unwrap();
    let build = |value: &serde_json::Value| SavedModel::from_json(&value.to_string()).and_then(|saved| saved.build(None).map(|_| ()));
    build(&value).unwrap();
    for (pointer, wrong) in [
        ("/statistics", serde_json::json!([])),
        ("/statistics/0/index", serde_json::json!(9)),
        ("/statistics/0/direction", serde_json::json!([1.0])),
        ("/statistics/0/first_mean/noise", serde_json::json!(-1.0)),
        ("/statistics/1/first_mean/length_scales", serde_json::json!([1.0])),
        ("/shape/tolerance", serde_json::json!(0.0)),
        ("/shape/tolerance", serde_json::json!(1.5)),
        ("/shape/growth", serde_json::json!(-0.1)),
        ("/success/curved", serde_json::json!(0.0)),
    ] {
        let mut damaged = value.clone();
        *damaged.pointer_mut(&format!("/hyperparameters{pointer}")).unwrap_or_else(|| panic!("{pointer}")) = wrong;
        assert!(build(&damaged).is_err(), "{pointer}");
    }
}
