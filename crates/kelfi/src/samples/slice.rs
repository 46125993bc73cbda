//! Elliptical slice sampling of [q(y|θ)]⁺ p(θ) in z coordinates, many chains at once.
//!
//! A step from z draws a level ln t below the target and a second point of a Gaussian N(c, S), and looks on the ellipse through both
//! for a point above the level, shrinking the arc towards z: nothing to tune, every step moves (Murray, Adams & MacKay 2010).
//! The Gaussian is the prior while chains find the posterior, then one fitted to the chains (Nishihara, Murray & Adams 2014),
//! with the target divided by it. Chains start from the best of many prior draws and simulations, in proportion to the target.

use super::agreement::agreement;
use super::jumps::Jumps;
use super::reference::Reference;
use crate::model::Surrogate;
use crate::prior::LatentPrior;
use crate::random::{Purpose, stream};
use crate::{Error, Points, Posterior};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Chains run side by side.
pub const CHAINS: usize = 100;
/// Prior draws among which chains find their start.
const POOL: usize = 4_000;
/// Steps with the prior's ellipse, with that of a first fit, and with that of the last fit.
const WARM_UP: [usize; 3] = [12, 10, 10];
/// Steps per sample kept.
const THINNING: usize = 2;
/// Jumps tried after each step along an ellipse: one evaluation each, where an ellipse takes several.
const JUMPS: usize = 3;
/// An arc shrunk this often has become a point.
const MOST_SHRINKS: usize = 60;

/// Chains that have found the posterior.
#[derive(Debug, Clone)]
pub struct Chains {
    states: Points,
    /// ln of the target at each state.
    values: Vec<f64>,
    reference: Reference,
    jumps: Option<Jumps>,
}

/// What chains gave.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// Samples in z coordinates: those of one step of all chains stand together.
    pub z: Points,
    /// Agreement of the chains for each coordinate: split R-hat, 1 is perfect.
    pub r_hat: Vec<f64>,
    /// Independent samples they are worth, for each coordinate.
    pub effective: Vec<f64>,
}

/// Samples in θ units with what the chains say about them.
#[derive(Debug, Clone)]
pub struct SliceSamples {
    /// The samples, one a row.
    pub samples: Points,
    /// Split R-hat of each z coordinate: 1 is perfect.
    pub r_hat: Vec<f64>,
    /// Independent samples they are worth, for each z coordinate.
    pub effective: Vec<f64>,
}

