//! Samples of [q(y|θ)]⁺ p(θ) in z coordinates by many chains of elliptical slice sampling at once.
//!
//! Chains start from the best of many prior draws and simulations, in proportion to the target, and slide along ellipses of the prior
//! while they find the posterior, then along those of a distribution fitted to them. What they have seen by then also says where to jump:
//! the more a jump is worth, the fewer slides are needed.

use super::agreement::agreement;
use super::hamiltonian::{FEWEST_PARAMETERS, Glide, Glider};
use super::jumps::Jumps;
use super::reference::Reference;
use super::target::{Target, ln_target};
use super::walker::{Act, Walker, advance};
use crate::prior::LatentPrior;
use crate::random::{Purpose, stream};
use crate::{Error, Points};
use Act::{Jump, Keep, Slide};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Chains run side by side.
pub const CHAINS: usize = 100;
/// Chains of one task.
const GROUP: usize = 25;
/// Prior draws among which chains find their start.
const POOL: usize = 4_000;
/// Steps with the prior's ellipse, with that of a first fit, and with that of the last fit.
const WARM_UP: [usize; 3] = [12, 10, 10];
const WARM_PATTERN: &[Act] = &[Slide, Jump, Jump, Jump, Keep];
/// Steps along gradients near the mode, and with what chains have learned from these.
const GLIDES: [usize; 2] = [12, 10];
/// States kept between two questions whether to go on.
const BLOCK: usize = 10;
/// What chains do, by the least worth of a jump it is for. A jump may stay where it is, a slide never does: with one before every state kept,
/// no sample stands twice.
const PATTERNS: [(f64, &[Act]); 3] =
    [(0.0, &[Slide, Jump, Jump, Slide, Jump, Jump, Keep]), (0.3, &[Slide, Jump, Jump, Jump, Keep]), (0.6, &[Slide, Jump, Keep])];

/// Chains whose split R-hat is above this start again where they are, with ellipses and jumps learned from what they have seen, at most this
/// often; then they go on twice as long, every other state kept, at most this often.
const ENOUGH: f64 = 1.05;
const LESSONS: u64 = 3;
const DOUBLINGS: usize = 2;

/// Chains that have found the posterior.
#[derive(Debug, Clone)]
pub struct Chains {
    here: Seen,
    reference: Reference,
    jumps: Jumps,
    /// Moves along gradients instead, with many parameters.
    glide: Option<Glide>,
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

/// States of all chains, step after step, with ln of the target.
#[derive(Debug, Clone)]
struct Seen {
    states: Points,
    values: Vec<f64>,
}

impl Seen {
    /// The steps that `which` says.
    fn select(&self, which: impl Fn(usize) -> bool) -> Self {
        let rows: Vec<usize> = (0..self.values.len()).filter(|row| which(row / CHAINS)).collect();
        Self { states: self.states.select(&rows), values: rows.iter().map(|&row| self.values[row]).collect() }
    }

    /// Without the first `steps` steps.
    fn after(&self, steps: usize) -> Self {
        self.select(|step| step >= steps)
    }

    /// The last step.
    fn last(&self) -> Self {
        self.after(self.values.len() / CHAINS - 1)
    }

    /// Every other step of these and of as many that followed.
    fn every_other(mut self, following: Self) -> Self {
        let (rows, columns) = (2 * self.values.len(), self.states.columns());
        self.values.extend(following.values);
        let states = [self.states.values(), following.states.values()].concat();
        self.states = Points::new(states, rows, columns).expect("both have a row for every value");
        self.select(|step| step % 2 == 1)
    }

    /// Agreement and effective number of samples of each coordinate.
    fn diagnosed(&self) -> Vec<(f64, f64)> {
        (0..self.states.columns()).map(|d| agreement(&self.states.column(d), CHAINS)).collect()
    }

