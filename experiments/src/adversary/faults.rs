//! What goes wrong around a simulator: impossible observations, conflict with the prior, failures, no noise, statistics that repeat others.

use super::case::{Answer, Case};
use super::counts::rounded;
use super::densities::{exponential, gauss, ln_gamma_density, ln_normal, prior, standard_prior, unit};
use super::gaussian::{linear, mixing};
use kelfi::prior::Marginal;
use rand::Rng;

/// All of them.
pub fn cases() -> Vec<Case> {
    vec![
        conflict("conflict_35", "an observation 3.5 predictive standard deviations out", 0.5, 3.5),
        conflict("conflict_42", "an observation 4.2 predictive standard deviations out", 0.5, 4.2),
        conflict("conflict_noisy", "an observation 3.8 predictive standard deviations out, noise as large as the prior", 1.0, 3.8),
        linear("conflict_2", "two parameters, an observation 4 standard deviations out", standard_prior(2), mixing(2, 2), 0.5)
            .observing(&[3.6, 3.2])
            .odd(),
        rare_rate(),
        with_constant("constant", "a statistic that is always 7, and was 7"),
        with_constant("constant_broken", "a statistic that is always 7, and was 8").spoiled(|y| y[1] = 8.0),
        with_multiple("multiple", "a statistic that is always twice another, and was"),
        with_multiple("multiple_broken", "a statistic that is always twice another, and was not").spoiled(|y| y[1] += 1.0),
        near_duplicate(),
        linear("units_slip", "an observation in other units: a thousand times too large", standard_prior(2), mixing(2, 2), 0.3)
            .spoiled(|y| y.iter_mut().for_each(|value| *value = 1000.0 * (value.abs() + 1.0))),
        rare_units_slip(),
        beyond_reach(),
        fails_above().odd(),
        fails_sometimes().odd(),
        rounded(),
        deterministic("deterministic", "no noise at all: the parameter and a third of its cube", |t| t + t.powi(3) / 3.0),
        deterministic("deterministic_line", "no noise at all: a straight line", |t| 2.0 * t + 1.0),
        deterministic_sum(),
    ]
}

/// x = θ + N(0, s²) seen `out` predictive standard deviations from the prior mean.
fn conflict(name: &'static str, about: &'static str, noise: f64, out: f64) -> Case {
    linear(name, about, standard_prior(1), mixing(1, 1), noise).observing(&[out * noise.hypot(1.0)]).odd()
}

/// A mean wait that is four times longer than the prior expects.
fn rare_rate() -> Case {
    const DRAWS: usize = 10;
    Case::usual(
        "conflict_waits",
        "a mean wait far longer than the prior expects",
        prior(&[("rate", Marginal::Gamma { shape: 8.0, rate: 4.0 })]),
        |theta, rng| vec![(0..DRAWS).map(|_| exponential(rng)).sum::<f64>() / DRAWS as f64 / theta[0]],
        |theta, x| ln_gamma_density(x[0] * DRAWS as f64, DRAWS as f64, theta[0]),
    )
    .observing(&[2.4])
    .odd()
}

fn with_constant(name: &'static str, about: &'static str) -> Case {
    Case::usual(
        name,
        about,
        standard_prior(1),
        |theta, rng| vec![theta[0] + 0.4 * gauss(rng), 7.0],
        |theta, x| ln_normal(x[0], theta[0], 0.4),
    )
    .odd()
}

fn with_multiple(name: &'static str, about: &'static str) -> Case {
    Case::usual(
        name,
        about,
        standard_prior(1),
        |theta, rng| {
            let x = theta[0] + 0.4 * gauss(rng);
            vec![x, 2.0 * x]
        },
        |theta, x| ln_normal(x[0], theta[0], 0.4),
    )
    .odd()
}

fn near_duplicate() -> Case {
    const APART: f64 = 1e-5;
    Case::usual(
        "near_duplicate",
        "a statistic and almost the same again",
        standard_prior(1),
        |theta, rng| {
            let x = theta[0] + 0.4 * gauss(rng);
            vec![x, x + APART * gauss(rng)]
        },
        |theta, x| ln_normal(x[0], theta[0], 0.4),
    )
    .unusual()
}

fn rare_units_slip() -> Case {
    Case::usual(
        "units_slip_positive",
        "a positive parameter; the observation is a thousand times too large",
        prior(&[("scale", Marginal::Uniform { low: 0.5, high: 2.0 })]),
        |theta, rng| vec![theta[0] * (0.2 * gauss(rng)).exp()],
        |theta, x| ln_normal(x[0].ln(), theta[0].ln(), 0.2),
    )
    .spoiled(|y| y[0] *= 1000.0)
}

/// Two statistics that agree in all simulations but not in the observation.
fn beyond_reach() -> Case {
    Case::usual(
        "contradiction",
        "two statistics of one parameter that contradict each other",
        standard_prior(1),
        |theta, rng| vec![theta[0] + 0.1 * gauss(rng), theta[0] + 0.1 * gauss(rng)],
        |theta, x| ln_normal(x[0], theta[0], 0.1) + ln_normal(x[1], theta[0], 0.1),
    )
    .spoiled(|y| (y[0], y[1]) = (-1.0, 1.0))
}

/// No run succeeds above 0.8.
fn fails_above() -> Case {
    Case::usual(
        "fails_above",
        "every run with a parameter above 0.8 fails",
        standard_prior(1),
        |theta, rng| vec![if theta[0] > 0.8 { f64::NAN } else { theta[0] + 0.5 * gauss(rng) }],
        |theta, x| if theta[0] > 0.8 { f64::NEG_INFINITY } else { ln_normal(x[0], theta[0], 0.5) },
    )
}

/// Runs fail more often the larger the parameter is.
fn fails_sometimes() -> Case {
    let success = |t: f64| 1.0 / (1.0 + (2.0 * t - 1.0).exp());
    Case::usual(
        "fails_sometimes",
        "runs fail more often the larger the parameter is",
        standard_prior(1),
        move |theta, rng| vec![if unit(rng) < success(theta[0]) { theta[0] + 0.7 * gauss(rng) } else { f64::NAN }],
        move |theta, x| success(theta[0]).ln() + ln_normal(x[0], theta[0], 0.7),
    )
}

fn deterministic(name: &'static str, about: &'static str, curve: fn(f64) -> f64) -> Case {
    let simulate = move |theta: &[f64], _: &mut dyn Rng| vec![curve(theta[0])];
    let case = Case::usual(name, about, standard_prior(1), simulate, |_, _| 0.0);
    Case { answer: Answer::Point, ..case.odd() }
}

/// θ₁ + θ₂ = y leaves N(y/2, ½) for each.
fn deterministic_sum() -> Case {
    /// The grid of the reference resolves it; the exact standard deviation is changed by a thousandth.
    const BLUR: f64 = 0.06;
    Case::usual(
        "deterministic_sum",
        "no noise at all: the sum of two parameters",
        standard_prior(2),
        |theta, _| vec![theta[0] + theta[1]],
        |theta, x| ln_normal(x[0], theta[0] + theta[1], BLUR),
    )
    .odd()
}