/// `count` samples of any posterior with a prior density, by chains of their own. `go_on` is asked after every step.
pub fn slice(posterior: &Posterior, count: usize, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Result<SliceSamples, Error> {
    let surrogate = posterior.surrogate().as_ref();
    let drawn = Chains::new(surrogate, seed, go_on)?.draw(surrogate, count, seed, go_on)?;
    Ok(SliceSamples { samples: posterior.prior().from_latent_points(&drawn.z), r_hat: drawn.r_hat, effective: drawn.effective })
}

/// ln of [q]⁺ times the prior's density in z.
fn ln_target(surrogate: &dyn Surrogate, latent: &LatentPrior, z: &Points) -> Vec<f64> {
    let likelihood = surrogate.ln_relative_values(z);
    likelihood.into_iter().zip(z.iter()).map(|(q, z)| q + latent.ln_density(z).unwrap_or(f64::NEG_INFINITY)).collect()
}

impl Chains {
    /// Lets chains find the posterior. `go_on` is asked after every step.
    pub fn new(surrogate: &dyn Surrogate, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Result<Self, Error> {
        let latent = surrogate.prior().latent();
        if let LatentPrior::Draws(_) = latent {
            return Err(Error::Unavailable {
                what: "slice sampling".into(),
                reason: "this prior is known by its draws only and has no density; use independent or herded samples".into(),
            });
        }
        let dimension = latent.dimension();
        let mut rows: Vec<Vec<f64>> = surrogate.promising(CHAINS).iter().map(<[f64]>::to_vec).collect();
        rows.extend(latent.draws(POOL, seed, Purpose::Chains).iter().map(<[f64]>::to_vec));
        let pool = Points::from_rows(&rows)?;
        let states = resample(&pool, &surrogate.ln_relative_values(&pool), seed)?;
        let values = ln_target(surrogate, &latent, &states);
        let mut chains = Self { states, values, reference: Reference::standard(dimension), jumps: None };
        let mut streams = streams(seed, WARM);
        for (stage, &steps) in WARM_UP.iter().enumerate() {
            let mut seen = Vec::new();
            for step in 0..steps {
                chains.step(surrogate, &latent, &mut streams);
                if 2 * step >= steps {
                    seen.extend_from_slice(chains.states.values());
                }
                if !go_on() {
                    return Err(Error::Interrupted);
                }
            }
            let seen = Points::new(seen.clone(), seen.len() / dimension, dimension)?;
            if stage + 1 < WARM_UP.len() {
                chains.reference = Reference::fitted(&seen);
            }
            chains.jumps = Some(Jumps::new(&seen, CHAINS));
        }
        Ok(chains)
    }

    /// The Gaussian fitted to the posterior.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// At least `count` samples, the same for the same seed.
    pub fn draw(&self, surrogate: &dyn Surrogate, count: usize, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Result<Drawn, Error> {
        let latent = surrogate.prior().latent();
        let mut chains = self.clone();
        let mut streams = streams(seed, DRAW);
        let kept = count.div_ceil(CHAINS).max(4);
        let dimension = self.states.columns();
        let mut values = Vec::with_capacity(kept * CHAINS * dimension);
        for _ in 0..kept {
            for _ in 0..THINNING {
                chains.step(surrogate, &latent, &mut streams);
                if !go_on() {
                    return Err(Error::Interrupted);
                }
            }
            values.extend_from_slice(chains.states.values());
        }
        let z = Points::new(values, kept * CHAINS, dimension)?;
        let diagnosed: Vec<(f64, f64)> = (0..dimension).map(|d| agreement(&z.column(d), CHAINS)).collect();
        let chosen: Vec<usize> = (0..count).collect();
        Ok(Drawn {
            z: z.select(&chosen),
            r_hat: diagnosed.iter().map(|d| d.0).collect(),
            effective: diagnosed.iter().map(|d| d.1.min(count as f64)).collect(),
        })
    }

    /// One step of every chain: along an ellipse, then jumps if there is where to.
    fn step(&mut self, surrogate: &dyn Surrogate, latent: &LatentPrior, streams: &mut [ChaCha8Rng]) {
        self.slide(surrogate, latent, streams);
        if let Some(jumps) = self.jumps.take() {
            (0..JUMPS).for_each(|_| self.jump(&jumps, surrogate, latent, streams));
            self.jumps = Some(jumps);
        }
    }

    /// A jump of every chain, taken with the probability that keeps the target (independence Metropolis).
    fn jump(&mut self, jumps: &Jumps, surrogate: &dyn Surrogate, latent: &LatentPrior, streams: &mut [ChaCha8Rng]) {
        let rows: Vec<Vec<f64>> = streams.iter_mut().map(|rng| jumps.draw(rng)).collect();
        let proposals = Points::from_rows(&rows).expect("every proposal has the same number of coordinates");
        let values = ln_target(surrogate, latent, &proposals);
        for (chain, rng) in streams.iter_mut().enumerate() {
            let gain = |value: f64, z: &[f64]| value - jumps.ln_density(z);
            let now = gain(self.values[chain], self.states.row(chain));
            if rng.random::<f64>().ln() < gain(values[chain], proposals.row(chain)) - now {
                self.move_to(chain, proposals.row(chain), values[chain]);
            }
        }
    }

    fn move_to(&mut self, chain: usize, z: &[f64], value: f64) {
        self.states.row_mut(chain).copy_from_slice(z);
        self.values[chain] = value;
    }

    /// A step of every chain along its ellipse; points of all chains are evaluated together.
    fn slide(&mut self, surrogate: &dyn Surrogate, latent: &LatentPrior, streams: &mut [ChaCha8Rng]) {
        let reference = self.reference.clone();
        let start = |(chain, rng): (usize, &mut ChaCha8Rng)| {
            let now = self.values[chain] - reference.ln_density(self.states.row(chain));
            Arc::new(chain, now, reference.direction(rng), rng)
        };
        let mut arcs: Vec<Arc> = streams.iter_mut().enumerate().map(start).collect();
        for _ in 0..MOST_SHRINKS {
            if arcs.is_empty() {
                break;
            }
            let rows: Vec<Vec<f64>> = arcs.iter().map(|arc| arc.point(self.states.row(arc.chain), reference.centre())).collect();
            let proposals = Points::from_rows(&rows).expect("every proposal has the same number of coordinates");
            let values = ln_target(surrogate, latent, &proposals);
            let mut row = 0;
            arcs.retain_mut(|arc| {
                let found = values[row] - reference.ln_density(proposals.row(row)) > arc.level;
                if found {
                    self.move_to(arc.chain, proposals.row(row), values[row]);
                } else {
                    arc.shrink(&mut streams[arc.chain]);
                }
                row += 1;
                !found
            });
        }
    }
}

/// One step of a single chain along an ellipse of `reference`, from a state with its ln target; the target is kept (reversibly).
pub(crate) fn slide_one(
    state: &[f64],
    value: f64,
    reference: &Reference,
    ln_target: &dyn Fn(&[f64]) -> f64,
    rng: &mut ChaCha8Rng,
) -> (Vec<f64>, f64) {
    let mut arc = Arc::new(0, value - reference.ln_density(state), reference.direction(rng), rng);
    for _ in 0..MOST_SHRINKS {
        let point = arc.point(state, reference.centre());
        let found = ln_target(&point);
        if found - reference.ln_density(&point) > arc.level {
            return (point, found);
        }
        arc.shrink(rng);
    }
    (state.to_vec(), value)
}

/// The part of the ellipse still looked at by one chain.
struct Arc {
    chain: usize,
    level: f64,
    direction: Vec<f64>,
    angle: f64,
    low: f64,
    high: f64,
}

impl Arc {
    fn new(chain: usize, value: f64, direction: Vec<f64>, rng: &mut ChaCha8Rng) -> Self {
        let level = value + (1.0 - rng.random::<f64>()).ln();
        let angle = rng.random::<f64>() * std::f64::consts::TAU;
        Self { chain, level, direction, angle, low: angle - std::f64::consts::TAU, high: angle }
    }

    fn point(&self, state: &[f64], centre: &[f64]) -> Vec<f64> {
        let (sin, cos) = self.angle.sin_cos();
        (0..state.len()).map(|d| centre[d] + (state[d] - centre[d]) * cos + self.direction[d] * sin).collect()
    }

    fn shrink(&mut self, rng: &mut ChaCha8Rng) {
        if self.angle < 0.0 {
            self.low = self.angle
        } else {
            self.high = self.angle
        }
        self.angle = self.low + rng.random::<f64>() * (self.high - self.low);
    }
}

const WARM: u64 = 1 << 32;
const DRAW: u64 = 1 << 33;

fn streams(seed: u64, offset: u64) -> Vec<ChaCha8Rng> {
    (0..CHAINS as u64).map(|chain| stream(seed, Purpose::Chains, offset + chain)).collect()
}

/// One start per chain in proportion to the target over the pool (systematic resampling).
fn resample(pool: &Points, ln_weights: &[f64], seed: u64) -> Result<Points, Error> {
    let largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !largest.is_finite() {
        return Err(Error::Unavailable {
            what: "slice sampling".into(),
            reason: format!(
                "the surrogate posterior is positive at none of {} starting points; simulate more near the observation",
                pool.rows()
            ),
        });
    }
    let weights: Vec<f64> = ln_weights.iter().map(|w| (w - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    let offset: f64 = stream(seed, Purpose::Chains, WARM - 1).random();
    let mut chosen = Vec::with_capacity(CHAINS);
    let (mut at, mut below) = (0, weights[0]);
    for s in 0..CHAINS {
        while below < (s as f64 + offset) / CHAINS as f64 * total && at + 1 < weights.len() {
            at += 1;
            below += weights[at];
        }
        chosen.push(at);
    }
    Ok(pool.select(&chosen))
}
