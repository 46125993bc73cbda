//! Linear Gaussian cases: x = A θ + noise with a normal prior, in one to six dimensions.

use super::case::Case;
use super::densities::{gauss, ln_normal, normal, prior, standard_prior, uniform};
use kelfi::{Points, Prior};

/// All of them.
pub fn cases() -> Vec<Case> {
    vec![
        linear("linear_1_small", "one parameter seen with noise 0.1", standard_prior(1), mixing(1, 1), 0.1),
        linear("linear_1_large", "one parameter seen with noise 2", standard_prior(1), mixing(1, 1), 2.0),
        linear("linear_2_equal", "two parameters and two statistics, noise 0.3", standard_prior(2), mixing(2, 2), 0.3),
        linear("linear_2_more", "two parameters and five statistics, noise 0.5", standard_prior(2), mixing(2, 5), 0.5),
        linear("linear_3_equal", "three parameters and three statistics, noise 0.3", standard_prior(3), mixing(3, 3), 0.3),
        linear("linear_4_small", "four parameters and four statistics, noise 0.1", standard_prior(4), mixing(4, 4), 0.1),
        linear("linear_4_more", "four parameters and eight statistics, noise 0.5", standard_prior(4), mixing(4, 8), 0.5),
        linear("linear_6_equal", "six parameters and six statistics, noise 0.5", standard_prior(6), mixing(6, 6), 0.5),
        linear("linear_fewer", "two parameters and their sum, noise 0.3", standard_prior(2), vec![vec![1.0, 1.0]], 0.3),
        linear(
            "linear_uniform",
            "two parameters with uniform priors, noise 0.2",
            prior(&[("a", uniform(-1.0, 1.0)), ("b", uniform(-1.0, 1.0))]),
            mixing(2, 2),
            0.2,
        ),
        linear("linear_correlated_prior", "two parameters with prior correlation 0.9, noise 0.3", correlated(0.9), mixing(2, 2), 0.3),
        correlated_noise(),
        noise_statistics("noise_3", "two parameters, two statistics and three that are noise", 3),
        noise_statistics("noise_10", "two parameters, two statistics and ten that are noise", 10),
        linear("narrow", "a parameter known to a thousandth of the prior", standard_prior(1), mixing(1, 1), 1e-3).unusual(),
        linear("uninformed", "two parameters; the statistic knows of the first only", standard_prior(2), vec![vec![1.0, 0.0]], 0.3)
            .unusual(),
        scales_apart(),
    ]
}

/// x = A θ + N(0, s² I).
pub fn linear(name: &'static str, about: &'static str, prior: Prior, matrix: Vec<Vec<f64>>, noise: f64) -> Case {
    let rows = matrix.clone();
    Case::usual(
        name,
        about,
        prior,
        move |theta, rng| matrix.iter().map(|row| dot(row, theta) + noise * gauss(rng)).collect(),
        move |theta, x| rows.iter().zip(x).map(|(row, &x)| ln_normal(x, dot(row, theta), noise)).sum(),
    )
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A matrix whose statistics see each parameter and a little of its neighbours.
pub fn mixing(parameters: usize, statistics: usize) -> Vec<Vec<f64>> {
    let entry = |i: usize, d: usize| if i % parameters == d { 1.0 } else { 0.4 / (1.0 + (i as f64 - d as f64).abs()) };
    (0..statistics).map(|i| (0..parameters).map(|d| entry(i, d)).collect()).collect()
}

fn correlated(correlation: f64) -> Prior {
    let covariance = Points::from_rows(&[[1.0, correlation], [correlation, 1.0]]).expect("two rows of two");
    Prior::multivariate_normal(vec!["a".into(), "b".into()], vec![0.0, 0.0], &covariance).expect("a positive definite covariance")
}

fn correlated_noise() -> Case {
    const NOISE: f64 = 0.5;
    const CORRELATION: f64 = 0.8;
    let rest = (1.0 - CORRELATION * CORRELATION).sqrt();
    Case::usual(
        "linear_correlated_noise",
        "two parameters seen with noise 0.5 of correlation 0.8",
        standard_prior(2),
        move |theta, rng| {
            let (u, v) = (gauss(rng), gauss(rng));
            vec![theta[0] + NOISE * u, theta[1] + NOISE * (CORRELATION * u + rest * v)]
        },
        move |theta, x| {
            let u = (x[0] - theta[0]) / NOISE;
            let v = ((x[1] - theta[1]) / NOISE - CORRELATION * u) / rest;
            -0.5 * (u * u + v * v)
        },
    )
}

fn noise_statistics(name: &'static str, about: &'static str, count: usize) -> Case {
    Case::usual(
        name,
        about,
        standard_prior(2),
        move |theta, rng| {
            let mut x = vec![theta[0] + 0.3 * gauss(rng), theta[1] - 0.5 * theta[0] + 0.3 * gauss(rng)];
            x.extend((0..count).map(|_| gauss(rng)));
            x
        },
        |theta, x| ln_normal(x[0], theta[0], 0.3) + ln_normal(x[1], theta[1] - 0.5 * theta[0], 0.3),
    )
}

fn scales_apart() -> Case {
    const SMALL: f64 = 1e-8;
    const LARGE: f64 = 1e12;
    Case::usual(
        "scales_apart",
        "parameters and statistics in units of 1e-8 and 1e12",
        prior(&[("small", normal(3.0 * SMALL, SMALL)), ("large", normal(0.0, LARGE))]),
        |theta, rng| vec![theta[1] / LARGE * SMALL + 0.3 * SMALL * gauss(rng), (theta[0] / SMALL + 0.3 * gauss(rng)) * LARGE],
        |theta, x| ln_normal(x[0] / SMALL, theta[1] / LARGE, 0.3) + ln_normal(x[1] / LARGE, theta[0] / SMALL, 0.3),
    )
}
