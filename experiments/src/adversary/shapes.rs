//! Posteriors of unusual shape: bananas, several modes, rings, steps, oscillations, noise that moves with θ.

use super::case::Case;
use super::densities::{gauss, ln_normal, ln_sum, normal, prior, standard_prior, uniform, unit};

/// All of them.
pub fn cases() -> Vec<Case> {
    vec![
        seen_through("square", "the square of a parameter, noise 0.2", |t| t * t, 0.2),
        seen_through("saturating", "a parameter seen through 3 tanh, noise 0.2", |t| 3.0 * t.tanh(), 0.2),
        seen_through("cube", "the cube of a parameter, noise 0.3", |t| t.powi(3), 0.3),
        banana(),
        sides(),
        heteroscedastic(),
        four_modes().unusual(),
        ring().unusual(),
        oscillation("sine_40", "the sine of 40 times a parameter between 0 and 1, noise 0.2", 40.0, 0.2).unusual(),
        oscillation("sine_12", "the sine of 12 times a parameter between 0 and 1, noise 0.2", 12.0, 0.2).unusual(),
        seen_through("step", "a parameter rounded down to halves, noise 0.1", |t| (2.0 * t).floor() / 2.0, 0.1).unusual(),
        moving_correlation().unusual(),
    ]
}

fn seen_through(name: &'static str, about: &'static str, curve: fn(f64) -> f64, noise: f64) -> Case {
    Case::usual(
        name,
        about,
        standard_prior(1),
        move |theta, rng| vec![curve(theta[0]) + noise * gauss(rng)],
        move |theta, x| ln_normal(x[0], curve(theta[0]), noise),
    )
}

fn banana() -> Case {
    Case::usual(
        "banana",
        "a seen vaguely, b + a² sharply",
        prior(&[("a", normal(0.0, 1.0)), ("b", normal(0.0, 1.0))]),
        |theta, rng| vec![theta[0] + gauss(rng), theta[1] + theta[0].powi(2) + 0.25 * gauss(rng)],
        |theta, x| ln_normal(x[0], theta[0], 1.0) + ln_normal(x[1], theta[1] + theta[0].powi(2), 0.25),
    )
}

/// x is θ or -θ, by a coin.
fn sides() -> Case {
    Case::usual(
        "mixture_sides",
        "a parameter or its negative by a coin, noise 0.3",
        prior(&[("theta", normal(1.0, 1.0))]),
        |theta, rng| vec![if unit(rng) < 0.5 { theta[0] } else { -theta[0] } + 0.3 * gauss(rng)],
        |theta, x| ln_sum(ln_normal(x[0], theta[0], 0.3), ln_normal(x[0], -theta[0], 0.3)),
    )
}

fn heteroscedastic() -> Case {
    let noise = |t: f64| 0.1 + 0.3 * t.abs();
    Case::usual(
        "heteroscedastic",
        "a parameter seen with noise that grows with it",
        standard_prior(1),
        move |theta, rng| vec![theta[0] + noise(theta[0]) * gauss(rng)],
        move |theta, x| ln_normal(x[0], theta[0], noise(theta[0])),
    )
}

fn four_modes() -> Case {
    Case::usual(
        "four_modes",
        "the squares of two parameters, noise 0.3",
        standard_prior(2),
        |theta, rng| theta.iter().map(|t| t * t + 0.3 * gauss(rng)).collect(),
        |theta, x| (0..2).map(|d| ln_normal(x[d], theta[d].powi(2), 0.3)).sum(),
    )
}

fn ring() -> Case {
    Case::usual(
        "ring",
        "the distance of two parameters from the origin, noise 0.2",
        standard_prior(2),
        |theta, rng| vec![theta[0].hypot(theta[1]) + 0.2 * gauss(rng)],
        |theta, x| ln_normal(x[0], theta[0].hypot(theta[1]), 0.2),
    )
}

fn oscillation(name: &'static str, about: &'static str, frequency: f64, noise: f64) -> Case {
    Case::usual(
        name,
        about,
        prior(&[("phase", uniform(0.0, 1.0))]),
        move |theta, rng| vec![(frequency * theta[0]).sin() + noise * gauss(rng)],
        move |theta, x| ln_normal(x[0], (frequency * theta[0]).sin(), noise),
    )
}

/// Two statistics of mean 0 and variance 1 whose correlation is tanh θ.
fn moving_correlation() -> Case {
    Case::usual(
        "moving_correlation",
        "three pairs of statistics whose correlation is all that the parameter moves",
        standard_prior(1),
        |theta, rng| {
            let correlation = theta[0].tanh();
            let rest = (1.0 - correlation * correlation).sqrt();
            (0..3)
                .flat_map(|_| {
                    let u = gauss(rng);
                    [u, correlation * u + rest * gauss(rng)]
                })
                .collect()
        },
        |theta, x| {
            let correlation = theta[0].tanh();
            let rest = (1.0 - correlation * correlation).sqrt();
            x.chunks(2).map(|pair| ln_normal(pair[1], correlation * pair[0], rest)).sum()
        },
    )
}
