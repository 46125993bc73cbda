//! Checks that tell the truth: silent where the answer is right, loud and by name where the observation or the model is not.

use kelfi::checks::{Check, Status};
use kelfi::diagnostics::{Halves, Steadiness};
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{
    Fit, FitOptions, KERNEL_MEANS, LOCATION_SCALE, LocationScaleLikelihood, Marginal, ModelChoice, Observation, Points, Prior, Question,
    Recorded, Simulations,
};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

fn normal_prior(dimension: usize) -> Prior {
    let one = |d: usize| (format!("t{d}"), Marginal::Normal { mean: 0.0, std: 1.0 });
    Prior::independent((0..dimension).map(one).collect()).unwrap()
}

/// Simulations and one more output, made by a draw of the prior, as observation.
fn simulated(prior: &Prior, count: usize, seed: u64, simulator: impl Fn(&[f64], &mut ChaCha8Rng) -> Vec<f64>) -> (Recorded, Vec<f64>) {
    let theta = prior.draw(count + 1, seed);
    let outputs: Vec<Vec<f64>> =
        theta.iter().enumerate().map(|(i, theta)| simulator(theta, &mut stream(seed, Purpose::Experiment, i as u64))).collect();
    let all: Vec<usize> = (0..count).collect();
    let x = Points::from_rows(&outputs[..count]).unwrap();
    (Recorded::Statistics(Arc::new(Simulations::new(theta.select(&all), x).unwrap())), outputs[count].clone())
}

fn fitted(recorded: &Recorded, y: &[f64], prior: &Prior, model: ModelChoice) -> Fit {
    Fit::new(&Question::new(prior, recorded, &Observation::Statistics(y.to_vec())), &FitOptions::of(model, 1), &mut |_| true).unwrap()
}

const OURS: ModelChoice = ModelChoice::Use(&LOCATION_SCALE);
const PAPERS: ModelChoice = ModelChoice::Use(&KERNEL_MEANS);

fn check(fit: &Fit, name: &str) -> Check {
    fit.checks().into_iter().find(|check| check.name == name).unwrap_or_else(|| panic!("no check {name}"))
}

#[test]
fn right_answers_are_supported_where_noise_is_small_or_parameters_are_many() {
    // No simulated θ is near such a posterior: 0.02⁴ of the prior's volume.
    let prior = normal_prior(4);
    for seed in 0..3 {
        let sums = |theta: &[f64], rng: &mut ChaCha8Rng| -> Vec<f64> {
            (0..6).map(|k| theta[k % 4] + 0.5 * theta[(k + 1) % 4] + 0.02 * standard_normal(rng)).collect()
        };
        let (recorded, y) = simulated(&prior, 200, seed, sums);
        let fit = fitted(&recorded, &y, &prior, OURS);
        assert_eq!(check(&fit, "support").status, Status::Ok, "{}", check(&fit, "support").message());
        assert_eq!(check(&fit, "range").status, Status::Ok, "{}", check(&fit, "range").message());
        // One of six sums that contradicts the others is not.
        let contradicting: Vec<f64> = y.iter().enumerate().map(|(k, y)| if k == 5 { y + 1.0 } else { *y }).collect();
        let fit = fitted(&recorded, &contradicting, &prior, OURS);
        assert_eq!(check(&fit, "support").status, Status::Fail, "{}", check(&fit, "support").message());
    }
}

#[test]
fn a_slip_of_units_fails_by_name_with_both_ranges_in_either_model() {
    let prior = normal_prior(1);
    let simulator = |theta: &[f64], rng: &mut ChaCha8Rng| vec![5.0 + theta[0] + 0.3 * standard_normal(rng), standard_normal(rng)];
    let (recorded, y) = simulated(&prior, 150, 3, simulator);
    let names = vec!["mean".to_string(), "noise".to_string()];
    for model in [PAPERS, OURS] {
        let right = fitted(&recorded, &y, &prior, model).named(names.clone());
        assert_eq!(check(&right, "range").status, Status::Ok);
        for slipped in [1000.0 * y[0], 0.001 * y[0]] {
            let observation = Observation::Statistics(vec![slipped, y[1]]);
            // An error that says so would do as well.
            let Ok(fit) = Fit::new(&Question::new(&prior, &recorded, &observation), &FitOptions::of(model, 1), &mut |_| true) else {
                continue;
            };
            let found = check(&fit.named(names.clone()), "range");
            assert_eq!(found.status, Status::Fail, "{}", found.message());
            assert!(found.message().starts_with("`mean` was observed as") && found.message().contains("between"), "{}", found.message());
        }
    }
}

