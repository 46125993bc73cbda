//! Exact posteriors: the marginal of every parameter, by quadrature for one or two of them, by importance sampling for more.
//!
//! In latent coordinates z the prior is N(0, I): the posterior is exp(-½|z|²) L(θ(z)). For three or more parameters a Student t is moved
//! there through powers L^β, β from 0 to 1; the case has to have one mode.

use super::case::Case;
use super::marginal::Marginal;
use anyhow::{Result, ensure};
use kelfi::chains::reference::Reference as StudentT;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{Points, Prior};
use kelfi_problems::{Axis, GridDensity};
use rayon::prelude::*;

/// Cells an axis while closing in and in the end, for one and two parameters.
const COARSE: [usize; 2] = [2_001, 161];
const FINE: [usize; 2] = [6_001, 301];
/// The first box, and how far below its peak the posterior is followed, in nats.
const REACH: f64 = 8.0;
const DEPTH: f64 = 30.0;
const ROUNDS: usize = 12;
/// Draws on the way, draws in the end, and how many those have to be worth.
const PILOT: usize = 10_000;
const DRAWS: usize = 100_000;
const WORTH: f64 = 10_000.0;
/// Each power of the likelihood leaves this share of the draws.
const SURVIVORS: f64 = 0.25;

/// The marginal posterior of every parameter given y.
pub fn posterior(case: &Case, y: &[f64]) -> Result<Vec<Marginal>> {
    let prior = &case.prior;
    let ln_likelihood = |z: &[f64]| {
        let value = (case.ln_likelihood)(&prior.from_latent(z), y);
        if value.is_nan() { f64::NEG_INFINITY } else { value }
    };
    let (z, weights) = match prior.dimension() {
        1 | 2 => on_a_grid(prior.dimension(), &ln_likelihood)?,
        more => by_importance(more, &ln_likelihood)?,
    };
    Ok(marginals(prior, &z, &weights))
}

fn marginals(prior: &Prior, z: &Points, weights: &[f64]) -> Vec<Marginal> {
    let theta = prior.from_latent_points(z);
    (0..prior.dimension()).map(|d| Marginal::new(theta.column(d).into_iter().zip(weights.iter().copied()).collect())).collect()
}

/// Middles of cells and their masses, on a box around all places within `DEPTH` of the peak.
fn on_a_grid(dimension: usize, ln_likelihood: &(impl Fn(&[f64]) -> f64 + Sync)) -> Result<(Points, Vec<f64>)> {
    let ln_posterior = |z: &[f64]| ln_likelihood(z) - 0.5 * z.iter().map(|z| z * z).sum::<f64>();
    let mut axes = vec![Axis { low: -REACH, high: REACH, cells: COARSE[dimension - 1] }; dimension];
    for _ in 0..ROUNDS {
        let coarse = GridDensity::new(axes.clone(), ln_posterior)?;
        let closer = closed_in(&coarse);
        let shrunk = closer.iter().zip(&axes).any(|(new, old)| new.high - new.low < 0.9 * (old.high - old.low));
        axes = closer;
        if !shrunk {
            break;
        }
    }
    axes.iter_mut().for_each(|axis| axis.cells = FINE[dimension - 1]);
    let fine = GridDensity::new(axes, ln_posterior)?;
    Ok((fine.points(), fine.values().to_vec()))
}

/// The box of the cells near the peak and one more on each side.
fn closed_in(coarse: &GridDensity) -> Vec<Axis> {
    let floor = coarse.values().iter().copied().fold(0.0, f64::max) * (-DEPTH).exp();
    let points = coarse.points();
    let mut axes = coarse.axes().to_vec();
    for (d, axis) in axes.iter_mut().enumerate() {
        let inside = points.iter().zip(coarse.values()).filter(|(_, p)| **p > floor).map(|(z, _)| z[d]);
        let (low, high) = inside.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), z| (low.min(z), high.max(z)));
        let margin = 1.5 * axis.width();
        *axis = Axis { low: (low - margin).max(axis.low), high: (high + margin).min(axis.high), cells: axis.cells };
    }
    axes
}

