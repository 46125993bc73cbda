//! Posteriors known in closed form or by quadrature: the soft posterior p_ε is reached as the simulations grow, at a stated rate.

mod support;

use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{Hyperparameters, KernelMeansLikelihood, Marginal, Observation, Points, Posterior, Prior, Question, Recorded, Simulations};
use rand::RngExt;
use std::sync::Arc;
use support::gauss_legendre;

const SIZES: [usize; 4] = [100, 300, 1_000, 3_000];
/// Errors are root mean squares over this many data sets of simulations of each size, so that no single one decides.
const SEEDS: [u64; 4] = [24, 16, 8, 4];
/// The stated rate is m^-½; -0.3 leaves room for the luck of the seeds.
const SLOWEST_RATE: f64 = -0.3;
const NOISE: f64 = 0.5;
const OBSERVED: [f64; 5] = [0.8, -0.5, 0.3, 0.0, -0.9];

/// `first`.regularization is for one simulation; λ ∝ m^-½ balances the two terms of the paper's rate O((mλ)^-½ + λ^½).
fn posterior(theta: Points, x: Points, y: &[f64], prior: &Prior, first: &Hyperparameters) -> Posterior {
    let settings = Hyperparameters { regularization: first.regularization / (theta.rows() as f64).sqrt(), ..first.clone() };
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, x).unwrap()));
    let model = KernelMeansLikelihood::new(&Question::new(prior, &recorded, &Observation::Statistics(y.to_vec())), &settings).unwrap();
    Posterior::new(Arc::new(model), 1).unwrap()
}

/// The exponent p of the best fit error ∝ m^p in logarithms.
fn rate(errors: &[f64]) -> f64 {
    let x: Vec<f64> = SIZES.iter().map(|&m| (m as f64).ln()).collect();
    let y: Vec<f64> = errors.iter().map(|e| e.ln()).collect();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let covariance: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    covariance / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>()
}

/// Root mean square of `error(m, seed)` over the seeds, for every size.
fn errors(error: impl Fn(usize, u64) -> f64) -> Vec<f64> {
    let mean_square = |m: usize, seeds: u64| (0..seeds).map(|seed| error(m, seed).powi(2)).sum::<f64>() / seeds as f64;
    SIZES.iter().zip(SEEDS).map(|(&m, seeds)| mean_square(m, seeds).sqrt()).collect()
}

/// θ ~ N(0, I), x = θ + noise: p_ε(θ|y) is normal with variance s² = 1/(1 + 1/(noise² + ε²)) and mean s² y/(noise² + ε²).
fn linear_gaussian(dimension: usize, m: usize, seed: u64, epsilon: f64) -> Posterior {
    let prior = support::standard_prior(dimension);
    let theta = prior.draw(m, seed);
    let mut rng = stream(seed, Purpose::Simulator, 0);
    let x = theta.values().iter().map(|t| t + NOISE * standard_normal(&mut rng)).collect();
    posterior(theta, Points::new(x, m, dimension).unwrap(), &OBSERVED[..dimension], &prior, &Hyperparameters::isotropic(epsilon, 1.0, 0.1))
}

/// Errors of means and standard deviations in units of the true standard deviation, root mean square over the parameters.
fn moment_error(posterior: &Posterior, epsilon: f64) -> f64 {
    let noise = NOISE * NOISE + epsilon * epsilon;
    let variance: f64 = 1.0 / (1.0 + 1.0 / noise);
    let dimension = posterior.prior().dimension();
    let mean = posterior.mean();
    let square = |d: usize| {
        let position = (mean[d] - variance * OBSERVED[d] / noise) / variance.sqrt();
        let width = posterior.std(d).unwrap() / variance.sqrt() - 1.0;
        position * position + width * width
    };
    ((0..dimension).map(square).sum::<f64>() / dimension as f64).sqrt()
}

/// The soft posterior is approached at the stated rate and reached within `reached`, and it is told apart from the one with ε = 0.
fn check_linear_gaussian(dimension: usize, epsilon: f64, reached: f64) {
    let found = errors(|m, seed| moment_error(&linear_gaussian(dimension, m, seed, epsilon), epsilon));
    println!("D = {dimension}: errors {found:.3?} at {SIZES:?}, rate {:.2}", rate(&found));
    assert!(rate(&found) < SLOWEST_RATE, "errors {found:?} fall as m^{:.2}", rate(&found));
    assert!(found[3] < reached, "errors {found:?}");
    let hard = moment_error(&linear_gaussian(dimension, SIZES[3], 0, epsilon), 0.0);
    assert!(hard > 1.5 * found[3], "the posterior is as near to ε = 0 ({hard}) as to ε = {epsilon} ({})", found[3]);
}

