//! Rounds against exact posteriors, and what they ask under other orders, threads and restarts.

use kelfi::checks::Status;
use kelfi::model::saved::SavedModel;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::rounds::{Batch, HowMany, Next, Rounds, RoundsSettings, Stopped};
use kelfi::{
    Fit, FitOptions, KERNEL_MEANS, LOCATION_SCALE, LocationScaleLikelihood, Marginal, ModelChoice, Observation, Points, Prior, Question,
    Recorded, Simulations,
};
use std::sync::Arc;

const NOISE: f64 = 0.03;

fn normal_prior() -> Prior {
    Prior::independent(vec![("frequency".into(), Marginal::Normal { mean: 0.0, std: 1.0 })]).unwrap()
}

/// A wave seen at eight times that no other frequency fits; θ is ln of half of it.
fn wave(theta: &[f64]) -> Vec<f64> {
    (1..=8).map(|k| (2.0 * theta[0].exp() * f64::from(k).sqrt()).sin()).collect()
}

fn square(theta: &[f64]) -> Vec<f64> {
    vec![theta[0] * theta[0]]
}

/// One simulation a row, its noise a function of the seed and its number.
fn simulated(batch: &Batch, simulate: fn(&[f64]) -> Vec<f64>, noise: f64, seed: u64) -> Recorded {
    let one = |k: usize| {
        let mut rng = stream(seed, Purpose::Simulator, (batch.first + k) as u64);
        simulate(batch.theta.row(k)).into_iter().map(|x| x + noise * standard_normal(&mut rng)).collect::<Vec<f64>>()
    };
    let x = Points::from_rows(&(0..batch.theta.rows()).map(one).collect::<Vec<_>>()).unwrap();
    Recorded::Statistics(Arc::new(Simulations::new(batch.theta.clone(), x).unwrap()))
}

fn settings(budget: usize, rounds: HowMany, seed: u64) -> RoundsSettings {
    RoundsSettings { budget, rounds, fit: FitOptions::of(ModelChoice::Use(&LOCATION_SCALE), seed) }
}

fn finished(mut rounds: Rounds, simulate: fn(&[f64]) -> Vec<f64>, noise: f64, seed: u64) -> Rounds {
    while let Next::Simulate(batch) = rounds.ask(&mut |_| true).unwrap() {
        rounds.tell(&simulated(&batch, simulate, noise, seed)).unwrap();
    }
    rounds
}

fn wave_rounds(budget: usize, how_many: HowMany, seed: u64) -> Rounds {
    let observation = Observation::Statistics(wave(&[0.3]));
    Rounds::new(&normal_prior(), &observation, &settings(budget, how_many, seed)).unwrap()
}