/// Draws and weights.
fn by_importance(dimension: usize, ln_likelihood: &(impl Fn(&[f64]) -> f64 + Sync)) -> Result<(Points, Vec<f64>)> {
    let mut proposal = StudentT::standard(dimension);
    let (mut power, mut round) = (0.0, 0);
    while power < 1.0 {
        let drawn = Drawn::new(&proposal, dimension, PILOT, round, ln_likelihood);
        power = drawn.next_power(power);
        proposal = StudentT::fitted(&drawn.resampled(power, round));
        round += 1;
        ensure!(round < 200, "the powers of the likelihood do not reach 1");
    }
    for _ in 0..2 {
        let drawn = Drawn::new(&proposal, dimension, PILOT, round, ln_likelihood);
        proposal = StudentT::fitted(&drawn.resampled(1.0, round));
        round += 1;
    }
    let drawn = Drawn::new(&proposal, dimension, DRAWS, round, ln_likelihood);
    let weights = drawn.weights(1.0);
    let worth = effective(&weights);
    ensure!(worth >= WORTH, "the reference rests on {worth:.0} draws only");
    Ok((drawn.z, weights))
}

/// Draws with ln(prior/proposal) and ln L.
struct Drawn {
    z: Points,
    ln_ratio: Vec<f64>,
    ln_likelihood: Vec<f64>,
}

impl Drawn {
    fn new(proposal: &StudentT, dimension: usize, count: usize, round: u64, ln_likelihood: &(impl Fn(&[f64]) -> f64 + Sync)) -> Self {
        let one = |index: usize| {
            let z = proposal.draw(&mut stream(round, Purpose::Samples, index as u64));
            let ln_prior = -0.5 * z.iter().map(|z| z * z + std::f64::consts::TAU.ln()).sum::<f64>();
            let ln_ratio = ln_prior - proposal.ln_density(&z);
            let value = ln_likelihood(&z);
            (z, ln_ratio, value)
        };
        let all: Vec<(Vec<f64>, f64, f64)> = (0..count).into_par_iter().map(one).collect();
        let values = all.iter().flat_map(|(z, _, _)| z.iter().copied()).collect();
        let z = Points::new(values, count, dimension).expect("a value for each draw and coordinate");
        Self { z, ln_ratio: all.iter().map(|a| a.1).collect(), ln_likelihood: all.iter().map(|a| a.2).collect() }
    }

    /// Weights towards prior × L^power, the largest 1.
    fn weights(&self, power: f64) -> Vec<f64> {
        let ln: Vec<f64> = self.ln_ratio.iter().zip(&self.ln_likelihood).map(|(ratio, l)| ratio + power * l).collect();
        let top = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        ln.into_iter().map(|value| (value - top).exp()).collect()
    }

    /// The largest power, at most 1, whose weights keep `SURVIVORS` of the draws; always a little more than the last.
    fn next_power(&self, last: f64) -> f64 {
        let keeps = |power: f64| effective(&self.weights(power)) >= SURVIVORS * self.z.rows() as f64;
        if keeps(1.0) {
            return 1.0;
        }
        let (mut low, mut high) = (last, 1.0);
        for _ in 0..40 {
            let middle = if low > 0.0 { (low * high).sqrt() } else { 0.01 * high };
            if keeps(middle) { low = middle } else { high = middle }
        }
        low.max(1.02 * last).clamp(1e-9, 1.0)
    }

    /// Draws by their weights, blurred by a hundredth so that no two coincide.
    fn resampled(&self, power: f64, round: u64) -> Points {
        let weights = self.weights(power);
        let total: f64 = weights.iter().sum();
        let count = self.z.rows() / 2;
        let (mut below, mut at) = (weights[0], 0);
        let mut rows = vec![];
        for k in 0..count {
            while below < (k as f64 + 0.5) / count as f64 * total && at + 1 < weights.len() {
                at += 1;
                below += weights[at];
            }
            rows.push(at);
        }
        let mut chosen = self.z.select(&rows);
        let mut rng = stream(round, Purpose::Experiment, 0);
        chosen.values_mut().iter_mut().for_each(|z| *z += 1e-6 * standard_normal(&mut rng));
        chosen
    }
}

/// (Σw)²/Σw².
fn effective(weights: &[f64]) -> f64 {
    weights.iter().sum::<f64>().powi(2) / weights.iter().map(|w| w * w).sum::<f64>()
}
