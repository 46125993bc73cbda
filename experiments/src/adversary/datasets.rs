//! A data set itself as statistics: quantiles, histograms, order statistics, raw draws. They depend on each other.

use super::case::Case;
use super::densities::{exponential, gauss, ln_normal, ln_sum, normal, power, prior, standard_prior, uniform, unit};
use kelfi::prior::Marginal;
use kelfi::special::normal::cdf;

/// All of them; none is usual, since better statistics are at hand.
pub fn cases() -> Vec<Case> {
    [quantiles(), histogram(), order_statistics(), mixture_draws(), pairs(), raw_normal(), raw_series()]
        .into_iter()
        .map(Case::unusual)
        .collect()
}

/// Quantiles at 0.1, …, 0.9 of 49 draws are the order statistics 5, 10, …, 45; four draws lie in each gap.
fn quantiles() -> Case {
    const DRAWS: usize = 49;
    Case::usual(
        "quantiles_9",
        "nine quantiles of 49 normal draws",
        prior(&[("mean", normal(0.0, 2.0)), ("log_sd", normal(0.0, 0.7))]),
        |theta, rng| {
            let mut draws: Vec<f64> = (0..DRAWS).map(|_| theta[0] + theta[1].exp() * gauss(rng)).collect();
            draws.sort_by(f64::total_cmp);
            (1..=9).map(|k| draws[5 * k - 1]).collect()
        },
        |theta, x| {
            let sd = theta[1].exp();
            let below = |value: f64| cdf((value - theta[0]) / sd);
            let mut last = 0.0;
            let mut sum = 0.0;
            for &value in x {
                let here = below(value);
                sum += power(4.0, here - last) + ln_normal(value, theta[0], sd);
                last = here;
            }
            sum + power(4.0, cdf((theta[0] - x[8]) / sd))
        },
    )
}

fn histogram() -> Case {
    const DRAWS: usize = 50;
    const ENDS: [f64; 7] = [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0];
    Case::usual(
        "histogram_8",
        "a histogram of 50 normal draws in 8 bins",
        prior(&[("mean", normal(0.0, 1.0)), ("log_sd", normal(0.0, 0.5))]),
        |theta, rng| {
            let mut counts = vec![0.0; 8];
            for _ in 0..DRAWS {
                let draw = theta[0] + theta[1].exp() * gauss(rng);
                counts[ENDS.partition_point(|end| *end < draw)] += 1.0;
            }
            counts
        },
        |theta, x| {
            let below: Vec<f64> = ENDS.iter().map(|end| cdf((end - theta[0]) / theta[1].exp())).collect();
            let share = |k: usize| if k == 7 { 1.0 } else { below[k] } - if k == 0 { 0.0 } else { below[k - 1] };
            (0..8).map(|k| power(x[k], share(k).max(1e-300))).sum()
        },
    )
}

fn order_statistics() -> Case {
    Case::usual(
        "order_statistics",
        "five exponential waits in ascending order",
        prior(&[("rate", Marginal::LogNormal { mean: 0.0, std: 1.0 })]),
        |theta, rng| {
            let mut draws: Vec<f64> = (0..5).map(|_| exponential(rng) / theta[0]).collect();
            draws.sort_by(f64::total_cmp);
            draws
        },
        |theta, x| 5.0 * theta[0].ln() - theta[0] * x.iter().sum::<f64>(),
    )
}

fn mixture_draws() -> Case {
    Case::usual(
        "mixture_draws",
        "six raw draws from two groups, one at 0 and one at the parameter",
        prior(&[("place", uniform(-4.0, 4.0)), ("share", uniform(0.1, 0.9))]),
        |theta, rng| (0..6).map(|_| if unit(rng) < theta[1] { theta[0] } else { 0.0 } + 0.5 * gauss(rng)).collect(),
        |theta, x| {
            let one = |&x: &f64| ln_sum(theta[1].ln() + ln_normal(x, theta[0], 0.5), (1.0 - theta[1]).ln() + ln_normal(x, 0.0, 0.5));
            x.iter().map(one).sum()
        },
    )
}

fn pairs() -> Case {
    Case::usual(
        "pairs_4",
        "four raw pairs with unknown mean and correlation",
        prior(&[("mean", normal(0.0, 1.0)), ("correlation", uniform(-0.95, 0.95))]),
        |theta, rng| {
            let rest = (1.0 - theta[1] * theta[1]).sqrt();
            (0..4)
                .flat_map(|_| {
                    let u = gauss(rng);
                    [theta[0] + u, theta[0] + theta[1] * u + rest * gauss(rng)]
                })
                .collect()
        },
        |theta, x| {
            let rest = (1.0 - theta[1] * theta[1]).sqrt();
            x.chunks(2)
                .map(|pair| ln_normal(pair[0], theta[0], 1.0) + ln_normal(pair[1], theta[0] + theta[1] * (pair[0] - theta[0]), rest))
                .sum()
        },
    )
}

fn raw_normal() -> Case {
    Case::usual(
        "raw_normal_8",
        "eight raw draws with unknown mean and spread",
        prior(&[("mean", normal(0.0, 1.0)), ("log_sd", normal(-0.5, 0.5))]),
        |theta, rng| (0..8).map(|_| theta[0] + theta[1].exp() * gauss(rng)).collect(),
        |theta, x| x.iter().map(|&x| ln_normal(x, theta[0], theta[1].exp())).sum(),
    )
}

fn raw_series() -> Case {
    Case::usual(
        "raw_series_8",
        "eight raw values of a first-order autoregression",
        standard_prior(1),
        |theta, rng| {
            let mut last = 1.0;
            (0..8)
                .map(|_| {
                    last = theta[0].tanh() * last + 0.5 * gauss(rng);
                    last
                })
                .collect()
        },
        |theta, x| (0..8).map(|k| ln_normal(x[k], theta[0].tanh() * if k > 0 { x[k - 1] } else { 1.0 }, 0.5)).sum(),
    )
}
