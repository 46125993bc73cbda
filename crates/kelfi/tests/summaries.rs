//! Learned summaries as a model: it answers, is saved and loaded, goes to other observations, speaks of the user's statistics, and sees an
//! observation that no parameters can have made.

use kelfi::checks::Status;
use kelfi::model::saved::SavedModel;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::rounds::{HowMany, Next};
use kelfi::samples::independent;
use kelfi::{
    Error, Fit, FitOptions, LOCATION_SCALE, Marginal, ModelChoice, Observation, Points, Prior, Question, Recorded, Rounds, RoundsSettings,
    SUMMARIES, Simulations, SummariesLikelihood,
};
use std::sync::Arc;

fn prior() -> Prior {
    let marginal = |std: f64| Marginal::Normal { mean: 0.0, std };
    Prior::independent(vec![("mean".into(), marginal(2.0)), ("log_sd".into(), marginal(0.7))]).unwrap()
}

/// Five quantiles of 29 normal draws: they depend on one another.
fn quantiles(theta: &[f64], seed: u64, index: u64) -> Vec<f64> {
    let mut rng = stream(seed, Purpose::Simulator, index);
    let mut draws: Vec<f64> = (0..29).map(|_| theta[0] + theta[1].exp() * standard_normal(&mut rng)).collect();
    draws.sort_by(f64::total_cmp);
    (1..=5).map(|k| draws[5 * k - 1]).collect()
}

fn recorded(theta: &Points, first: u64) -> Recorded {
    let x: Vec<Vec<f64>> = theta.iter().zip(first..).map(|(theta, index)| quantiles(theta, 1, index)).collect();
    Recorded::Statistics(Arc::new(Simulations::new(theta.clone(), Points::from_rows(&x).unwrap()).unwrap()))
}

fn question(count: usize, y: &[f64]) -> Question {
    Question::new(&prior(), &recorded(&prior().draw(count, 3), 0), &Observation::Statistics(y.to_vec()))
}

fn observed() -> Vec<f64> {
    quantiles(&[1.0, 0.3], 2, 0)
}

fn fitted(question: &Question) -> Fit {
    Fit::new(question, &FitOptions::of(ModelChoice::Use(&SUMMARIES), 1), &mut |_| true).unwrap()
}

fn worst(fit: &Fit, name: &str) -> Status {
    fit.checks().into_iter().filter(|check| check.name == name).map(|check| check.status).max().unwrap()
}

#[test]
fn it_finds_the_parameters_is_saved_and_loaded_and_speaks_of_the_statistics() {
    let fit = fitted(&question(200, &observed()));
    // Mean and log standard deviation of 29 draws are known to 1.35/√29 and 1/√58.
    let mean = fit.posterior.mean();
    assert!((mean[0] - 1.0).abs() < 0.8 && (mean[1] - 0.3).abs() < 0.5, "{mean:?}");
    assert!(fit.posterior.std(0).unwrap() < 0.6 && fit.posterior.std(1).unwrap() < 0.4);
    let model = fit.model_as::<SummariesLikelihood>().unwrap();
    assert_eq!((model.summaries().count(), fit.statistics().len()), (2, 5));
    assert!(model.summaries().explained().iter().all(|explained| *explained > 0.7), "{:?}", model.summaries().explained());
    assert_eq!(fit.predicted_statistics().unwrap().of_each.len(), 5);
    assert_eq!((worst(&fit, "support"), worst(&fit, "predictive")), (Status::Ok, Status::Ok));
    let text = SavedModel::new(fit.model.as_ref()).to_json().unwrap();
    let again = Fit::load(&SavedModel::from_json(&text).unwrap(), Some(&fit.record()), 1, &mut || true).unwrap();
    let samples = |fit: &Fit| independent(&fit.posterior, 50, 1).unwrap().samples;
    assert_eq!(samples(&again), samples(&fit));
    assert_eq!(again.statistics(), fit.statistics());
    let there = Observation::Statistics(quantiles(&[-2.0, -0.5], 2, 1));
    let elsewhere = fit.condition(&there, 1).unwrap();
    assert!(elsewhere.posterior.mean()[0] < mean[0] - 1.0, "{:?}", elsewhere.posterior.mean());
}

#[test]
fn an_observation_that_no_parameters_make_is_seen_though_its_summaries_are_ordinary() {
    // Each quantile is where simulated ones are, but they do not rise.
    let mut y = observed();
    y.swap(1, 3);
    assert!(worst(&fitted(&question(200, &y)), "support") > Status::Ok);
}

#[test]
fn auto_leaves_it_to_those_who_ask_for_it() {
    let fit = Fit::new(&question(120, &observed()), &FitOptions::of(ModelChoice::Auto, 1), &mut |_| true).unwrap();
    let comparison = fit.comparison.unwrap();
    assert!(comparison.score("summaries").is_none() && comparison.score("location-scale").is_some());
}

#[test]
fn statistics_that_say_nothing_have_no_summaries_and_repeated_parameters_are_refused() {
    let mut rng = stream(9, Purpose::Experiment, 0);
    let theta = prior().draw(150, 5);
    let noise = Points::new((0..6 * 150).map(|_| standard_normal(&mut rng)).collect(), 150, 6).unwrap();
    let y = Observation::Statistics(vec![0.1; 6]);
    let learn = |theta: &Points, x: &Points| {
        let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta.clone(), x.clone()).unwrap()));
        let question = Question::new(&prior(), &recorded, &y);
        Fit::new(&question, &FitOptions::of(ModelChoice::Use(&SUMMARIES), 1), &mut |_| true).map(|_| ())
    };
    assert!(matches!(learn(&theta, &noise), Err(Error::Unavailable { .. })));
    let twice = theta.select(&(0..150).map(|j| j / 2).collect::<Vec<_>>());
    let message = learn(&twice, &noise).unwrap_err().to_string();
    assert!(message.contains("same parameters"), "{message}");
}

#[test]
fn rounds_are_made_with_it() {
    let fit = FitOptions::of(ModelChoice::Use(&SUMMARIES), 1);
    let settings = RoundsSettings { budget: 180, rounds: HowMany::Exactly(2), fit };
    let mut rounds = Rounds::new(&prior(), &Observation::Statistics(observed()), &settings).unwrap();
    while let Next::Simulate(batch) = rounds.ask(&mut |_| true).unwrap() {
        rounds.tell(&recorded(&batch.theta, batch.first as u64)).unwrap();
    }
    let fit = rounds.answer(&mut |_| true).unwrap();
    assert_eq!((fit.model.family(), fit.history().unwrap().rounds.len()), (&SUMMARIES, 2));
    assert!((fit.posterior.mean()[0] - 1.0).abs() < 0.8, "{:?}", fit.posterior.mean());
    assert_ne!(fit.model.family(), &LOCATION_SCALE);
    let text = SavedModel::new(fit.model.as_ref()).to_json().unwrap();
    let again = Fit::load(&SavedModel::from_json(&text).unwrap(), Some(&fit.record()), 1, &mut || true).unwrap();
    assert_eq!(again.posterior.mean(), fit.posterior.mean());
}
