//! The location-scale model against known posteriors, and under failures, replicates, threads and rebuilding.

use kelfi::model::LocationScaleLikelihood;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::samples::independent;
use kelfi::{Error, Marginal, Observation, Points, Posterior, Prior, Question, Recorded, Simulations, Surrogate};
use std::sync::Arc;

const NOISE: f64 = 0.5;

fn prior(dimension: usize) -> Prior {
    let marginal = |d: usize| (format!("p{d}"), Marginal::Normal { mean: 1.0, std: 2.0 });
    Prior::independent((0..dimension).map(marginal).collect()).unwrap()
}

/// x = θ + N(0, 0.25): the posterior is normal with precision 1/4 + 4.
fn linear(m: usize, dimension: usize, seed: u64) -> (Points, Points) {
    let theta = prior(dimension).draw(m, seed);
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let x: Vec<f64> = theta.values().iter().map(|t| t + NOISE * standard_normal(&mut rng)).collect();
    (theta, Points::new(x, m, dimension).unwrap())
}

fn recorded(theta: Points, x: Points) -> Recorded {
    Recorded::Statistics(Arc::new(Simulations::new(theta, x).unwrap()))
}

fn learn(recorded: &Recorded, y: &[f64], dimension: usize) -> Result<LocationScaleLikelihood, Error> {
    LocationScaleLikelihood::learn(&Question::new(&prior(dimension), recorded, &Observation::Statistics(y.to_vec())), 1, &|| true)
}

fn exact(y: f64) -> (f64, f64) {
    let precision = 0.25 + NOISE.powi(-2);
    ((1.0 / 4.0 + y * NOISE.powi(-2)) / precision, precision.recip().sqrt())
}

#[test]
fn a_linear_gaussian_problem_gets_its_exact_posterior_and_evidence() {
    let (theta, x) = linear(200, 2, 3);
    let y = [2.0, -1.0];
    let posterior = Posterior::new(Arc::new(learn(&recorded(theta, x), &y, 2).unwrap()), 1).unwrap();
    for d in 0..2 {
        let (mean, std) = exact(y[d]);
        assert!((posterior.mean()[d] - mean).abs() < 0.3 * std, "mean {} {mean}", posterior.mean()[d]);
        assert!((posterior.std(d).unwrap() / std - 1.0).abs() < 0.2, "sd {} {std}", posterior.std(d).unwrap());
    }
    let variance = 4.0 + NOISE * NOISE;
    let evidence: f64 = y.iter().map(|y| -0.5 * (y - 1.0_f64).powi(2) / variance - 0.5 * (std::f64::consts::TAU * variance).ln()).sum();
    assert!((posterior.log_evidence() - evidence).abs() < 0.3, "{} {evidence}", posterior.log_evidence());
    assert!(posterior.log_evidence_error() > 0.01 && posterior.log_evidence_error() < 0.5);
    assert!(posterior.checks().iter().any(|check| check.name == "chains"));
}

#[test]
fn slice_samples_have_the_moments_of_the_density() {
    let (theta, x) = linear(150, 1, 5);
    let posterior = Posterior::new(Arc::new(learn(&recorded(theta, x), &[0.4], 1).unwrap()), 1).unwrap();
    let drawn = independent(&posterior, 4_000, 9).unwrap().samples;
    let grid: Vec<f64> = (0..1_601).map(|k| -4.0 + 0.005 * k as f64).collect();
    let density = posterior.pdf(&Points::from_column(grid.clone())).unwrap();
    let total: f64 = density.iter().sum::<f64>() * 0.005;
    assert!((total - 1.0).abs() < 0.05, "{total}");
    let moment = |f: &dyn Fn(f64) -> f64| grid.iter().zip(&density).map(|(t, p)| f(*t) * p).sum::<f64>() * 0.005 / total;
    let mean = moment(&|t| t);
    let std = moment(&|t| (t - mean).powi(2)).sqrt();
    let samples = drawn.column(0);
    let found = samples.iter().sum::<f64>() / samples.len() as f64;
    let spread = (samples.iter().map(|s| (s - found).powi(2)).sum::<f64>() / samples.len() as f64).sqrt();
    assert!((found - mean).abs() < 0.1 * std, "{found} {mean}");
    assert!((spread / std - 1.0).abs() < 0.06, "{spread} {std}");
}

