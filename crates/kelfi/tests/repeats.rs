//! Outputs that are independent repeats of the same statistics: known posteriors, and what must not change them.

use kelfi::model::saved::SavedModel;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{
    Fit, FitOptions, LOCATION_SCALE, LocationScaleLikelihood, Marginal, ModelChoice, Observation, Points, Posterior, Prior, Question,
    Recorded, Simulations, Surrogate,
};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

const REPEATS: usize = 4;
/// Standard deviations and correlation of the noise of a pair.
const WIDE: f64 = 1.5;
const NARROW: f64 = 0.8;
const TOGETHER: f64 = 0.6;

fn prior(dimension: usize) -> Prior {
    Prior::independent((0..dimension).map(|d| (format!("p{d}"), Marginal::Normal { mean: 0.0, std: 1.0 })).collect()).unwrap()
}

fn pair(rng: &mut ChaCha8Rng, correlation: f64) -> [f64; 2] {
    let (a, b) = (standard_normal(rng), standard_normal(rng));
    [a, correlation * a + (1.0 - correlation * correlation).sqrt() * b]
}

/// Four pairs around θ, with correlated noise.
fn around(theta: &[f64], rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut one = || {
        let [a, b] = pair(rng, TOGETHER);
        [theta[0] + WIDE * a, theta[1] + NARROW * b]
    };
    (0..REPEATS).flat_map(|_| one()).collect()
}

fn simulated(m: usize, seed: u64, simulate: fn(&[f64], &mut ChaCha8Rng) -> Vec<f64>) -> Simulations {
    let theta = prior(2).draw(m, seed);
    let x: Vec<Vec<f64>> = theta.iter().zip(0..).map(|(theta, i)| simulate(theta, &mut stream(seed, Purpose::Simulator, i))).collect();
    Simulations::new(theta, Points::from_rows(&x).unwrap()).unwrap()
}

fn question(simulations: Simulations, y: &[f64]) -> Question {
    Question::new(&prior(2), &Recorded::Statistics(Arc::new(simulations)), &Observation::Statistics(y.to_vec()))
}

/// As k·d different statistics: without a word they would be recognised as repeats.
fn apart(simulations: &Simulations, y: &[f64]) -> Question {
    question(simulations.clone().with_repeats(1).unwrap(), y)
}

fn told(simulations: &Simulations, y: &[f64]) -> Question {
    question(simulations.clone().with_repeats(REPEATS).unwrap(), y)
}

fn learn(question: &Question) -> LocationScaleLikelihood {
    LocationScaleLikelihood::learn(question, 1, &|| true).unwrap()
}

fn posterior(question: &Question) -> Posterior {
    Posterior::new(Arc::new(learn(question)), 1).unwrap()
}

/// Means and standard deviations of the exact posterior of θ given four pairs: precision I + 4 Σ⁻¹.
fn exact(y: &[f64]) -> ([f64; 2], [f64; 2]) {
    let (a, b, c) = (WIDE * WIDE, NARROW * NARROW, TOGETHER * WIDE * NARROW);
    let noise = [b, -c, -c, a].map(|entry| REPEATS as f64 * entry / (a * b - c * c));
    let p = [noise[0] + 1.0, noise[1], noise[2], noise[3] + 1.0];
    let mean = |k: usize| y.iter().skip(k).step_by(2).sum::<f64>() / REPEATS as f64;
    let (m, determinant) = ([mean(0), mean(1)], p[0] * p[3] - p[1] * p[2]);
    let v = [noise[0] * m[0] + noise[1] * m[1], noise[2] * m[0] + noise[3] * m[1]];
    let means = [(p[3] * v[0] - p[1] * v[1]) / determinant, (p[0] * v[1] - p[2] * v[0]) / determinant];
    (means, [(p[3] / determinant).sqrt(), (p[0] / determinant).sqrt()])
}

