//! Counts: Poisson, binomial, negative binomial, multinomial.

use super::case::Case;
use super::densities::{binomial, gamma, ln_binomial, ln_poisson, normal, poisson, power, prior, standard_prior};
use kelfi::prior::Marginal;
use kelfi::special::gamma::ln_gamma;
use rand::Rng;

/// All of them.
pub fn cases() -> Vec<Case> {
    vec![
        poisson_rate("poisson_small", "a Poisson count with a mean of about 2", Marginal::Gamma { shape: 2.0, rate: 1.0 }),
        poisson_rate("poisson_large", "a Poisson count with a mean of about 100", Marginal::Gamma { shape: 5.0, rate: 0.05 }),
        binomial_share("binomial_20", "successes among 20, any share alike", 20, 1.0, 1.0),
        binomial_share("binomial_5", "successes among 5, a share near one half", 5, 2.0, 2.0),
        binomial_share("binomial_500", "successes among 500, a small share", 500, 1.0, 20.0),
        two_rates(),
        groups(),
        categories(),
    ]
}

fn poisson_rate(name: &'static str, about: &'static str, rate: Marginal) -> Case {
    Case::usual(name, about, prior(&[("rate", rate)]), |theta, rng| vec![poisson(rng, theta[0])], |theta, x| ln_poisson(x[0], theta[0]))
}

fn binomial_share(name: &'static str, about: &'static str, trials: u64, a: f64, b: f64) -> Case {
    Case::usual(
        name,
        about,
        prior(&[("share", Marginal::Beta { a, b })]),
        move |theta, rng| vec![binomial(rng, trials, theta[0])],
        move |theta, x| ln_binomial(x[0], trials as f64, theta[0]),
    )
}

fn two_rates() -> Case {
    let rate = Marginal::Gamma { shape: 3.0, rate: 0.3 };
    Case::usual(
        "poisson_background",
        "counts of background, and of background with a signal",
        prior(&[("background", rate.clone()), ("signal", rate)]),
        |theta, rng| vec![poisson(rng, theta[0]), poisson(rng, theta[0] + theta[1])],
        |theta, x| ln_poisson(x[0], theta[0]) + ln_poisson(x[1], theta[0] + theta[1]),
    )
}

/// Each of 5 groups has its own rate, gamma with shape 2 and mean θ: the total is negative binomial with shape 10.
fn groups() -> Case {
    const GROUPS: usize = 5;
    const SHAPE: f64 = 2.0;
    let all = GROUPS as f64 * SHAPE;
    let total = |theta: &[f64], rng: &mut dyn Rng| -> f64 {
        (0..GROUPS)
            .map(|_| {
                let rate = theta[0] / SHAPE * gamma(rng, SHAPE);
                poisson(rng, rate)
            })
            .sum()
    };
    Case::usual(
        "gamma_poisson",
        "the total count of five groups, each with a rate of its own",
        prior(&[("mean_rate", Marginal::LogNormal { mean: 1.5, std: 0.7 })]),
        move |theta, rng| vec![total(theta, rng)],
        move |theta, x| {
            let odds = theta[0] / SHAPE;
            ln_gamma(x[0] + all) + power(x[0], odds / (1.0 + odds)) - all * odds.ln_1p()
        },
    )
}

fn categories() -> Case {
    const DRAWS: u64 = 60;
    let shares = |theta: &[f64]| {
        let (a, b) = (theta[0].exp(), theta[1].exp());
        [a / (1.0 + a + b), b / (1.0 + a + b), 1.0 / (1.0 + a + b)]
    };
    Case::usual(
        "multinomial",
        "60 draws from three categories, log-odds unknown",
        prior(&[("first", normal(0.0, 1.0)), ("second", normal(0.0, 1.0))]),
        move |theta, rng| {
            let p = shares(theta);
            let first = binomial(rng, DRAWS, p[0]);
            vec![first, binomial(rng, DRAWS - first as u64, p[1] / (1.0 - p[0]))]
        },
        move |theta, x| {
            let p = shares(theta);
            power(x[0], p[0]) + power(x[1], p[1]) + power(DRAWS as f64 - x[0] - x[1], p[2])
        },
    )
}

/// A normal parameter and its value rounded to halves: many ties.
pub fn rounded() -> Case {
    const STEP: f64 = 0.5;
    Case::usual(
        "rounded",
        "a parameter seen with noise 0.4, rounded to halves",
        standard_prior(1),
        |theta, rng| vec![((theta[0] + 0.4 * kelfi::random::standard_normal(rng)) / STEP).round() * STEP],
        |theta, x| {
            let at = |end: f64| kelfi::special::normal::cdf((end - theta[0]) / 0.4);
            (at(x[0] + 0.5 * STEP) - at(x[0] - 0.5 * STEP)).max(0.0).ln()
        },
    )
}