#[test]
fn an_observation_four_standard_deviations_out_is_warned_about_and_not_refused() {
    let prior = normal_prior(1);
    let simulator = |theta: &[f64], rng: &mut ChaCha8Rng| vec![theta[0] + standard_normal(rng)];
    for (count, seed) in [(100, 1), (300, 2), (1000, 3)] {
        let (recorded, _) = simulated(&prior, count, seed, simulator);
        let fit = fitted(&recorded, &[4.3 * 2_f64.sqrt()], &prior, OURS);
        let worst = [check(&fit, "range").status, check(&fit, "support").status].into_iter().max().unwrap();
        assert_ne!(worst, Status::Fail, "{count}");
        // A hundred simulations cannot tell 4.3 standard deviations from a somewhat longer tail.
        let told = worst == Status::Warn || count == 100;
        assert!(told, "{count}: {} {}", check(&fit, "range").message(), check(&fit, "support").message());
        // The answer N(y/2, 1/2) is right all the same where there are simulations enough to know the slope.
        let off = (fit.posterior.mean()[0] - 0.5 * 4.3 * 2_f64.sqrt()) * 2_f64.sqrt();
        assert!(count == 100 || off.abs() < 0.6 && (0.7..1.4).contains(&(fit.posterior.std(0).unwrap() * 2_f64.sqrt())), "{count}: {off}");
    }
}

#[test]
fn a_statistic_that_never_varies_or_repeats_another_is_compared_with_the_observation() {
    let prior = normal_prior(1);
    let simulator = |theta: &[f64], rng: &mut ChaCha8Rng| {
        let x = theta[0] + 0.5 * standard_normal(rng);
        vec![x, 20.0, 3.0 - 2.0 * x]
    };
    let (recorded, _) = simulated(&prior, 100, 5, simulator);
    let names: Vec<String> = ["x", "days", "twice"].map(String::from).to_vec();
    for model in [PAPERS, OURS] {
        let found = |y: [f64; 3]| check(&fitted(&recorded, &y, &prior, model).named(names.clone()), "range");
        assert_eq!(found([0.25, 20.0, 2.5]).status, Status::Ok);
        // Typed with four digits.
        assert_eq!(found([0.3333, 20.0, 2.333]).status, Status::Ok);
        let constant = found([0.25, 21.0, 2.5]);
        assert_eq!(constant.status, Status::Fail);
        assert!(constant.message().starts_with("`days` was observed as 21; it is 20 in every simulation"), "{}", constant.message());
        let broken = found([0.25, 20.0, 2.0]);
        assert_eq!(broken.status, Status::Fail);
        assert!(broken.message().starts_with("`twice` was observed as 2; in every simulation it follows from `x`"), "{}", broken.message());
    }
}

#[test]
fn statistics_that_are_never_simulated_together_are_told_though_each_is_in_range() {
    let prior = normal_prior(1);
    // A ring: each coordinate is common near 0, both together are not.
    let ring = |theta: &[f64], rng: &mut ChaCha8Rng| {
        let angle = 3.0 * theta[0];
        vec![angle.cos() + 0.02 * standard_normal(rng), angle.sin() + 0.02 * standard_normal(rng)]
    };
    let (recorded, y) = simulated(&prior, 400, 6, ring);
    let found = |y: &[f64]| check(&fitted(&recorded, y, &prior, PAPERS), "range");
    assert_eq!(found(&y).status, Status::Ok);
    assert_ne!(found(&[0.0, 0.0]).status, Status::Ok, "{}", found(&[0.0, 0.0]).message());
}

#[test]
fn every_check_is_in_the_one_list_of_either_model() {
    let prior = normal_prior(1);
    let (recorded, y) = simulated(&prior, 120, 2, |theta, rng| vec![theta[0] + 0.3 * standard_normal(rng)]);
    for model in [PAPERS, OURS] {
        let fit = fitted(&recorded, &y, &prior, model);
        let all = fit.checks();
        for name in ["negative_mass", "support", "effective_simulations", "failed_simulations", "hyperparameter_at_bound", "range"] {
            assert_eq!(all.iter().filter(|check| check.name == name).count(), 1, "{name}");
        }
        for name in ["calibration", "predictive"] {
            assert_eq!(all.iter().filter(|check| check.name == name).count(), 1, "{name}");
        }
        assert_eq!(all, fit.checks());
        assert_eq!(all, fit.clone().checks());
        let calibration = fit.calibration().unwrap();
        assert_eq!(check(&fit, "calibration"), calibration.check(prior.names()));
    }
}