/// Largest distance of the means, in standard deviations, and of ln of the widths.
fn errors(found: &Posterior, (means, widths): ([f64; 2], [f64; 2])) -> (f64, f64) {
    let of = |d: usize| ((found.mean()[d] - means[d]).abs() / widths[d], (found.std(d).unwrap() / widths[d]).ln().abs());
    (of(0).0.max(of(1).0), of(0).1.max(of(1).1))
}

#[test]
fn a_gaussian_problem_gets_its_exact_posterior_and_a_better_one_than_as_different_statistics() {
    let (mut told_worse, mut sums) = (0, (0.0, 0.0));
    for seed in 1..=6 {
        let simulations = simulated(200, seed, around);
        let y = around(&[0.6, -0.4], &mut stream(seed, Purpose::Experiment, 0));
        let (with, without) = (posterior(&told(&simulations, &y)), posterior(&apart(&simulations, &y)));
        let (with, without) = (errors(&with, exact(&y)), errors(&without, exact(&y)));
        // 800 pairs say the mean to a sixth of the posterior's width, and its width to a few in a hundred.
        assert!(with.0 < 0.35 && with.1 < 0.15, "seed {seed}: {with:?}");
        told_worse += usize::from(with.0 + with.1 > without.0 + without.1);
        sums = (sums.0 + with.0 + with.1, sums.1 + without.0 + without.1);
    }
    assert!(told_worse <= 1 && sums.0 < 0.7 * sums.1, "{told_worse} {sums:?}");
}

#[test]
fn intervals_cover_and_the_evidence_is_that_of_the_whole_data_set() {
    let (question, mut inside, mut evidence) = (told(&simulated(300, 9, around), &[0.5; 8]), 0, 0.0);
    let model = learn(&question);
    let mut rng = stream(9, Purpose::Experiment, 1);
    for _ in 0..40 {
        let theta = [standard_normal(&mut rng), standard_normal(&mut rng)];
        let y = around(&theta, &mut rng);
        let posterior = Posterior::new(Arc::new(model.condition(&Observation::Statistics(y.clone())).unwrap()), 1).unwrap();
        let within = |d: usize| (theta[d] - posterior.mean()[d]).abs() < 1.645 * posterior.std(d).unwrap();
        inside += usize::from(within(0)) + usize::from(within(1));
        evidence += posterior.log_evidence() - ln_evidence(&y);
    }
    // 90 % of 80, with a binomial standard error of 2.7.
    assert!((63..=79).contains(&inside), "{inside}");
    assert!((evidence / 40.0).abs() < 0.25, "{}", evidence / 40.0);
}

/// ln p(y) of four pairs: the average has covariance I + Σ/4, and deviations from it are noise alone.
fn ln_evidence(y: &[f64]) -> f64 {
    let k = REPEATS as f64;
    let (a, b, c) = (WIDE * WIDE, NARROW * NARROW, TOGETHER * WIDE * NARROW);
    let mean = [0, 1].map(|d| y.iter().skip(d).step_by(2).sum::<f64>() / k);
    let (s, t, u) = (1.0 + a / k, 1.0 + b / k, c / k);
    let square = |x: f64, y: f64, a: f64, b: f64, c: f64| (b * x * x - 2.0 * c * x * y + a * y * y) / (a * b - c * c);
    let within: f64 = y.chunks(2).map(|pair| square(pair[0] - mean[0], pair[1] - mean[1], a, b, c)).sum();
    let tau = std::f64::consts::TAU;
    let of_average = -0.5 * square(mean[0], mean[1], s, t, u) - 0.5 * (s * t - u * u).ln() - tau.ln();
    of_average - 0.5 * within - 0.5 * (k - 1.0) * (a * b - c * c).ln() - (k - 1.0) * tau.ln() - k.ln()
}

/// Four pairs: the mean of both is the first parameter, the correlation tanh of the second.
fn correlated(theta: &[f64], rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..REPEATS).flat_map(|_| pair(rng, theta[1].tanh()).map(|noise| theta[0] + noise)).collect()
}