/// Mean and standard deviation of the exact posterior of the wave at θ = 0.3, seen without noise.
fn exact_wave() -> (f64, f64) {
    let y = wave(&[0.3]);
    let grid: Vec<f64> = (0..200_001).map(|k| -5.0 + 5e-5 * f64::from(k)).collect();
    let ln = |t: f64| -0.5 * t * t - wave(&[t]).iter().zip(&y).map(|(x, y)| 0.5 * ((x - y) / NOISE).powi(2)).sum::<f64>();
    let weights: Vec<f64> = grid.iter().map(|&t| ln(t).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mean = grid.iter().zip(&weights).map(|(t, w)| t * w / total).sum::<f64>();
    (mean, grid.iter().zip(&weights).map(|(t, w)| (t - mean).powi(2) * w / total).sum::<f64>().sqrt())
}

/// How far mean and width are off, in exact standard deviations.
fn wave_error(fit: &Fit) -> f64 {
    let (mean, std) = exact_wave();
    (fit.posterior.mean()[0] - mean).abs() / std + (fit.posterior.std(0).unwrap() / std).ln().abs()
}

#[test]
fn one_round_asks_for_draws_of_the_prior_and_answers_as_a_fit_does() {
    let mut rounds = wave_rounds(100, HowMany::Exactly(1), 7);
    let Next::Simulate(batch) = rounds.ask(&mut |_| true).unwrap() else { panic!("a round") };
    assert_eq!(batch.theta, normal_prior().draw(100, 7));
    let recorded = simulated(&batch, wave, NOISE, 7);
    rounds.tell(&recorded).unwrap();
    assert_eq!(rounds.ask(&mut |_| true).unwrap(), Next::Finished(Stopped::BudgetSpent));
    let fit = rounds.answer(&mut |_| true).unwrap();
    let alone = Fit::new(
        &Question::new(&normal_prior(), &recorded, &Observation::Statistics(wave(&[0.3]))),
        &FitOptions::of(ModelChoice::Use(&LOCATION_SCALE), 7),
        &mut |_| true,
    )
    .unwrap();
    assert_eq!(fit.posterior.mean()[0].to_bits(), alone.posterior.mean()[0].to_bits());
    assert_eq!(fit.posterior.log_evidence().to_bits(), alone.posterior.log_evidence().to_bits());
    assert!(fit.history().is_none());
}

#[test]
fn rounds_find_a_narrow_posterior_that_one_round_of_as_many_simulations_does_not() {
    let errors = |how_many: HowMany| -> Vec<f64> {
        (1..6)
            .map(|seed| {
                let mut rounds = finished(wave_rounds(70, how_many, seed), wave, NOISE, seed);
                wave_error(&rounds.answer(&mut |_| true).unwrap())
            })
            .collect()
    };
    let (one, several) = (errors(HowMany::Exactly(1)), errors(HowMany::Exactly(4)));
    println!("one round {one:?}, four rounds {several:?}");
    assert!(several.iter().all(|error| *error < 0.5), "{several:?}");
    assert!(several.iter().sum::<f64>() < 0.75 * one.iter().sum::<f64>(), "{one:?} {several:?}");
}

#[test]
fn the_first_round_may_be_elsewhere() {
    let curve = |theta: &[f64]| vec![theta[0] + 0.3 * (2.0 * theta[0]).sin(), theta[0].powi(3) / 4.0];
    let observation = Observation::Statistics(curve(&[1.5]));
    let mut rounds = Rounds::new(&normal_prior(), &observation, &settings(250, HowMany::Exactly(5), 3)).unwrap();
    let elsewhere = normal_prior().draw(80, 3).map_rows(1, |t| vec![-1.0 + 0.3 * t[0]]);
    let first = Batch { round: 0, first: 0, wide: vec![true; 80], theta: elsewhere };
    rounds.begin_with(&simulated(&first, curve, 0.1, 3)).unwrap();
    let fit = finished(rounds, curve, 0.1, 3).answer(&mut |_| true).unwrap();
    let history = fit.history().unwrap();
    println!("{:?}", history.rounds.iter().map(|r| (r.place.means[0], r.place.deviations[0])).collect::<Vec<_>>());
    // Slopes of 0.41 and 1.69 at 1.5, noise of 0.1 each: a standard deviation of 0.058.
    assert!((fit.posterior.mean()[0] - 1.5).abs() < 0.06, "{:?}", fit.posterior.mean());
    assert!((fit.posterior.std(0).unwrap() / 0.058 - 1.0).abs() < 0.3, "{:?}", fit.posterior.std(0));
}

#[test]
fn both_modes_are_kept_with_their_weights() {
    let prior = Prior::independent(vec![("a".into(), Marginal::Uniform { low: -2.0, high: 2.0 })]).unwrap();
    for seed in 1..6 {
        let rounds = Rounds::new(&prior, &Observation::Statistics(vec![1.0]), &settings(200, HowMany::Auto, seed)).unwrap();
        let fit = finished(rounds, square, 0.1, seed).answer(&mut |_| true).unwrap();
        let left = fit.posterior.cdf(0, &[0.0]).unwrap()[0];
        let modes = fit.posterior.modes().unwrap();
        assert!((left - 0.5).abs() < 0.1 && modes.len() == 2, "seed {seed}: {left} {modes:?}");
        // θ² = 1 ± 0.1: 0.05 on either side.
        assert!(modes.iter().all(|mode| (mode.centre[0].abs() - 1.0).abs() < 0.03), "seed {seed}: {modes:?}");
    }
}

#[test]
fn what_is_asked_and_answered_depends_neither_on_threads_nor_on_the_order_of_results() {
    let run = |threads: usize, backwards: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut rounds = wave_rounds(120, HowMany::Exactly(3), 5);
            let mut asked = vec![];
            while let Next::Simulate(batch) = rounds.ask(&mut |_| true).unwrap() {
                asked.extend(batch.theta.values().iter().map(|v| v.to_bits()));
                let recorded = simulated(&batch, wave, NOISE, 5);
                let count = batch.theta.rows();
                let order: Vec<usize> = if backwards { (0..count).rev().collect() } else { (0..count).collect() };
                rounds.tell(&recorded.select(&order).unwrap()).unwrap();
            }
            let fit = rounds.answer(&mut |_| true).unwrap();
            asked.push(fit.posterior.mean()[0].to_bits());
            asked
        })
    };
    let alone = run(1, false);
    assert_eq!(alone.len(), 121);
    assert_eq!(run(2, true), alone);
}

