//! The θ with the largest q(θ|y): local searches in z from the best of many starts.

use crate::optimise::{Settings, maximise};
use crate::posterior::{Form, Posterior};
use crate::{Error, Points};

const STARTS: usize = 200;
const SEARCHES: usize = 6;
/// The search stays within this many prior standard deviations, or as far out as where it starts.
const REACH: f64 = 8.0;
/// Step of the central differences of the prior's ln-density along z.
const STEP: f64 = 1e-5;

/// Maximises ln q(y|θ(z)) + ln p(θ(z)) over z; the density is the one in the user's units.
pub fn mode(posterior: &Posterior) -> Result<Vec<f64>, Error> {
    let prior = posterior.prior();
    let objective = |z: &[f64]| -> Result<f64, Error> {
        let ln_q = posterior.surrogate().ln_relative_values(&Points::new(z.to_vec(), 1, z.len())?)[0];
        Ok(ln_q + ln_prior(posterior, z)?)
    };
    let mut starts: Vec<(f64, Vec<f64>)> = Vec::new();
    for z in candidates(posterior).iter() {
        starts.push((objective(z)?, z.to_vec()));
    }
    starts.sort_by(|a, b| b.0.total_cmp(&a.0));
    starts.retain(|start| start.0.is_finite());
    if starts.is_empty() {
        return Err(Error::Unavailable {
            what: "the mode".into(),
            reason: "the surrogate is positive nowhere near the simulations".into(),
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
        maximise(gradient, start, &low, &high, Settings { longest: 0.5, ..Settings::default() })
    };
    let best = starts.iter().take(SEARCHES).map(|start| search(&start.1)).max_by(|a, b| a.value.total_cmp(&b.value));
    let z = best.map_or_else(|| starts[0].1.clone(), |optimum| optimum.at);
    Ok(prior.from_latent(&z))
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
    if let Form::Mixture(mixture) = posterior.form() {
        for part in mixture.parts() {
            let mut order: Vec<usize> = (0..part.weights.len()).collect();
            order.sort_by(|&i, &j| part.weights[j].total_cmp(&part.weights[i]));
            rows.extend(order.iter().take(STARTS).map(|&j| part.centres.row(j).to_vec()));
        }
    }
    Points::from_rows(&rows).expect("all starts have the dimension of the prior")
}