/// Means and standard deviations of the exact posterior, by quadrature.
fn exact_of_correlated(y: &[f64]) -> ([f64; 2], [f64; 2]) {
    let grid: Vec<f64> = (0..161).map(|k| -4.0 + 0.05 * f64::from(k)).collect();
    let ln = |mean: f64, theta: f64| {
        let p = theta.tanh();
        let one = |pair: &[f64]| {
            let (a, b) = (pair[0] - mean, pair[1] - mean);
            -0.5 * (1.0 - p * p).ln() - 0.5 * (a * a + b * b - 2.0 * p * a * b) / (1.0 - p * p)
        };
        -0.5 * (mean * mean + theta * theta) + y.chunks(2).map(one).sum::<f64>()
    };
    let cells: Vec<([f64; 2], f64)> =
        grid.iter().flat_map(|&a| grid.iter().map(move |&b| ([a, b], 0.0))).map(|(at, _)| (at, ln(at[0], at[1]).exp())).collect();
    let total: f64 = cells.iter().map(|cell| cell.1).sum();
    let means = [0, 1].map(|d| cells.iter().map(|(at, w)| w * at[d]).sum::<f64>() / total);
    let widths = [0, 1].map(|d| (cells.iter().map(|(at, w)| w * (at[d] - means[d]).powi(2)).sum::<f64>() / total).sqrt());
    (means, widths)
}

#[test]
fn a_correlation_that_moves_is_learned_from_all_repeats() {
    let mut sums = (0.0, 0.0);
    for (seed, truth) in [(1, -1.0), (2, 0.9), (3, 0.2), (4, 1.3)] {
        let simulations = simulated(300, seed, correlated);
        let y = correlated(&[0.5, truth], &mut stream(seed, Purpose::Experiment, 0));
        let exact = exact_of_correlated(&y);
        let model = learn(&told(&simulations, &y));
        assert_eq!(model.hyperparameters().moving.iter().map(|pair| pair.of).collect::<Vec<_>>(), [(1, 0)]);
        let with = errors(&Posterior::new(Arc::new(model), 1).unwrap(), exact);
        let without = errors(&posterior(&apart(&simulations, &y)), exact);
        assert!(with.0 < 0.5 && with.1 < 0.4, "seed {seed}: {with:?}");
        sums = (sums.0 + with.0 + with.1, sums.1 + without.0 + without.1);
    }
    assert!(sums.0 < sums.1, "{sums:?}");
}

#[test]
fn one_repeat_is_no_repeat_to_the_bit() {
    // In units of their own, so that none are recognised.
    let in_other_units = |theta: &[f64], rng: &mut ChaCha8Rng| around(theta, rng).iter().zip(1..).map(|(x, k)| x * f64::from(k)).collect();
    let simulations = simulated(120, 2, in_other_units);
    let (y, z) = ([0.4; 8], prior(2).draw(50, 3));
    let one = question(simulations.clone().with_repeats(1).unwrap(), &y);
    let (one, none) = (learn(&one), learn(&question(simulations, &y)));
    assert_eq!(one.hyperparameters(), none.hyperparameters());
    assert_eq!(one.ln_values(&z), none.ln_values(&z));
}

/// Every simulation's repeats, and the observed ones, in another order.
#[test]
fn the_order_of_repeats_does_not_matter() {
    let simulations = simulated(150, 4, correlated);
    let turned = |x: &[f64], by: usize| -> Vec<f64> { x.iter().cycle().skip(2 * (by % REPEATS)).take(x.len()).copied().collect() };
    let rows: Vec<Vec<f64>> = simulations.outputs().iter().enumerate().map(|(i, x)| turned(x, i)).collect();
    let other = Simulations::new(simulations.theta().clone(), Points::from_rows(&rows).unwrap()).unwrap();
    let y = correlated(&[0.5, 0.8], &mut stream(4, Purpose::Experiment, 0));
    let (one, two) = (learn(&told(&simulations, &y)), learn(&told(&other, &turned(&y, 3))));
    let z = prior(2).draw(100, 3);
    for (a, b) in one.ln_values(&z).iter().zip(two.ln_values(&z)) {
        assert!((a - b).abs() < 1e-6 * (1.0 + a.abs()), "{a} {b}");
    }
}