#[test]
fn a_run_that_was_cut_short_asks_the_same_again_with_its_history_or_without() {
    let mut whole = wave_rounds(120, HowMany::Exactly(4), 6);
    let mut told = vec![];
    for _ in 0..2 {
        let Next::Simulate(batch) = whole.ask(&mut |_| true).unwrap() else { panic!("a round") };
        told.push((batch.clone(), simulated(&batch, wave, NOISE, 6)));
        whole.tell(&told[told.len() - 1].1).unwrap();
    }
    let third = whole.ask(&mut |_| true).unwrap();
    let again = |history: Option<String>| {
        let mut rounds = wave_rounds(120, HowMany::Exactly(4), 6);
        told.iter().for_each(|(batch, recorded)| rounds.resume(batch.clone(), recorded).unwrap());
        history.iter().for_each(|text| rounds.remember(serde_json::from_str(text).unwrap()).unwrap());
        rounds.ask(&mut |_| true).unwrap()
    };
    assert_eq!(again(None), third);
    assert_eq!(again(Some(serde_json::to_string(whole.history()).unwrap())), third);
}

#[test]
fn rounds_stop_once_the_posterior_no_longer_moves() {
    let line = |theta: &[f64]| vec![theta[0]];
    let rounds = Rounds::new(&normal_prior(), &Observation::Statistics(vec![0.5]), &settings(3_000, HowMany::Auto, 2)).unwrap();
    let rounds = finished(rounds, line, 0.5, 2);
    println!("{:?}", rounds.history().rounds.iter().map(|r| (r.simulations, r.movement)).collect::<Vec<_>>());
    assert_eq!(rounds.history().stopped, Some(Stopped::Settled));
    assert!(rounds.simulations() < 3_000, "{}", rounds.simulations());
}

#[test]
fn parameters_that_were_not_asked_for_are_refused_and_those_left_behind_are_missing() {
    let mut rounds = wave_rounds(100, HowMany::Exactly(2), 1);
    let nothing_asked = Batch { round: 0, first: 0, theta: Points::from_column(vec![0.1]), wide: vec![true] };
    let stray = simulated(&nothing_asked, wave, NOISE, 1);
    assert!(rounds.tell(&stray).unwrap_err().to_string().contains("`ask` first"));
    let Next::Simulate(batch) = rounds.ask(&mut |_| true).unwrap() else { panic!("a round") };
    assert!(rounds.tell(&stray).unwrap_err().to_string().contains("not among those of round 0"));
    let kept: Vec<usize> = (0..batch.theta.rows()).filter(|k| k % 7 != 0).collect();
    rounds.tell(&simulated(&batch, wave, NOISE, 1).select(&kept).unwrap()).unwrap();
    assert_eq!(rounds.simulations(), kept.len());
    assert!(matches!(rounds.ask(&mut |_| true).unwrap(), Next::Simulate(batch) if batch.first == kept.len()));
}