/// Real movement of the posterior mean when 3 m more simulations are added, root mean square over repeats, beside the mean prediction.
fn movement(prior: &Prior, count: usize, simulator: &dyn Fn(&[f64], &mut ChaCha8Rng) -> Vec<f64>, y: &[f64]) -> (f64, f64) {
    let (mut real, mut said) = (0.0, 0.0);
    let repeats = 4;
    for seed in 0..repeats {
        let (all, _) = simulated(prior, 4 * count, 100 + seed, simulator);
        let few = fitted(&all.select(&(0..count).collect::<Vec<_>>()).unwrap(), y, prior, OURS);
        let many = fitted(&all, y, prior, OURS);
        let dimension = prior.dimension() as f64;
        let shift = |d: usize| ((few.posterior.mean()[d] - many.posterior.mean()[d]) / few.posterior.std(d).unwrap()).powi(2);
        real += (0..prior.dimension()).map(shift).sum::<f64>() / dimension / repeats as f64;
        said += few.steadiness().unwrap().movement.powi(2) / repeats as f64;
    }
    (real.sqrt(), said.sqrt())
}

#[test]
fn how_far_four_times_as_many_simulations_move_the_answer_is_foretold() {
    // Straight: steady at once. A narrow posterior in a curved model with few simulations: not.
    let prior = normal_prior(2);
    let straight = |theta: &[f64], rng: &mut ChaCha8Rng| vec![theta[0] + standard_normal(rng), theta[1] + standard_normal(rng)];
    let (real, said) = movement(&prior, 150, &straight, &[0.5, -0.5]);
    println!("straight: {real:.3} moved, {said:.3} said");
    assert!(said < 0.25 && said < 3.0 * real + 0.05 && said > real / 3.0, "{real} {said}");
    let curved = |theta: &[f64], rng: &mut ChaCha8Rng| {
        let (a, b) = (theta[0].sinh() + 0.3 * theta[1], theta[1] + 0.5 * (2.0 * theta[0]).sin());
        vec![a + 0.02 * standard_normal(rng), b + 0.02 * standard_normal(rng)]
    };
    let (real, said) = movement(&prior, 60, &curved, &[0.4, 0.5]);
    println!("curved: {real:.3} moved, {said:.3} said");
    assert!(said > 0.3 * real && said < 3.0 * real, "{real} {said}");
}

#[test]
fn halves_that_learn_for_themselves_move_farther_than_those_that_are_told() {
    // Steep curves: how they bend is itself learned from the simulations, and halves that are told it agree too well.
    let prior = normal_prior(2);
    let simulator = |theta: &[f64], rng: &mut ChaCha8Rng| -> Vec<f64> {
        let response = |dose: f64| 1.0 / (1.0 + (-3.0 * theta[1].exp() * (dose - theta[0])).exp());
        [-1.0, -0.3, 0.3, 1.0].map(|dose| response(dose) + 0.05 * standard_normal(rng)).to_vec()
    };
    let (mut kept, mut learned) = (0.0, 0.0);
    for seed in 0..4 {
        let (recorded, y) = simulated(&prior, 80, seed, simulator);
        let fit = fitted(&recorded, &y, &prior, OURS);
        let moved = |how| {
            let found = Steadiness::new(&fit.posterior, fit.model.as_ref(), how, 1).unwrap().unwrap();
            found.movement.powi(2) + found.stretch.powi(2)
        };
        kept += moved(Halves::Keep);
        learned += moved(Halves::Learn);
        let steady = fit.steadiness().unwrap().effective();
        assert_eq!(steady < 8.0, check(&fit, "effective_simulations").status == Status::Warn, "{steady}");
    }
    println!("kept {kept:.3}, learned {learned:.3}");
    // 0.32 and 0.58 when this was written.
    assert!(learned > 1.3 * kept, "{kept} {learned}");
}

#[test]
fn a_correlation_that_moves_with_the_parameters_is_learned_or_told_and_a_constant_one_is_neither() {
    let prior = Prior::independent(vec![
        ("m".into(), Marginal::Normal { mean: 0.0, std: 1.0 }),
        ("r".into(), Marginal::Uniform { low: -0.95, high: 0.95 }),
    ])
    .unwrap();
    let pair = |theta: &[f64], correlation: f64, rng: &mut ChaCha8Rng| {
        let (a, b) = (standard_normal(rng), standard_normal(rng));
        let second = correlation * a + (1.0 - correlation * correlation).sqrt() * b;
        vec![theta[0] + a, 0.5 * theta[0] + second, theta[1] + 0.1 * standard_normal(rng)]
    };
    let told = |moving: bool| {
        let one = |seed: u64| {
            let simulator = |theta: &[f64], rng: &mut ChaCha8Rng| pair(theta, if moving { theta[1] } else { 0.5 }, rng);
            let (recorded, _) = simulated(&prior, 300, seed, simulator);
            let fit = fitted(&recorded, &[1.5, -0.6, 0.85], &prior, OURS);
            let learned = !fit.model_as::<LocationScaleLikelihood>().unwrap().hyperparameters().moving.is_empty();
            learned || check(&fit, "dependence").status != Status::Ok
        };
        (0..4).filter(|&seed| one(seed)).count()
    };
    assert_eq!(told(false), 0);
    assert!(told(true) >= 3);
}