#[test]
fn no_sample_stands_twice() {
    let (theta, x) = linear(150, 1, 5);
    let posterior = Posterior::new(Arc::new(learn(&recorded(theta, x), &[0.4], 1).unwrap()), 1).unwrap();
    let drawn = independent(&posterior, 2_000, 9).unwrap().samples;
    let distinct: std::collections::HashSet<u64> = drawn.values().iter().map(|value| value.to_bits()).collect();
    assert_eq!(distinct.len(), 2_000);
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_after_rebuilding() {
    let (theta, x) = linear(80, 2, 7);
    let recorded = recorded(theta, x);
    let y = Observation::Statistics(vec![1.0, 0.0]);
    let queries = Points::from_rows(&[vec![0.1, 0.2], vec![-1.0, 2.0]]).unwrap();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let model = learn(&recorded, &[1.0, 0.0], 2).unwrap();
            let values = model.ln_values(&queries);
            let samples = independent(&Posterior::new(Arc::new(model.clone()), 1).unwrap(), 50, 2).unwrap().samples;
            (values, samples, model.hyperparameters().clone())
        })
    };
    let one = with(1);
    assert_eq!(one, with(3));
    let text = serde_json::to_string(&one.2).unwrap();
    let rebuilt = LocationScaleLikelihood::new(&Question::new(&prior(2), &recorded, &y), &serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(rebuilt.ln_values(&queries), one.0);
    let elsewhere = Observation::Statistics(vec![2.0, 2.0]);
    let moved = rebuilt.condition(&elsewhere).unwrap();
    let fresh = LocationScaleLikelihood::new(&Question::new(&prior(2), &recorded, &elsewhere), rebuilt.hyperparameters()).unwrap();
    assert_eq!(moved.ln_values(&queries), fresh.ln_values(&queries));
}

/// x = θ + noise that is ten times as wide in every other simulation.
fn two_scales(m: usize, seed: u64) -> (Points, Points) {
    let theta = prior(1).draw(m, seed);
    let mut rng = stream(seed, Purpose::Experiment, 1);
    let x = (0..m).map(|i| theta.row(i)[0] + TWO_SCALES[i % 2] * standard_normal(&mut rng)).collect();
    (theta, Points::from_column(x))
}

const TWO_SCALES: [f64; 2] = [1.0, 0.1];

/// Total variation between the posterior and that of two scales of noise, by sums over a grid.
fn distance_from_two_scales(model: LocationScaleLikelihood, y: f64) -> f64 {
    let grid: Vec<f64> = (0..3_001).map(|k| y - 6.0 + 0.004 * k as f64).collect();
    let normal = |t: f64, std: f64| (-0.5 * (t / std).powi(2)).exp() / std;
    let exact = |t: &f64| normal(t - 1.0, 2.0) * TWO_SCALES.map(|std| normal(t - y, std)).iter().sum::<f64>();
    let found = Posterior::new(Arc::new(model), 1).unwrap().pdf(&Points::from_column(grid.clone())).unwrap();
    let exact: Vec<f64> = grid.iter().map(exact).collect();
    let (of_found, of_exact): (f64, f64) = (found.iter().sum(), exact.iter().sum());
    0.5 * found.iter().zip(&exact).map(|(a, b)| (a / of_found - b / of_exact).abs()).sum::<f64>()
}

#[test]
fn noise_of_two_scales_gives_a_peak_with_shoulders() {
    let mut distances = vec![];
    for seed in 0..6 {
        let (theta, x) = two_scales(300, seed);
        let model = learn(&recorded(theta, x), &[0.5], 1).unwrap();
        assert!(model.statistics()[0].has_heavy_tails(), "seed {seed}");
        distances.push(distance_from_two_scales(model, 0.5));
    }
    let mean = distances.iter().sum::<f64>() / 6.0;
    // A single Gaussian of the right variance is 0.37 away.
    assert!(mean < 0.15, "{distances:?}");
}