#[test]
fn a_local_model_is_saved_and_built_again_and_its_checks_know_where_simulations_came_from() {
    let fit = finished(wave_rounds(200, HowMany::Exactly(4), 2), wave, NOISE, 2).answer(&mut |_| true).unwrap();
    let (model, left_out) = (fit.model_as::<LocationScaleLikelihood>().unwrap(), &fit.left_out().unwrap().shares);
    let used = model.used();
    assert!(used.len() < 200 && left_out.indices.iter().all(|i| used.contains(i)), "{} {:?}", used.len(), left_out.indices);
    assert!(left_out.by_simulated);
    let checks = fit.checks();
    let of = |name: &str| checks.iter().find(|check| check.name == name);
    assert!(of("prior_draws").is_none());
    for name in ["region", "missed_mode", "rounds", "calibration", "effective_simulations"] {
        let check = of(name).unwrap_or_else(|| panic!("no check {name}"));
        assert!(check.status < Status::Fail, "{name}: {}", check.message());
    }
    let text = SavedModel::new(fit.model.as_ref()).to_json().unwrap();
    let built = SavedModel::from_json(&text).unwrap().build(None).unwrap();
    let z = Points::from_column(vec![0.29, 0.3, 0.31, 2.0]);
    let surrogate = &fit.model;
    assert_eq!(built.ln_relative_values(&z), surrogate.ln_relative_values(&z));
    assert_eq!(surrogate.ln_relative_values(&z)[3], f64::NEG_INFINITY);
}

#[test]
fn each_mode_has_a_model_of_its_own_that_is_saved_and_built_again() {
    let prior = Prior::independent(vec![("a".into(), Marginal::Uniform { low: -2.0, high: 2.0 })]).unwrap();
    let observation = Observation::Statistics(vec![1.0]);
    let rounds = Rounds::new(&prior, &observation, &settings(240, HowMany::Exactly(3), 4)).unwrap();
    let fit = finished(rounds, square, 0.05, 4).answer(&mut |_| true).unwrap();
    let model = fit.model_as::<LocationScaleLikelihood>().unwrap();
    let hyperparameters = model.hyperparameters();
    assert_eq!((hyperparameters.elsewhere.len(), hyperparameters.frame.as_ref().unwrap().others.len()), (1, 1));
    let text = SavedModel::new(fit.model.as_ref()).to_json().unwrap();
    let built = SavedModel::from_json(&text).unwrap().build(None).unwrap();
    let theta = Points::from_column(vec![-1.3, -1.02, -0.98, 0.0, 0.97, 1.0, 1.05, 1.9]);
    let z = prior.to_latent_points(&theta).unwrap();
    let values = fit.posterior.surrogate().ln_relative_values(&z);
    assert_eq!(built.ln_relative_values(&z), values);
    // ln N(1 | θ², 0.05²) at -0.98 and 1.0 differ by 0.31, and nothing is left at 0.
    assert!((values[2] - values[5] + 0.31).abs() < 0.25 && values[3] - values[5] < -50.0, "{values:?}");
    let half: Vec<usize> = (0..240).step_by(2).collect();
    let part = fit.model.of_part(&half).unwrap().ln_relative_values(&z);
    assert!((part[2] - part[5]).abs() < 1.0, "{part:?}");
    let recorded: Vec<f64> = fit.model.question().recorded.theta().iter().map(|theta| theta[0] * theta[0]).collect();
    assert!((fit.posterior.predictive(&recorded).unwrap() - 1.0).abs() < 0.03);
    assert!(fit.checks().iter().all(|check| check.status < Status::Fail));
}

#[test]
fn rounds_of_the_kernel_means_model_simulate_where_it_is_large_or_unsure() {
    let fit = FitOptions::of(ModelChoice::Use(&KERNEL_MEANS), 3);
    let mut distances = vec![];
    for how_many in [HowMany::Exactly(1), HowMany::Exactly(3)] {
        let settings = RoundsSettings { budget: 90, rounds: how_many, fit: fit.clone() };
        let rounds = Rounds::new(&normal_prior(), &Observation::Statistics(vec![1.2]), &settings).unwrap();
        let mut rounds = finished(rounds, |theta| vec![theta[0]], 0.2, 3);
        let near = rounds.recorded().unwrap().theta().iter().filter(|theta| (theta[0] - 1.15).abs() < 0.6).count();
        let answer = rounds.answer(&mut |_| true).unwrap();
        // θ ~ N(0, 1), x = θ + N(0, 0.2²): the posterior is N(1.154, 0.196²).
        distances.push((near, (answer.posterior.mean()[0] - 1.154).abs() / 0.196));
        assert_eq!(answer.history().map_or(1, |history| history.rounds.len()), if how_many == HowMany::Exactly(1) { 1 } else { 3 });
    }
    println!("simulations near the posterior and error of its mean: {distances:?}");
    assert!(distances[1].0 > distances[0].0 + 10 && distances[1].1 < 0.5, "{distances:?}");
}

