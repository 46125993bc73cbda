//! Rates, scales and variances by sufficient statistics.

use super::case::Case;
use super::densities::{exponential, gamma, gauss, ln_gamma_density, ln_normal, normal, prior, unit};
use kelfi::prior::Marginal;
use kelfi::special::gamma::ln_gamma;

/// All of them.
pub fn cases() -> Vec<Case> {
    let log_uniform = Marginal::LogUniform { low: 0.1, high: 10.0 };
    vec![
        exponential_rate(
            "exponential_gamma",
            "the mean of 10 exponential waits, gamma prior",
            Marginal::Gamma { shape: 3.0, rate: 2.0 },
            10,
        ),
        exponential_rate("exponential_log_uniform", "the mean of 20 exponential waits, log-uniform prior", log_uniform, 20),
        log_normal(),
        uniform_scale(),
        mean_and_variance("normal_mean_log_variance", "mean and log variance of 20 normal draws", true),
        mean_and_variance("normal_mean_variance", "mean and variance of 20 normal draws", false),
        variance_only(),
        gamma_shape_rate(),
        share_seen(),
    ]
}

fn exponential_rate(name: &'static str, about: &'static str, rate: Marginal, draws: usize) -> Case {
    let count = draws as f64;
    Case::usual(
        name,
        about,
        prior(&[("rate", rate)]),
        move |theta, rng| vec![(0..draws).map(|_| exponential(rng)).sum::<f64>() / count / theta[0]],
        move |theta, x| ln_gamma_density(x[0] * count, count, theta[0]),
    )
}

fn log_normal() -> Case {
    Case::usual(
        "log_normal",
        "a positive parameter seen with a log-normal factor",
        prior(&[("scale", Marginal::LogNormal { mean: 0.0, std: 1.0 })]),
        |theta, rng| vec![theta[0] * (0.3 * gauss(rng)).exp()],
        |theta, x| if x[0] > 0.0 { ln_normal(x[0].ln(), theta[0].ln(), 0.3) } else { f64::NEG_INFINITY },
    )
}

fn uniform_scale() -> Case {
    const DRAWS: i32 = 8;
    Case::usual(
        "uniform_scale",
        "the largest of 8 draws between 0 and the parameter",
        prior(&[("end", Marginal::Gamma { shape: 4.0, rate: 1.0 })]),
        |theta, rng| vec![theta[0] * (0..DRAWS).map(|_| unit(rng)).fold(0.0, f64::max)],
        |theta, x| if (0.0..=theta[0]).contains(&x[0]) { -f64::from(DRAWS) * theta[0].ln() } else { f64::NEG_INFINITY },
    )
}

/// (mean, s²) or (mean, ln s²) of 20 draws: mean ~ N(μ, σ²/20), 19 s²/σ² ~ χ²₁₉.
fn mean_and_variance(name: &'static str, about: &'static str, logarithm: bool) -> Case {
    const DRAWS: usize = 20;
    let degrees = (DRAWS - 1) as f64;
    Case::usual(
        name,
        about,
        prior(&[("mean", normal(0.0, 2.0)), ("log_sd", normal(0.0, 0.7))]),
        move |theta, rng| {
            let sd = theta[1].exp();
            let variance = sd * sd * gamma(rng, 0.5 * degrees) / (0.5 * degrees);
            vec![theta[0] + sd / (DRAWS as f64).sqrt() * gauss(rng), if logarithm { variance.ln() } else { variance }]
        },
        move |theta, x| {
            let variance = if logarithm { x[1].exp() } else { x[1] };
            let sd = theta[1].exp();
            ln_normal(x[0], theta[0], sd / (DRAWS as f64).sqrt()) + ln_gamma_density(variance, 0.5 * degrees, 0.5 * degrees / (sd * sd))
        },
    )
}

fn variance_only() -> Case {
    const HALF: f64 = 4.5;
    Case::usual(
        "variance",
        "the variance of 10 normal draws",
        prior(&[("sd", Marginal::HalfNormal { std: 2.0 })]),
        |theta, rng| vec![theta[0].powi(2) * gamma(rng, HALF) / HALF],
        |theta, x| ln_gamma_density(x[0], HALF, HALF / theta[0].powi(2)),
    )
}

/// The mean and the mean logarithm of 25 gamma draws say all there is about shape and rate.
fn gamma_shape_rate() -> Case {
    const DRAWS: usize = 25;
    let count = DRAWS as f64;
    Case::usual(
        "gamma_shape_rate",
        "mean and mean logarithm of 25 gamma draws",
        prior(&[("log_shape", normal(0.7, 0.5)), ("log_mean", normal(0.0, 0.7))]),
        move |theta, rng| {
            let (shape, mean) = (theta[0].exp(), theta[1].exp());
            let draws: Vec<f64> = (0..DRAWS).map(|_| mean / shape * gamma(rng, shape)).collect();
            vec![draws.iter().sum::<f64>() / count, draws.iter().map(|d| d.ln()).sum::<f64>() / count]
        },
        move |theta, x| {
            let shape = theta[0].exp();
            let rate = shape / theta[1].exp();
            count * (shape * rate.ln() - ln_gamma(shape) + (shape - 1.0) * x[1] - rate * x[0])
        },
    )
}

fn share_seen() -> Case {
    Case::usual(
        "beta_share",
        "a share with a beta prior, seen with noise 0.1",
        prior(&[("share", Marginal::Beta { a: 2.0, b: 5.0 })]),
        |theta, rng| vec![theta[0] + 0.1 * gauss(rng)],
        |theta, x| ln_normal(x[0], theta[0], 0.1),
    )
}
