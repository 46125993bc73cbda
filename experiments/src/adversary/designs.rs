//! Simulations that were not drawn from the prior: proposals, repeated parameters, grids, points of low discrepancy.

use super::case::Case;
use super::densities::{gauss, ln_normal, normal, prior, standard_prior, uniform};
use super::gaussian::{linear, mixing};
use kelfi::prior::Marginal;
use kelfi::{Points, Prior};

/// All of them.
pub fn cases() -> Vec<Case> {
    vec![
        linear("narrow_proposal", "simulations from a tenth of the prior's width", standard_prior(1), mixing(1, 1), 0.5)
            .observing(&[0.3])
            .designed(drawn_from(prior(&[("theta_1", normal(0.0, 0.1))])))
            .odd(),
        linear("narrow_proposal_2", "two parameters, simulations from half the prior's width", standard_prior(2), mixing(2, 2), 0.5)
            .designed(drawn_from(prior(&[("theta_1", normal(0.0, 0.5)), ("theta_2", normal(0.0, 0.5))])))
            .odd(),
        bent()
            .renamed("narrow_box", "an even box of simulations that leaves out part of the posterior")
            .observing(&[1.1])
            .designed(drawn_from(prior(&[("theta_1", uniform(-0.5, 0.9))])))
            .odd(),
        linear("wide_proposal", "simulations from three times the prior's width", standard_prior(1), mixing(1, 1), 0.3)
            .designed(drawn_from(prior(&[("theta_1", normal(0.0, 3.0))])))
            .odd(),
        linear("shifted_proposal", "two parameters, simulations around the observation", standard_prior(2), mixing(2, 2), 0.3)
            .observing(&[1.0, 0.6])
            .designed(drawn_from(prior(&[("theta_1", normal(0.9, 0.6)), ("theta_2", normal(0.4, 0.6))])))
            .odd(),
        bent()
            .renamed("repeated", "five simulations at every parameter value")
            .designed(|count, seed| repeated(&standard_prior(1), count, seed, 5))
            .odd(),
        linear("repeated_2", "two parameters, three simulations at each", standard_prior(2), mixing(2, 2), 0.3)
            .designed(|count, seed| repeated(&standard_prior(2), count, seed, 3))
            .odd(),
        bent().renamed("even_grid", "simulations at even quantiles of the prior").designed(|count, _| quantile_grid(count)).odd(),
        linear(
            "low_discrepancy",
            "two parameters, simulations at a Halton sequence",
            prior(&[("a", uniform(-1.0, 1.0)), ("b", Marginal::Triangular { low: -1.0, mode: 0.0, high: 1.0 })]),
            mixing(2, 2),
            0.2,
        )
        .designed(halton)
        .odd(),
    ]
}

/// x = θ + 0.3 θ² + N(0, 0.3²).
pub fn bent() -> Case {
    let curve = |t: f64| t + 0.3 * t * t;
    Case::usual(
        "bent",
        "a parameter seen through a bent curve, noise 0.3",
        standard_prior(1),
        move |theta, rng| vec![curve(theta[0]) + 0.3 * gauss(rng)],
        move |theta, x| ln_normal(x[0], curve(theta[0]), 0.3),
    )
}

fn drawn_from(proposal: Prior) -> impl Fn(usize, u64) -> Points + Send + Sync {
    move |count, seed| proposal.draw(count, seed)
}

fn repeated(prior: &Prior, count: usize, seed: u64, times: usize) -> Points {
    let distinct = prior.draw(count.div_ceil(times), seed);
    distinct.select(&(0..count).map(|j| j / times).collect::<Vec<_>>())
}

fn quantile_grid(count: usize) -> Points {
    let level = |j: usize| kelfi::special::normal::quantile_of((j as f64 + 0.5) / count as f64);
    Points::from_column((0..count).map(level).collect())
}

/// Points of the bases 2 and 3, mapped to the prior of `low_discrepancy`; the seed says where to begin.
fn halton(count: usize, seed: u64) -> Points {
    let triangular = Marginal::Triangular { low: -1.0, mode: 0.0, high: 1.0 };
    let start = 1 + 1_000 * (seed as usize % 100);
    let rows: Vec<[f64; 2]> =
        (start..start + count).map(|j| [2.0 * radical_inverse(j, 2) - 1.0, triangular.quantile(radical_inverse(j, 3))]).collect();
    Points::from_rows(&rows).expect("rows of two")
}

/// The digits of j in this base, mirrored behind the point.
fn radical_inverse(mut j: usize, base: usize) -> f64 {
    let (mut value, mut place) = (0.0, 1.0);
    while j > 0 {
        place /= base as f64;
        value += place * (j % base) as f64;
        j /= base;
    }
    value
}