#[test]
fn another_observation_than_the_one_simulated_for_is_told() {
    let fit = finished(wave_rounds(200, HowMany::Exactly(4), 2), wave, NOISE, 2).answer(&mut |_| true).unwrap();
    let worst = |theta: f64| {
        let posterior = fit.condition(&Observation::Statistics(wave(&[theta])), 2);
        posterior.map_or(Status::Fail, |posterior| posterior.checks().iter().map(|check| check.status).max().unwrap())
    };
    assert!(worst(0.302) < Status::Fail && worst(1.0) == Status::Fail, "{:?} {:?}", worst(0.302), worst(1.0));
}

#[test]
fn simulating_where_a_wide_posterior_is_is_no_fault() {
    let observation = Observation::Statistics(vec![0.4]);
    for seed in 1..=3 {
        let rounds = Rounds::new(&normal_prior(), &observation, &settings(150, HowMany::Exactly(4), seed)).unwrap();
        let fit = finished(rounds, |theta| vec![theta[0]], 0.7, seed).answer(&mut |_| true).unwrap();
        let checks = fit.checks();
        let check = checks.iter().find(|check| check.name == "prior_draws");
        assert!(check.is_none_or(|check| check.status == Status::Ok), "{:?}", check.map(|check| check.message()));
    }
}

/// Nothing is counted where θ is large, and the count is measured with an error elsewhere; the other statistic is θ with noise.
fn counted(theta: &[f64]) -> Vec<f64> {
    vec![(1.8 - theta[0]).max(0.0), theta[0]]
}

#[test]
fn rounds_go_on_while_too_few_simulations_are_like_the_observation_and_are_right_or_warn() {
    let mut without_model = 0;
    for seed in 1..=10 {
        let noise = 0.1;
        let mut rounds =
            Rounds::new(&normal_prior(), &Observation::Statistics(vec![0.0, 2.0]), &settings(300, HowMany::Auto, seed)).unwrap();
        let simulate = |batch: &Batch| {
            let Recorded::Statistics(noisy) = simulated(batch, counted, noise, seed) else { unreachable!() };
            let rows: Vec<Vec<f64>> = noisy
                .outputs()
                .iter()
                .zip(batch.theta.iter())
                .map(|(x, theta)| vec![if counted(theta)[0] == 0.0 { 0.0 } else { x[0] }, x[1]])
                .collect();
            let x = Points::from_rows(&rows).unwrap();
            Ok(Recorded::Statistics(Arc::new(Simulations::new(batch.theta.clone(), x).unwrap())))
        };
        let fit = rounds.run(simulate, &mut |_| true).unwrap();
        // N(0, 1) times N(2 | θ, 0.1²), beyond 1.8: all but 4 % of it lies there.
        if fit.history().unwrap().rounds[0].used > 0 {
            continue;
        }
        without_model += 1;
        let (mean, std) = (fit.posterior.mean()[0], fit.posterior.std(0).unwrap());
        // Elsewhere the model only knows that none of the simulations had a count of zero, and some of these posteriors are too wide.
        let right = (mean - 1.988).abs() < 0.05 && (0.075..0.115).contains(&std);
        let warned = fit.checks().iter().any(|check| check.status != Status::Ok);
        assert!((mean - 1.988).abs() < 0.2 && (right || warned), "seed {seed}: {mean} ± {std}, and no check warns");
    }
    assert!(without_model >= 3, "only {without_model} of 10 first rounds had too few simulations like the observation");
}