#[test]
fn it_is_saved_loaded_conditioned_and_looked_at_with_its_repeats() {
    let simulations = simulated(150, 5, correlated);
    let y = correlated(&[0.5, 0.8], &mut stream(5, Purpose::Experiment, 0));
    let fit = Fit::new(&told(&simulations, &y), &FitOptions::of(ModelChoice::Use(&LOCATION_SCALE), 1), &mut |_| true).unwrap();
    let saved = SavedModel::new(fit.model.as_ref());
    assert_eq!(saved.format, 5);
    let again = Fit::load(&SavedModel::from_json(&saved.to_json().unwrap()).unwrap(), None, 1, &mut || true).unwrap();
    assert_eq!(again.posterior.mean(), fit.posterior.mean());
    assert_eq!(again.question().recorded.outputs().repeats(), REPEATS);
    let model = fit.model_as::<LocationScaleLikelihood>().unwrap();
    assert_eq!((model.repeats(), model.statistics().len(), model.residuals().rows()), (REPEATS, 2, 150 * REPEATS));
    let z = prior(2).draw(20, 3);
    let other = Observation::Statistics(correlated(&[-0.5, 0.1], &mut stream(6, Purpose::Experiment, 0)));
    let anew = LocationScaleLikelihood::new(&told(&simulations, &y).at(&other), model.hyperparameters()).unwrap();
    assert_eq!(model.condition(&other).unwrap().ln_values(&z), anew.ln_values(&z));
    // Leave-one-out is of whole data sets, and everything that looks at the fit has a value for every number of an output.
    let calibration = fit.calibration().unwrap();
    assert!((0..2).all(|d| (0.75..1.33).contains(&calibration.uniformity(d).stretch)));
    assert_eq!(fit.statistics().len(), 2 * REPEATS);
    assert_eq!(fit.predicted_statistics().unwrap().of_each.len(), 2 * REPEATS);
    assert!(model.outputs_at(&z, 1).iter().all(|x| x.len() == 2 * REPEATS && x.iter().all(|value| value.is_finite())));
    assert!(fit.checks().iter().all(|check| !format!("{:?}", check.status).contains("Fail")), "{:?}", fit.checks());
    assert!(model.ln_cut_off(&z).unwrap().iter().all(|ln| !ln.is_nan()));
}

/// Outputs drawn from the model scatter as simulated ones do, within a data set and between data sets at one θ.
#[test]
fn predicted_repeats_scatter_as_simulated_ones() {
    let model = learn(&told(&simulated(300, 7, around), &[0.2; 8]));
    let drawn = model.outputs_at(&Points::from_rows(&vec![[0.3, -0.2]; 4_000]).unwrap(), 5);
    let variance = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64
    };
    let averages: Vec<f64> = drawn.iter().map(|x| x.iter().step_by(2).sum::<f64>() / REPEATS as f64).collect();
    let apart: Vec<f64> = drawn.iter().map(|x| x[0] - x[2]).collect();
    assert!((variance(&averages) / (WIDE * WIDE / REPEATS as f64) - 1.0).abs() < 0.25, "{}", variance(&averages));
    assert!((variance(&apart) / (2.0 * WIDE * WIDE) - 1.0).abs() < 0.15, "{}", variance(&apart));
}

#[test]
fn repeats_that_are_none_are_refused_with_the_reason() {
    let refused = |simulate: fn(&[f64], &mut ChaCha8Rng) -> Vec<f64>| {
        LocationScaleLikelihood::learn(&told(&simulated(100, 1, simulate), &[0.2; 8]), 1, &|| true).unwrap_err().to_string()
    };
    let equal = refused(|theta, rng| [theta[0], theta[1] + standard_normal(rng)].repeat(REPEATS));
    assert!(equal.contains("statistic 1 is the same in all repeats"), "{equal}");
    let shared = refused(|theta, rng| around(theta, rng).into_iter().map(|x| x.max(0.0)).collect());
    assert!(shared.contains("share the value 0 of statistic 1"), "{shared}");
}