#[test]
fn heavy_tails_are_kept_by_rebuilding() {
    let (theta, x) = two_scales(120, 2);
    let recorded = recorded(theta, x);
    let model = learn(&recorded, &[0.5], 1).unwrap();
    let text = serde_json::to_string(model.hyperparameters()).unwrap();
    let y = Observation::Statistics(vec![0.5]);
    let build = |text: &str| LocationScaleLikelihood::new(&Question::new(&prior(1), &recorded, &y), &serde_json::from_str(text).unwrap());
    let queries = Points::from_column(vec![0.1, 0.5, 2.0]);
    assert_eq!(build(&text).unwrap().ln_values(&queries), model.ln_values(&queries));
    let mut damaged: serde_json::Value = serde_json::from_str(&text).unwrap();
    damaged["statistics"][0]["own_noise"] = serde_json::json!([1.0, 1.0]);
    let message = build(&damaged.to_string()).unwrap_err().to_string();
    assert!(message.contains("noise of each simulation") && message.contains("120"), "{message}");
    damaged["statistics"][0]["own_noise"] = serde_json::json!(vec![-1.0; 120]);
    assert!(build(&damaged.to_string()).is_err());
}

#[test]
fn thousands_of_simulations_are_all_used_and_rebuild_to_the_same_bits() {
    let (theta, x) = linear(1_200, 1, 19);
    // Bends, and is noisier where θ is large.
    let x = x.map_rows(1, |x| vec![x[0] * x[0].abs()]);
    let recorded = recorded(theta.clone(), x.clone());
    let model = learn(&recorded, &[1.0], 1).unwrap();
    assert!(model.statistics()[0].bends() && model.statistics()[0].spread_varies());
    assert_eq!(model.residuals().rows(), 1_200);
    let y = Observation::Statistics(vec![1.0]);
    let queries = Points::from_column(vec![0.1, 0.5, 2.0]);
    let rebuilt = LocationScaleLikelihood::new(&Question::new(&prior(1), &recorded, &y), model.hyperparameters()).unwrap();
    assert_eq!(rebuilt.ln_values(&queries), model.ln_values(&queries));
    // The last simulations count: where they say something else, so does the model.
    let moved = Points::from_column((0..1_200).map(|i| x.row(i)[0] + if i < 1_000 { 0.0 } else { 3.0 }).collect());
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, moved).unwrap()));
    let elsewhere = LocationScaleLikelihood::new(&Question::new(&prior(1), &recorded, &y), model.hyperparameters()).unwrap();
    let mean = |model: LocationScaleLikelihood| Posterior::new(Arc::new(model), 1).unwrap().mean()[0];
    assert!(mean(elsewhere) < mean(model) - 0.05);
}

#[test]
fn leave_one_out_shares_are_even_and_scores_are_those_of_the_exact_posterior() {
    let (theta, x) = linear(200, 1, 11);
    let model = learn(&recorded(theta.clone(), x.clone()), &[1.0], 1).unwrap();
    let posterior = Posterior::new(Arc::new(model.clone()), 1).unwrap();
    let draws = kelfi::samples::independent(&posterior, 1_000, 1).unwrap().samples;
    let z = model.prior().to_latent_points(&draws).unwrap();
    let found = model.leave_one_out(&z, 1).unwrap();
    assert_eq!(found.scores.indices.len(), 200);
    let mean = found.shares.shares.column(0).iter().sum::<f64>() / 200.0;
    // Uniform shares have mean 1/2 with standard error 0.02.
    assert!((mean - 0.5).abs() < 0.08, "{mean}");
    let exact_score = |&i: &usize| {
        let (mean, std) = exact(x.row(i)[0]);
        let t = theta.row(i)[0];
        -0.5 * ((t - mean) / std).powi(2) - std.ln() + 0.5 * ((t - 1.0) / 2.0).powi(2) + 2.0_f64.ln()
    };
    let wanted = found.scores.indices.iter().map(exact_score).sum::<f64>() / 200.0;
    let score = found.scores.scores.iter().sum::<f64>() / 200.0;
    assert!((score - wanted).abs() < 0.15, "{score} {wanted}");
}

#[test]
fn failures_become_a_regression_of_success() {
    let (theta, mut x) = linear(300, 1, 13);
    // Simulations fail more often the larger θ is.
    let mut rng = stream(13, Purpose::Experiment, 1);
    for i in 0..300 {
        if standard_normal(&mut rng) < 1.5 * (theta.row(i)[0] - 2.0) {
            x.row_mut(i)[0] = f64::NAN;
        }
    }
    let model = learn(&recorded(theta, x), &[2.0], 1).unwrap();
    assert!(model.hyperparameters().success.is_some());
    let posterior = Posterior::new(Arc::new(model), 1).unwrap();
    // Success is itself evidence for small θ.
    assert!(posterior.mean()[0] < exact(2.0).0, "{}", posterior.mean()[0]);
}