#[test]
fn linear_gaussian_in_one_dimension_reaches_its_soft_posterior() {
    check_linear_gaussian(1, 0.4, 0.07);
}

#[test]
fn linear_gaussian_in_two_dimensions_reaches_its_soft_posterior() {
    check_linear_gaussian(2, 0.4, 0.10);
}

#[test]
fn linear_gaussian_in_five_dimensions_reaches_its_soft_posterior() {
    check_linear_gaussian(5, 0.7, 0.10);
}

/// Exponential data with a gamma prior on their rate; the statistic is ln of the mean of `DATA` points.
const DATA: usize = 10;
const SHAPE: f64 = 2.0;
const RATE: f64 = 1.0;
const STATISTIC: f64 = -0.4;
const TOLERANCE: f64 = 0.2;

fn exponential_gamma(m: usize, seed: u64) -> Posterior {
    let prior = support::independent(&[Marginal::Gamma { shape: SHAPE, rate: RATE }]);
    let theta = prior.draw(m, seed);
    let mut rng = stream(seed, Purpose::Simulator, 0);
    let mut simulate = |rate: f64| ((0..DATA).map(|_| -(1.0 - rng.random::<f64>()).ln() / rate).sum::<f64>() / DATA as f64).ln();
    let x: Vec<f64> = theta.iter().map(|t| simulate(t[0])).collect();
    posterior(theta, Points::from_column(x), &[STATISTIC], &prior, &Hyperparameters::isotropic(TOLERANCE, 0.7, 0.01))
}

/// p_ε(y|θ) p(θ) at every node, normalised over them. With ln x̄ = ln G - ln(θ DATA), G ~ Gamma(DATA, 1):
/// p_ε(y|θ) = ∫ N(y | u - ln(θ DATA), ε²) exp(DATA u - e^u)/Γ(DATA) du.
fn soft_posterior(nodes: &[(f64, f64)], epsilon: f64) -> Vec<f64> {
    let ln_gamma: f64 = (1..DATA).map(|k| (k as f64).ln()).sum();
    let likelihood = |theta: f64| -> f64 {
        let rule = gauss_legendre(-6.0, 6.0, 60);
        let density = |u: f64| (DATA as f64 * u - u.exp() - ln_gamma).exp();
        let kernel = |u: f64| (-0.5 * ((STATISTIC - u + (theta * DATA as f64).ln()) / epsilon).powi(2)).exp();
        rule.iter().map(|(u, w)| w * density(*u) * kernel(*u)).sum()
    };
    let values: Vec<f64> = nodes.iter().map(|(t, _)| likelihood(*t) * t.powf(SHAPE - 1.0) * (-RATE * t).exp()).collect();
    let total: f64 = values.iter().zip(nodes).map(|(value, (_, w))| value * w).sum();
    values.into_iter().map(|value| value / total).collect()
}

#[test]
fn exponential_gamma_reaches_its_soft_posterior_in_total_variation() {
    const REACHED: f64 = 0.05;
    let nodes = gauss_legendre(1e-6, 15.0, 100);
    let points = Points::from_column(nodes.iter().map(|node| node.0).collect());
    let (soft, hard) = (soft_posterior(&nodes, TOLERANCE), soft_posterior(&nodes, 0.01));
    let variation =
        |found: &[f64], truth: &[f64]| 0.5 * found.iter().zip(truth).zip(&nodes).map(|((a, b), (_, w))| w * (a - b).abs()).sum::<f64>();
    let found = errors(|m, seed| variation(&exponential_gamma(m, seed).pdf(&points).unwrap(), &soft));
    println!("exponential-gamma: total variation {found:.3?} at {SIZES:?}, rate {:.2}", rate(&found));
    assert!(rate(&found) < SLOWEST_RATE, "total variation {found:?} falls as m^{:.2}", rate(&found));
    assert!(found[3] < REACHED, "total variation {found:?}");
    let to_hard = variation(&exponential_gamma(SIZES[3], 0).pdf(&points).unwrap(), &hard);
    assert!(to_hard > 1.5 * found[3], "the posterior is as near to ε = 0 ({to_hard}) as to ε = {TOLERANCE} ({})", found[3]);
}