    /// Ellipses and jumps for chains that have seen this.
    fn paths(&self) -> (Reference, Jumps) {
        let reference = Reference::fitted(&self.states);
        let jumps = Jumps::new(&self.states, &self.values, CHAINS, &reference);
        (reference, jumps)
    }
}

impl Chains {
    /// Lets chains find the posterior. `go_on` is asked now and then.
    pub fn new<T: Target + ?Sized>(target: &T, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Result<Self, Error> {
        let latent = target.latent();
        if let LatentPrior::Draws(_) = latent {
            return Err(Error::Unavailable {
                what: "slice sampling".into(),
                reason: "this prior is given only as draws and has no density; use independent or herded samples".into(),
            });
        }
        let mut rows: Vec<Vec<f64>> = target.most_promising(CHAINS).iter().map(<[f64]>::to_vec).collect();
        rows.extend(latent.draws(POOL, seed, Purpose::Chains).iter().map(<[f64]>::to_vec));
        let pool = Points::from_rows(&rows)?;
        let states = resample(&pool, &target.ln_likelihoods(&pool), seed)?;
        if latent.dimension() >= FEWEST_PARAMETERS
            && let Some(glide) = Glide::at_mode(target, &latent, &different(&states))
        {
            return Self::gliding(target, glide, seed, go_on);
        }
        let mut here = Seen { values: ln_target(target, &latent, &states), states };
        let (mut reference, mut jumps) = (Reference::standard(latent.dimension()), None);
        for (stage, steps) in (0..).zip(WARM_UP) {
            let streams = streams(seed, WARM + stage * CHAINS as u64);
            let plan = Schedule { reference: &reference, jumps: jumps.as_ref(), pattern: WARM_PATTERN, steps };
            let seen = run(target, &here, &plan, streams, go_on)?;
            here = seen.last();
            let (fitted, found) = seen.after(steps / 2).paths();
            (reference, jumps) = (fitted, Some(found));
        }
        Ok(Self { here, reference, jumps: jumps.expect("there are stages"), glide: None })
    }

    /// Chains that move along gradients, from around the mode.
    fn gliding<T: Target + ?Sized>(target: &T, mut glide: Glide, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Result<Self, Error> {
        let latent = target.latent();
        let starts: Vec<Vec<f64>> = streams(seed, WARM - 2 * CHAINS as u64).iter_mut().map(|rng| glide.draw(rng)).collect();
        let states = Points::from_rows(&starts)?;
        let mut here = Seen { values: ln_target(target, &latent, &states), states };
        let mut paths = None;
        for (stage, steps) in (0..).zip(GLIDES) {
            let seen = glide_on(target, &mut glide, true, &here, steps, streams(seed, WARM + stage * CHAINS as u64), go_on)?;
            here = seen.last();
            let found = seen.after(steps / 3);
            glide = glide.fitted_to(&found.states);
            paths = Some(found.paths());
        }
        let (reference, jumps) = paths.expect("there are stages");
        Ok(Self { here, reference, jumps, glide: Some(glide) })
    }

    /// Where they jump to: a density close to the posterior's.
    pub fn jumps(&self) -> &Jumps {
        &self.jumps
    }

    /// At least `count` samples, the same for the same seed.
    pub fn draw<T: Target + ?Sized>(&self, target: &T, count: usize, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Result<Drawn, Error> {
        Ok(self.drawn(target, count, seed, go_on)?.0)
    }

    /// Samples as of [`Chains::draw`], and chains that have learned from them.
    pub fn draw_and_learn<T: Target + ?Sized>(
        &self,
        target: &T,
        count: usize,
        seed: u64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(Drawn, Self), Error> {
        let (drawn, seen) = self.drawn(target, count, seed, go_on)?;
        let (reference, jumps) = seen.paths();
        Ok((drawn, Self { here: self.here.clone(), reference, jumps, glide: self.glide.clone() }))
    }

    fn drawn<T: Target + ?Sized>(
        &self,
        target: &T,
        count: usize,
        seed: u64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(Drawn, Seen), Error> {
        let kept = count.div_ceil(CHAINS).max(4);
        let mut paths = (self.reference.clone(), self.jumps.clone());
        let mut walk = |(reference, jumps): &(Reference, Jumps), here: &Seen, steps: usize, streams: Vec<ChaCha8Rng>| match &self.glide {
            Some(glide) => glide_on(target, &mut glide.clone(), false, here, steps, streams, go_on),
            None => run(target, here, &Schedule { reference, jumps: Some(jumps), pattern: pattern(jumps), steps }, streams, go_on),
        };
        let mut seen = walk(&paths, &self.here, kept, streams(seed, DRAW))?;
        let (mut diagnosed, mut here) = (seen.diagnosed(), seen.last());
        for lesson in 1..=LESSONS {
            if self.glide.is_some() || mixed(&diagnosed) {
                break;
            }
            paths = seen.paths();
            seen = walk(&paths, &here, kept, streams(seed, LEARN + lesson * CHAINS as u64))?;
            (diagnosed, here) = (seen.diagnosed(), seen.last());
        }
        for doubling in 0..DOUBLINGS {
            if mixed(&diagnosed) {
                break;
            }
            let apart = 1 << doubling;
            let following = walk(&paths, &here, apart * kept, streams(seed, DRAW + (doubling as u64 + 1) * CHAINS as u64))?;
            here = following.last();
            seen = seen.every_other(following.select(|step| step % apart == apart - 1));
            diagnosed = seen.diagnosed();
        }
        let drawn = Drawn {
            z: seen.states.select(&(0..count).collect::<Vec<_>>()),
            r_hat: diagnosed.iter().map(|d| d.0).collect(),
            effective: diagnosed.iter().map(|d| d.1.min(count as f64)).collect(),
        };
        Ok((drawn, seen))
    }
}

fn mixed(diagnosed: &[(f64, f64)]) -> bool {
    diagnosed.iter().all(|(r_hat, _)| *r_hat <= ENOUGH)
}

/// What chains with these jumps do.
fn pattern(jumps: &Jumps) -> &'static [Act] {
    let [hardest, easier @ ..] = PATTERNS;
    easier.into_iter().rfind(|(least, _)| jumps.efficiency() >= *least).unwrap_or(hardest).1
}

/// Where chains go.
#[derive(Clone, Copy)]
struct Schedule<'a> {
    reference: &'a Reference,
    jumps: Option<&'a Jumps>,
    pattern: &'a [Act],
    /// States every chain keeps.
    steps: usize,
}

/// States of every chain from where they are. `go_on` is asked after every block of them.
fn run<T: Target + ?Sized>(
    target: &T,
    here: &Seen,
    &Schedule { reference, jumps, pattern, steps }: &Schedule<'_>,
    streams: Vec<ChaCha8Rng>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Seen, Error> {
    let latent = target.latent();
    let evaluate = |_: &[usize], z: &Points| ln_target(target, &latent, z);
    let begin = |(chain, rng): (usize, ChaCha8Rng)| Walker::new(here.states.row(chain), here.values[chain], reference, jumps, rng);
    let mut walkers: Vec<Walker<'_>> = streams.into_iter().enumerate().map(begin).collect();
    let dimension = here.states.columns();
    let (mut states, mut values) = (Vec::with_capacity(steps * CHAINS * dimension), Vec::with_capacity(steps * CHAINS));
    for block in (0..steps).step_by(BLOCK) {
        let wanted = BLOCK.min(steps - block);
        let advance_group = |group: &mut [Walker<'_>]| advance(group, pattern, &vec![wanted; group.len()], evaluate);
        let kept: Vec<_> = walkers.par_chunks_mut(GROUP).flat_map_iter(advance_group).collect();
        for step in 0..wanted {
            for chain in &kept {
                states.extend_from_slice(&chain.states[step * dimension..(step + 1) * dimension]);
                values.push(chain.values[step]);
            }
        }
        if !go_on() {
            return Err(Error::Interrupted);
        }
    }
    Ok(Seen { states: Points::new(states, steps * CHAINS, dimension)?, values })
}

/// States of every chain by moves along gradients, from where they are; `tune` their steps on the way.
fn glide_on<T: Target + ?Sized>(
    target: &T,
    glide: &mut Glide,
    tune: bool,
    here: &Seen,
    steps: usize,
    streams: Vec<ChaCha8Rng>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Seen, Error> {
    let latent = target.latent();
    let lost = || Error::Unavailable {
        what: "chains along gradients".into(),
        reason: "the surrogate has no gradient here; simulate more near the observation".into(),
    };
    let mut gliders = Glide::begin(target, &latent, &here.states, streams).ok_or_else(lost)?;
    let (mut states, mut values) = (vec![], vec![]);
    for _ in 0..steps {
        let advance_group = |group: &mut [Glider]| glide.advance(target, &latent, group);
        let taken: Vec<f64> = gliders.par_chunks_mut(GROUP).map(advance_group).collect();
        for chain in &gliders {
            states.extend_from_slice(&chain.state);
            values.push(chain.value);
        }
        if tune {
            glide.tune(taken.iter().sum::<f64>() / taken.len() as f64);
        }
        if !go_on() {
            return Err(Error::Interrupted);
        }
    }
    Ok(Seen { states: Points::new(states, steps * CHAINS, latent.dimension())?, values })
}

/// Different states, in their order.
fn different(states: &Points) -> Points {
    let first = |&row: &usize| (0..row).all(|earlier| states.row(earlier) != states.row(row));
    states.select(&(0..states.rows()).filter(first).collect::<Vec<_>>())
}

const WARM: u64 = 1 << 32;
const DRAW: u64 = 1 << 33;
const LEARN: u64 = 1 << 34;

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