#[test]
fn what_cannot_be_modelled_is_refused_with_advice() {
    let (theta, x) = linear(8, 1, 17);
    let few = learn(&recorded(theta.clone(), x), &[0.0], 1).unwrap_err().to_string();
    assert!(few.contains("at least 10"), "{few}");
    let (theta, x) = linear(40, 1, 17);
    let constant = learn(&recorded(theta.clone(), x.map_rows(1, |_| vec![3.0])), &[3.0], 1).unwrap_err().to_string();
    assert!(constant.contains("same value"), "{constant}");
    let stop =
        LocationScaleLikelihood::learn(&Question::new(&prior(1), &recorded(theta, x), &Observation::Statistics(vec![0.0])), 1, &|| false);
    assert!(matches!(stop, Err(Error::Interrupted)));
}

/// A plane in θ with a little noise, θ uniform.
fn flat() -> (Prior, Recorded) {
    let marginal = |name: &str| (name.to_string(), Marginal::Uniform { low: -3.0, high: 1.0 });
    let prior = Prior::independent(vec![marginal("a"), marginal("b")]).unwrap();
    let theta = prior.draw(150, 4);
    let mut rng = stream(4, Purpose::Experiment, 0);
    let mut noisy = |t: f64| t + 0.05 * standard_normal(&mut rng);
    let rows: Vec<Vec<f64>> = theta.iter().map(|t| vec![noisy(t[0] - t[1]), noisy(t[0] + t[1])]).collect();
    (prior, recorded(theta, Points::from_rows(&rows).unwrap()))
}

#[test]
fn a_plane_in_theta_is_straight_up_to_the_ends_of_a_uniform_prior() {
    let (prior, recorded) = flat();
    // Near the corner a = b = 1.
    let y = Observation::Statistics(vec![0.0, 1.9]);
    let model = LocationScaleLikelihood::learn(&Question::new(&prior, &recorded, &y), 1, &|| true).unwrap();
    assert!(model.statistics().iter().all(|statistic| !statistic.bends()));
    let posterior = Posterior::new(Arc::new(model), 1).unwrap();
    for d in 0..2 {
        // Normal around 0.95, its deviation 0.05/√2, cut off at 1: mean 0.944 and deviation 0.031 by quadrature.
        let (mean, sd) = (posterior.mean()[d], posterior.std(d).unwrap());
        assert!((mean - 0.944).abs() < 0.012 && (sd / 0.031 - 1.0).abs() < 0.35, "{mean} {sd}");
    }
}

#[test]
fn inputs_are_kept_by_rebuilding_and_files_without_them_mean_z() {
    let (prior, recorded) = flat();
    let y = Observation::Statistics(vec![0.3, 0.1]);
    let model = LocationScaleLikelihood::learn(&Question::new(&prior, &recorded, &y), 1, &|| true).unwrap();
    let queries = Points::from_rows(&[vec![0.1, 0.2], vec![1.0, -0.5]]).unwrap();
    let build = |value: &serde_json::Value| {
        LocationScaleLikelihood::new(&Question::new(&prior, &recorded, &y), &serde_json::from_value(value.clone()).unwrap())
            .map(|m| m.ln_values(&queries))
    };
    let mut value = serde_json::to_value(model.hyperparameters()).unwrap();
    assert_eq!(value["inputs"], serde_json::json!(["flat", "flat"]));
    assert_eq!(build(&value).unwrap(), model.ln_values(&queries));
    value["inputs"] = serde_json::json!(["flat"]);
    let message = build(&value).unwrap_err().to_string();
    assert!(message.contains("inputs of the parameters"), "{message}");
    value["inputs"] = serde_json::json!(["latent", "latent"]);
    let latent = build(&value).unwrap();
    assert_ne!(latent, model.ln_values(&queries));
    value.as_object_mut().unwrap().remove("inputs");
    assert_eq!(build(&value).unwrap(), latent);
}
