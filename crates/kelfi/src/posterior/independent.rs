//! Independent samples from the positive part [q(θ|y)]⁺: exact rejection where it is affordable, importance resampling elsewhere.

use crate::mixture::signed::SignedMixture;
use crate::posterior::{Posterior, Representation};
use crate::random::{Purpose, stream};
use crate::{Error, Points};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

/// Below this share of accepted proposals, resampling takes over.
const LEAST_ACCEPTANCE: f64 = 0.01;
/// Proposals per sample asked for when resampling.
const POOL_PER_SAMPLE: usize = 4;
const SMALLEST_POOL: usize = 20_000;
/// Proposals per sample before resampling takes over after all: (1 - LEAST_ACCEPTANCE)^2000 = 2e-9.
const MOST_PROPOSALS: usize = 2_000;

/// Samples in θ units with how much they are worth.
#[derive(Debug, Clone)]
pub struct IndependentSamples {
    /// The samples, one a row.
    pub samples: Points,
    /// How many truly independent samples they are worth.
    pub effective_sample_size: f64,
}

/// `count` samples; sample i depends on (seed, i) only when rejection is used.
pub fn independent(posterior: &Posterior, count: usize, seed: u64) -> Result<IndependentSamples, Error> {
    independent_while(posterior, count, seed, &mut || true)
}

/// [`independent`], where `go_on` is asked now and then whether to continue if chains have to be run.
pub fn independent_while(
    posterior: &Posterior,
    count: usize,
    seed: u64,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<IndependentSamples, Error> {
    let (z, effective_sample_size) = latent(posterior, count, seed, go_on)?;
    Ok(IndependentSamples { samples: posterior.prior().from_latent_points(&z), effective_sample_size })
}

/// The samples in z coordinates and their effective number.
pub(crate) fn latent(posterior: &Posterior, count: usize, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Result<(Points, f64), Error> {
    let dimension = posterior.prior().dimension();
    if count == 0 {
        return Ok((Points::zeros(0, dimension), 0.0));
    }
    match posterior.form() {
        Representation::Chained(chained) => {
            let drawn = chained.draw(posterior.surrogate().as_ref(), count, seed, go_on)?;
            let effective = drawn.effective.iter().copied().fold(count as f64, f64::min);
            Ok((drawn.z, effective))
        }
        Representation::Draws(draws) => resample(draws.z(), draws.weights(), count, seed),
        Representation::Mixture(mixture) => {
            let acceptance = posterior.negative_mass().positive_mass / mixture.positive_weight();
            if acceptance >= LEAST_ACCEPTANCE
                && let Some(accepted) = reject(mixture, count, seed)
            {
                return Ok((accepted, count as f64));
            }
            let (pool, weights) = pool(posterior, mixture, (POOL_PER_SAMPLE * count).max(SMALLEST_POOL), seed);
            resample(&pool, &weights, count, seed)
        }
    }
}

/// Draws that say where the posterior lies, in z coordinates: of those that its moments rest on, or independent ones where these are closed forms.
pub(crate) fn summary_draws(posterior: &Posterior) -> Result<Points, Error> {
    const DRAWS: usize = 4_000;
    match posterior.clipped() {
        Some(clipped) => Ok(clipped.draws.resampled(DRAWS).z().clone()),
        None => Ok(latent(posterior, DRAWS, 0, &mut || true)?.0),
    }
}

/// Proposals from the positive components, kept with probability [q]⁺ / q₊: exact, since q ≤ q₊ everywhere.
/// `None` when some sample is not accepted in time: the estimate of the positive mass was too optimistic.
fn reject(mixture: &SignedMixture, count: usize, seed: u64) -> Option<Points> {
    let mut accepted = Points::zeros(count, mixture.dimension());
    let mut open: Vec<(usize, ChaCha8Rng)> = (0..count).map(|i| (i, stream(seed, Purpose::Samples, i as u64))).collect();
    for _ in 0..MOST_PROPOSALS {
        if open.is_empty() {
            break;
        }
        let rows: Vec<Vec<f64>> = open.iter_mut().map(|(_, rng)| mixture.draw_positive(rng)).collect();
        let z = Points::from_rows(&rows).expect("every proposal has the same number of coordinates");
        let (values, bounds) = (mixture.values(&z), mixture.positive_values(&z));
        let mut row = 0;
        open.retain_mut(|(i, rng)| {
            let keep = rng.random::<f64>() * bounds[row] <= values[row];
            if keep {
                accepted.row_mut(*i).copy_from_slice(z.row(row));
            }
            row += 1;
            !keep
        });
    }
    open.is_empty().then_some(accepted)
}

/// Proposals from prior and positive components in equal numbers, with weights [q]⁺ / (their mean density).
fn pool(posterior: &Posterior, mixture: &SignedMixture, size: usize, seed: u64) -> (Points, Vec<f64>) {
    let latent = posterior.prior().latent();
    let propose = |i: usize| {
        let mut rng = stream(seed, Purpose::Samples, i as u64);
        if i.is_multiple_of(2) { latent.draw_with(&mut rng) } else { mixture.draw_positive(&mut rng) }
    };
    let rows: Vec<Vec<f64>> = (0..size).map(propose).collect();
    let z = Points::from_rows(&rows).expect("every proposal has the same number of coordinates");
    let (values, bounds) = (mixture.values(&z), mixture.positive_values(&z));
    let weigh = |((z, q), p): ((&[f64], f64), f64)| {
        let proposal = latent.ln_density(z).map_or(0.0, f64::exp) + p / mixture.positive_weight();
        if proposal > 0.0 { q.max(0.0) / proposal } else { 0.0 }
    };
    let weights = z.iter().zip(values).zip(bounds).map(weigh).collect();
    (z, weights)
}

/// Systematic resampling by the positive part of the weights, in random order; the effective number is (Σw)²/Σw².
fn resample(pool: &Points, weights: &[f64], count: usize, seed: u64) -> Result<(Points, f64), Error> {
    let mut rng = stream(seed, Purpose::Samples, u64::MAX);
    let positive: Vec<f64> = weights.iter().map(|w| w.max(0.0)).collect();
    let total: f64 = positive.iter().sum();
    if !(total > 0.0 && total.is_finite()) {
        return Err(Error::Unavailable {
            what: "independent samples".into(),
            reason: format!("the surrogate posterior is positive at none of {} proposals; use a larger λ or a larger ε", pool.rows()),
        });
    }
    let positive: Vec<f64> = positive.into_iter().map(|w| w / total).collect();
    let total = 1.0;
    let effective = total * total / positive.iter().map(|w| w * w).sum::<f64>();
    let offset: f64 = rng.random();
    let mut chosen = Vec::with_capacity(count);
    let (mut at, mut below) = (0, positive[0]);
    for s in 0..count {
        let target = (s as f64 + offset) / count as f64 * total;
        while below < target && at + 1 < positive.len() {
            at += 1;
            below += positive[at];
        }
        chosen.push(at);
    }
    shuffle(&mut chosen, &mut rng);
    Ok((pool.select(&chosen), effective.min(count as f64)))
}

fn shuffle(items: &mut [usize], rng: &mut dyn Rng) {
    for i in (1..items.len()).rev() {
        let j = (rng.random::<f64>() * (i + 1) as f64) as usize;
        items.swap(i, j.min(i));
    }
}
