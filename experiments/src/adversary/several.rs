//! Several parameters that act together: products, ratios, groups, curves with three parameters, spreads.

use super::case::Case;
use super::densities::{gamma, gauss, ln_gamma_density, ln_normal, normal, prior, standard_prior};
use kelfi::prior::Marginal;

/// All of them.
pub fn cases() -> Vec<Case> {
    vec![
        two_groups(),
        three_parameter_decay(),
        many_means(),
        product().unusual(),
        ratio().unusual(),
        spread_of_draws("spread_1", "one raw draw whose spread is the parameter", 1).unusual(),
        spread_of_draws("spread_5", "five raw draws whose spread is the parameter", 5).unusual(),
        chaos().unusual(),
    ]
}

/// Means of two groups of 12 and ln of their pooled variance.
fn two_groups() -> Case {
    const GROUP: f64 = 12.0;
    const HALF: f64 = 11.0;
    Case::usual(
        "two_groups",
        "means of two groups of 12 and their pooled log variance",
        prior(&[("mean", normal(0.0, 1.0)), ("effect", normal(0.0, 1.0)), ("log_sd", normal(0.0, 0.5))]),
        |theta, rng| {
            let sd = theta[2].exp();
            let error = sd / GROUP.sqrt();
            vec![theta[0] + error * gauss(rng), theta[0] + theta[1] + error * gauss(rng), (sd * sd * gamma(rng, HALF) / HALF).ln()]
        },
        |theta, x| {
            let sd = theta[2].exp();
            let error = sd / GROUP.sqrt();
            ln_normal(x[0], theta[0], error)
                + ln_normal(x[1], theta[0] + theta[1], error)
                + ln_gamma_density(x[2].exp(), HALF, HALF / (sd * sd))
        },
    )
}

fn three_parameter_decay() -> Case {
    const NOISE: f64 = 0.1;
    let at = |theta: &[f64], k: usize| theta[0] * (-theta[1] * 0.5 * k as f64).exp() + theta[2];
    Case::usual(
        "decay_floor",
        "amplitude, rate and floor of a decay at 8 times, noise 0.1",
        prior(&[
            ("amplitude", Marginal::LogNormal { mean: 0.5, std: 0.4 }),
            ("rate", Marginal::LogNormal { mean: 0.0, std: 0.4 }),
            ("floor", normal(0.5, 0.3)),
        ]),
        move |theta, rng| (0..8).map(|k| at(theta, k) + NOISE * gauss(rng)).collect(),
        move |theta, x| (0..8).map(|k| ln_normal(x[k], at(theta, k), NOISE)).sum(),
    )
}

/// Twenty noisy looks at two parameters.
fn many_means() -> Case {
    let at = |theta: &[f64], k: usize| theta[0] + theta[1] * (k as f64 / 19.0 - 0.5);
    Case::usual(
        "many_statistics",
        "twenty points of a straight line, noise 1",
        standard_prior(2),
        move |theta, rng| (0..20).map(|k| at(theta, k) + gauss(rng)).collect(),
        move |theta, x| (0..20).map(|k| ln_normal(x[k], at(theta, k), 1.0)).sum(),
    )
}

fn product() -> Case {
    Case::usual(
        "product",
        "the product of two parameters, noise 0.2",
        standard_prior(2),
        |theta, rng| vec![theta[0] * theta[1] + 0.2 * gauss(rng)],
        |theta, x| ln_normal(x[0], theta[0] * theta[1], 0.2),
    )
}

fn ratio() -> Case {
    let positive = Marginal::LogNormal { mean: 0.0, std: 0.7 };
    Case::usual(
        "ratio",
        "the ratio of two positive parameters, and the second vaguely",
        prior(&[("above", positive.clone()), ("below", positive)]),
        |theta, rng| vec![theta[0] / theta[1] * (0.1 * gauss(rng)).exp(), theta[1] + 0.5 * gauss(rng)],
        |theta, x| {
            if x[0] > 0.0 {
                ln_normal(x[0].ln(), (theta[0] / theta[1]).ln(), 0.1) + ln_normal(x[1], theta[1], 0.5)
            } else {
                f64::NEG_INFINITY
            }
        },
    )
}

fn spread_of_draws(name: &'static str, about: &'static str, draws: usize) -> Case {
    Case::usual(
        name,
        about,
        prior(&[("log_sd", normal(0.0, 1.0))]),
        move |theta, rng| (0..draws).map(|_| theta[0].exp() * gauss(rng)).collect(),
        |theta, x| x.iter().map(|&x| ln_normal(x, 0.0, theta[0].exp())).sum(),
    )
}

/// The fourth step of a chaotic map: a curve with eight bends.
fn chaos() -> Case {
    let fourth = |start: f64| (0..4).fold(start, |at, _| 3.9 * at * (1.0 - at));
    Case::usual(
        "chaos",
        "the fourth step of the logistic map from an unknown start, noise 0.1",
        prior(&[("start", Marginal::Beta { a: 2.0, b: 2.0 })]),
        move |theta, rng| vec![fourth(theta[0]) + 0.1 * gauss(rng)],
        move |theta, x| ln_normal(x[0], fourth(theta[0]), 0.1),
    )
}
