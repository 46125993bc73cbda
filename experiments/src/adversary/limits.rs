//! Statistics that end somewhere or lose part of what they saw: censored, folded, wrapped, rare events.

use super::case::Case;
use super::densities::{
    binomial, gauss, ln_binomial, ln_normal, ln_poisson, ln_sum, normal, poisson, prior, standard_prior, uniform, unit,
};
use kelfi::prior::Marginal;
use kelfi::special::normal::ln_cdf;

/// All of them.
pub fn cases() -> Vec<Case> {
    vec![coin(), rare_events(), survival(), censored().unusual(), folded().unusual(), wrapped().unusual(), zero_inflated().unusual()]
}

/// A single yes or no.
fn coin() -> Case {
    Case::usual(
        "coin",
        "one toss of a coin with an unknown share of heads",
        prior(&[("share", uniform(0.0, 1.0))]),
        |theta, rng| vec![binomial(rng, 1, theta[0])],
        |theta, x| ln_binomial(x[0], 1.0, theta[0]),
    )
}

/// Mostly zeros.
fn rare_events() -> Case {
    Case::usual(
        "rare_events",
        "a Poisson count that is mostly zero",
        prior(&[("rate", Marginal::Exponential { rate: 4.0 })]),
        |theta, rng| vec![poisson(rng, theta[0])],
        |theta, x| ln_poisson(x[0], theta[0]),
    )
}

/// How many of 30 are alive at two times: 30 → first → second.
fn survival() -> Case {
    const START: u64 = 30;
    let alive = |theta: &[f64]| (-theta[0]).exp();
    Case::usual(
        "survival",
        "how many of 30 survive one and two periods",
        prior(&[("hazard", Marginal::Gamma { shape: 2.0, rate: 4.0 })]),
        move |theta, rng| {
            let first = binomial(rng, START, alive(theta));
            vec![first, binomial(rng, first as u64, alive(theta))]
        },
        move |theta, x| ln_binomial(x[0], START as f64, alive(theta)) + ln_binomial(x[1], x[0], alive(theta)),
    )
}

/// Nothing above 0.5 is seen as more than 0.5.
fn censored() -> Case {
    const TOP: f64 = 0.5;
    let sees = |t: f64, x: f64| if x >= TOP { ln_cdf((t - TOP) / 0.4) } else { ln_normal(x, t, 0.4) };
    Case::usual(
        "censored",
        "two readings of an instrument that ends at 0.5",
        standard_prior(1),
        |theta, rng| (0..2).map(|_| (theta[0] + 0.4 * gauss(rng)).min(TOP)).collect(),
        move |theta, x| x.iter().map(|&x| sees(theta[0], x)).sum(),
    )
}

fn folded() -> Case {
    Case::usual(
        "folded",
        "the size of a parameter with noise, without its sign",
        prior(&[("theta", normal(0.5, 1.0))]),
        |theta, rng| vec![(theta[0] + 0.4 * gauss(rng)).abs()],
        |theta, x| ln_sum(ln_normal(x[0], theta[0], 0.4), ln_normal(-x[0], theta[0], 0.4)),
    )
}

/// A phase that starts again after 1; twelve windings hold all the mass.
fn wrapped() -> Case {
    Case::usual(
        "wrapped",
        "the part after the point of a parameter with noise",
        prior(&[("theta", uniform(0.0, 2.0))]),
        |theta, rng| vec![(theta[0] + 0.1 * gauss(rng)).rem_euclid(1.0)],
        |theta, x| (-4..8).map(|turn| ln_normal(x[0] + f64::from(turn), theta[0], 0.1)).fold(f64::NEG_INFINITY, ln_sum),
    )
}

/// A count that is zero with chance ⅓ for another reason.
fn zero_inflated() -> Case {
    Case::usual(
        "zero_inflated",
        "a Poisson count that is lost with chance one third",
        prior(&[("rate", Marginal::Gamma { shape: 4.0, rate: 0.8 })]),
        |theta, rng| {
            let lost = unit(rng) < 1.0 / 3.0;
            vec![if lost { 0.0 } else { poisson(rng, theta[0]) }]
        },
        |theta, x| {
            let count = (2.0_f64 / 3.0).ln() + ln_poisson(x[0], theta[0]);
            if x[0] == 0.0 { ln_sum(count, (1.0_f64 / 3.0).ln()) } else { count }
        },
    )
}
