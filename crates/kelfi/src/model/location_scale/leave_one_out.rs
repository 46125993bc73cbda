//! Each simulation near the observation as the observation of a model without it: how much posterior density its own parameters get,
//! and which share of that posterior lies below them.
//!
//! Mean regressions and shape without simulation i have closed forms; spread, correlation and inflation are kept. The evidence
//! q₋ᵢ(x_i) = ∫ q₋ᵢ(x_i|θ) p(θ) dθ has none: importance sampling, half from the prior, half from a Gaussian somewhat wider than the
//! posterior at the observation, placed around θ_i.

use super::LocationScaleLikelihood;
use super::regression::MeanWeights;
use crate::learning::leave_one_out::FLOOR;
use crate::learning::local_set::{LocalSet, weighted_mean};
use crate::learning::statistics::statistic_scales;
use crate::model::Surrogate;
use crate::prior::LatentPrior;
use crate::random::{Purpose, stream};
use crate::samples::reference::Reference;
use crate::simulations::Observation;
use crate::{Error, Points};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Simulations tried as observations.
pub const TRIED: usize = 100;
/// Proposals for each, half of them from the prior.
const PROPOSALS: usize = 400;

/// What leaving out says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Simulations that played the observation, nearest first.
    pub indices: Vec<usize>,
    /// Their weights, the nearer the heavier; they sum to one.
    pub weights: Vec<f64>,
    /// ln q₋ᵢ(x_i|θ_i) - ln q₋ᵢ(x_i) of each, at least ln of the floor.
    pub scores: Vec<f64>,
    /// Share of the posterior below the own parameters: a row per simulation, a column per parameter.
    pub shares: Points,
}

impl LeftOut {
    /// Nats of posterior over prior density at the truth, averaged over the simulations, and the standard error.
    pub fn score(&self) -> (f64, f64) {
        weighted_mean(&self.scores, &self.weights)
    }
}

impl LocationScaleLikelihood {
    /// Tries up to 100 simulations nearest to the observation; `draws` are of the posterior, in z coordinates.
    pub fn leave_one_out(&self, draws: &Points, seed: u64) -> Result<LeftOut, Error> {
        if matches!(self.prior().latent(), LatentPrior::Draws(_)) {
            return Err(Error::Unavailable {
                what: "leave-one-out posteriors of the location-scale model".into(),
                reason: "this prior is known by draws only; give it as a distribution".into(),
            });
        }
        let (tried, local) = self.nearest()?;
        let rows: Vec<usize> = tried.iter().map(|t| t.row).collect();
        let mut weights: Vec<Vec<MeanWeights>> = Vec::with_capacity(self.fitted.statistics.len());
        for statistic in &self.fitted.statistics {
            weights.push(statistic.without(&self.fitted.z, &rows)?);
        }
        let wide = Reference::fitted(draws);
        let one = |k: usize| {
            let of_each: Vec<&MeanWeights> = weights.iter().map(|w| &w[k]).collect();
            self.try_one(&tried[k], &of_each, &wide, seed)
        };
        let found: Result<Vec<(f64, Vec<f64>)>, Error> = (0..tried.len()).into_par_iter().map(one).collect();
        let found = found?;
        let shares: Vec<Vec<f64>> = found.iter().map(|f| f.1.clone()).collect();
        Ok(LeftOut {
            indices: tried.iter().map(|t| t.simulation).collect(),
            weights: local.weights,
            scores: found.iter().map(|f| f.0.max(FLOOR.ln())).collect(),
            shares: Points::from_rows(&shares)?,
        })
    }

    fn nearest(&self) -> Result<(Vec<Tried>, LocalSet), Error> {
        let scales = statistic_scales(&self.simulations);
        let units: Vec<f64> = scales.iter().map(|s| if s.dropped.is_none() { s.scale } else { f64::MAX.sqrt() }).collect();
        let active = scales.iter().filter(|s| s.dropped.is_none()).count();
        let local = LocalSet::new(&self.recorded, &Observation::Statistics(self.observation.clone()), &units, active)?.nearest(TRIED);
        // Row among the successful outputs of the first one of each simulation.
        let failed = self.simulations.failed();
        let successes_before = |output: usize| failed[..output].iter().filter(|&&f| !f).count();
        let offsets = self.simulations.offsets();
        let first = |&simulation: &usize| {
            let output = (offsets[simulation]..offsets[simulation + 1]).find(|&o| !failed[o])?;
            Some(Tried { simulation, output, row: successes_before(output) })
        };
        Ok((local.indices.iter().filter_map(first).collect(), local))
    }

    /// The score and the shares of one simulation.
    fn try_one(&self, tried: &Tried, weights: &[&MeanWeights], wide: &Reference, seed: u64) -> Result<(f64, Vec<f64>), Error> {
        let own = self.fitted.z.row(tried.row);
        let x = self.simulations.outputs().row(tried.output);
        let transformed: Vec<f64> =
            self.fitted.statistics.iter().map(|s| s.hyperparameters().transform.scale.apply(x[s.hyperparameters().index])).collect();
        let around = wide.around(own);
        let latent = self.prior.latent();
        let mut rng = stream(seed, Purpose::LeftOut, tried.simulation as u64);
        let mut rows = vec![own.to_vec()];
        rows.extend((0..PROPOSALS).map(|k| if k % 2 == 0 { latent.draw_with(&mut rng) } else { around.draw(&mut rng) }));
        let z = Points::from_rows(&rows)?;
        let ln_values = self.ln_values_without(tried.row, weights, &transformed, &z);
        let ln_weight = |k: usize| {
            let ln_prior = latent.ln_density(z.row(k)).unwrap_or(f64::NEG_INFINITY);
            let proposal = 0.5 * ln_prior.exp() + 0.5 * around.ln_density(z.row(k)).exp();
            if proposal > 0.0 { ln_values[k] + ln_prior - proposal.ln() } else { f64::NEG_INFINITY }
        };
        let ln_weights: Vec<f64> = (1..=PROPOSALS).map(ln_weight).collect();
        let largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let relative: Vec<f64> = ln_weights.iter().map(|w| (w - largest).exp()).collect();
        let total: f64 = relative.iter().sum();
        let theta = self.prior.from_latent_points(&z);
        let below = |d: usize| -> f64 {
            let own = theta.row(0)[d];
            (1..=PROPOSALS).filter(|&k| theta.row(k)[d] < own).map(|k| relative[k - 1]).sum::<f64>() / total
        };
        let score = ln_values[0] - largest - (total / PROPOSALS as f64).ln();
        Ok((score, (0..theta.columns()).map(below).collect()))
    }

    /// ln q₋ᵢ(·|θ) at each z, up to a constant of the observation.
    fn ln_values_without(&self, row: usize, weights: &[&MeanWeights], transformed: &[f64], z: &Points) -> Vec<f64> {
        let (u, mut ln) = self.residuals_with(Some(weights), transformed, z);
        for (value, shape) in ln.iter_mut().zip(self.fitted.shape.ln_densities_without(row, self.fitted.z.row(row), z, &u)) {
            *value += shape;
        }
        ln
    }
}

/// A simulation, the output that plays the observation, and its row among the successful outputs.
struct Tried {
    simulation: usize,
    output: usize,
    row: usize,
}
