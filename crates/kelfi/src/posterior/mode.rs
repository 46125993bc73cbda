//! The θ with the largest q(θ|y): local searches in z from the best of many starts.

use crate::optimise::{StopRule, maximise};
use crate::posterior::independent::summary_draws;
use crate::posterior::{Posterior, Representation};
use crate::{Error, Points};

const STARTS: usize = 200;
const SEARCHES: usize = 8;
/// The search stays within this many prior standard deviations, or as far out as where it starts.
const REACH: f64 = 8.0;
/// Starts closer than this in every coordinate lead to the same place.
const CLOSE: f64 = 0.02;
/// Steps along single coordinates, and the gain below which they become shorter.
const LONGEST_CLIMB: f64 = 0.01;
const MOST_ROUNDS: usize = 40;
const LEAST_GAIN: f64 = 1e-12;
/// Step of the central differences of the prior's ln-density along z.
const STEP: f64 = 1e-5;

/// Maximises ln q(y|θ(z)) + ln p(θ(z)) over z; the density is the one in the user's units.
pub fn mode(posterior: &Posterior) -> Result<Vec<f64>, Error> {
    let prior = posterior.prior();
    let objective = |z: &[f64]| -> Result<f64, Error> {
        let ln_q = posterior.surrogate().ln_relative_values(&Points::new(z.to_vec(), 1, z.len())?)[0];
        Ok(ln_q + ln_prior(posterior, z)?)
    };
    let starts = starts(posterior)?;
    if starts.is_empty() {
        return Err(Error::Unavailable {
            what: "the mode".into(),
            reason: "the surrogate is not positive anywhere near the simulations".into(),
        });
    }
    let gradient = |z: &[f64]| -> (f64, Vec<f64>) {
        let value = objective(z).unwrap_or(f64::NAN);
        let likelihood = posterior.surrogate().ln_gradient(z);
        let slope = |d: usize| {
            let shifted = |by: f64| {
                let mut z = z.to_vec();
                z[d] += by;
                ln_prior(posterior, &z).unwrap_or(f64::NAN)
            };
            likelihood[d] + (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP)
        };
        (value, (0..z.len()).map(slope).collect())
    };
    let search = |start: &Vec<f64>| {
        let low: Vec<f64> = start.iter().map(|z| z.min(-REACH)).collect();
        let high: Vec<f64> = start.iter().map(|z| z.max(REACH)).collect();
        maximise(gradient, start, &low, &high, StopRule { longest: 0.5, ..StopRule::default() })
    };
    let found = starts.iter().map(|start| (start.0, start.1.clone())).chain(starts.iter().map(|start| {
        let optimum = search(&start.1);
        (optimum.value, optimum.at)
    }));
    let (value, z) = found.filter(|(value, _)| value.is_finite()).max_by(|a, b| a.0.total_cmp(&b.0)).expect("starts are finite");
    Ok(prior.from_latent(&climb(z, value, |z| objective(z).unwrap_or(f64::NEG_INFINITY))))
}

/// Steps along single coordinates as long as they lead upwards: what a search by slopes leaves, where they mislead it.
fn climb(mut z: Vec<f64>, mut value: f64, objective: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut step = LONGEST_CLIMB;
    let reach: Vec<f64> = z.iter().map(|z| z.abs().max(REACH)).collect();
    for _ in 0..MOST_ROUNDS {
        let before = value;
        for (d, by) in (0..z.len()).flat_map(|d| [(d, step), (d, -step)]) {
            let mut moved = z.clone();
            moved[d] = (moved[d] + by).clamp(-reach[d], reach[d]);
            let there = objective(&moved);
            if there > value {
                (z, value) = (moved, there);
            }
        }
        if value <= before + LEAST_GAIN {
            step *= 0.5;
        }
    }
    z
}

/// The best of many candidates and of the posterior's own draws, none of them close to a better one.
fn starts(posterior: &Posterior) -> Result<Vec<(f64, Vec<f64>)>, Error> {
    let mut all: Vec<(f64, Vec<f64>)> = vec![];
    for candidates in [candidates(posterior), summary_draws(posterior)?] {
        for (z, ln_q) in candidates.iter().zip(posterior.surrogate().ln_relative_values(&candidates)) {
            if ln_q > f64::NEG_INFINITY {
                all.push((ln_q + ln_prior(posterior, z)?, z.to_vec()));
            }
        }
    }
    all.retain(|start| start.0.is_finite());
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut chosen: Vec<(f64, Vec<f64>)> = vec![];
    for start in all {
        let close = |other: &(f64, Vec<f64>)| start.1.iter().zip(&other.1).all(|(a, b)| (a - b).abs() < CLOSE);
        if chosen.len() < SEARCHES && !chosen.iter().any(close) {
            chosen.push(start);
        }
    }
    Ok(chosen)
}

/// ln p(θ(z)); a prior known by draws only has no density, so the likelihood alone decides.
fn ln_prior(posterior: &Posterior, z: &[f64]) -> Result<f64, Error> {
    match posterior.prior().ln_density(&posterior.prior().from_latent(z)) {
        Err(Error::Unavailable { .. }) => Ok(0.0),
        other => other,
    }
}

/// The most promising simulations and, of a mixture, the centres of its heaviest components.
fn candidates(posterior: &Posterior) -> Points {
    let promising = posterior.surrogate().promising(STARTS);
    let mut rows: Vec<Vec<f64>> = promising.iter().map(<[f64]>::to_vec).collect();
    if let Representation::Mixture(mixture) = posterior.form() {
        for part in mixture.parts() {
            let mut order: Vec<usize> = (0..part.weights.len()).collect();
            order.sort_by(|&i, &j| part.weights[j].total_cmp(&part.weights[i]));
            rows.extend(order.iter().take(STARTS).map(|&j| part.centres.row(j).to_vec()));
        }
    }
    Points::from_rows(&rows).expect("all starts have the dimension of the prior")
}
