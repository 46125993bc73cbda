//! Each simulation near the observation as the observation of a model without it: how much posterior density its own parameters get,
//! and which share of that posterior lies below them.
//!
//! Mean regressions and shape without simulation i have closed forms; spread, correlation and inflation are kept. Shares are ranks of θ_i
//! among the states of a chain through it, θ_i at a random place (Besag & Clifford 1989): if the posterior is right θ_i is a draw of it,
//! and its rank is uniform however slowly the chain moves. The evidence q₋ᵢ(x_i) = ∫ q₋ᵢ(x_i|θ) p(θ) dθ is estimated by importance
//! sampling from the prior and from Gaussians around the mean of the chain.

use super::LocationScaleLikelihood;
use super::regression::{MeanWeights, Standard};
use super::statistic::Statistic;
use crate::learning::leave_one_out::FLOOR;
use crate::learning::local_set::{LocalSet, weighted_mean};
use crate::learning::statistics::statistic_scales;
use crate::model::Surrogate;
use crate::prior::LatentPrior;
use crate::random::{Purpose, stream};
use crate::samples::reference::Reference;
use crate::samples::slice::slide_one;
use crate::simulations::Observation;
use crate::{Error, Points};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Simulations tried as observations.
pub const TRIED: usize = 100;
/// Simulations with outputs like x_i that tell where its posterior may be.
const NEIGHBOURS: usize = 100;
/// Steps of the chain through θ_i.
const STEPS: usize = 49;
/// Proposals for the evidence, and their shares: prior, Gaussian as wide as the posterior at the observation, as wide as the chain.
const PROPOSALS: usize = 250;
const SHARES: [f64; 3] = [0.2, 0.4, 0.4];

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
        let standardised = self.standardised_outputs();
        let one = |k: usize| {
            let without = Without { model: self, tried: &tried[k], weights: weights.iter().map(|w| &w[k]).collect() };
            without.judge(&standardised, &wide, seed)
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
        let first = |&simulation: &usize| {
            let output = self.simulations.first_success(simulation)?;
            Some(Tried { simulation, output, row: successes_before(output) })
        };
        Ok((local.indices.iter().filter_map(first).collect(), local))
    }

    /// Transformed outputs of the successful simulations, each statistic in units of its standard deviation.
    fn standardised_outputs(&self) -> Points {
        let outputs = self.simulations.outputs();
        let successful = self.simulations.successful_rows();
        let mut table = Points::zeros(successful.len(), self.fitted.statistics.len());
        for (k, statistic) in self.fitted.statistics.iter().enumerate() {
            let h = statistic.hyperparameters();
            let values: Vec<f64> = successful.iter().map(|&row| h.transform.scale.apply(outputs.row(row)[h.index])).collect();
            for (row, value) in Standard::of(&values).apply(&values).into_iter().enumerate() {
                table.row_mut(row)[k] = value;
            }
        }
        table
    }
}

/// The model without one simulation, at that simulation's output.
struct Without<'a> {
    model: &'a LocationScaleLikelihood,
    tried: &'a Tried,
    weights: Vec<&'a MeanWeights>,
}

impl Without<'_> {
    /// The score and the shares.
    fn judge(&self, standardised: &Points, wide: &Reference, seed: u64) -> Result<(f64, Vec<f64>), Error> {
        let (model, own) = (self.model, self.model.fitted.z.row(self.tried.row));
        let x = model.simulations.outputs().row(self.tried.output);
        let of_statistic = |s: &Statistic| s.hyperparameters().transform.scale.apply(x[s.hyperparameters().index]);
        let transformed: Vec<f64> = model.fitted.statistics.iter().map(of_statistic).collect();
        let latent = model.prior.latent();
        let ln_prior = |z: &[f64]| latent.ln_density(z).unwrap_or(f64::NEG_INFINITY);
        let ln_target = |z: &[f64]| {
            let point = Points::new(z.to_vec(), 1, z.len()).expect("one row");
            self.ln_values(&transformed, &point)[0] + ln_prior(z)
        };
        let mut rng = stream(seed, Purpose::LeftOut, self.tried.simulation as u64);
        let reference = wide.around(&self.centre(standardised, &transformed));
        let (chain, at_own) = chain_through(own, &reference, &ln_target, &mut rng);
        let theta = model.prior.from_latent_points(&chain);
        let shares = (0..theta.columns()).map(|d| (rank(&theta, at_own, d) + rng.random::<f64>()) / theta.rows() as f64).collect();

        let fitted = Reference::fitted(&chain);
        let proposals = [wide.around(fitted.centre()), fitted];
        let mut rows = vec![own.to_vec()];
        rows.extend((0..PROPOSALS).map(|k| {
            let place = (k as f64 + 0.5) / PROPOSALS as f64;
            if place < SHARES[0] {
                latent.draw_with(&mut rng)
            } else {
                proposals[usize::from(place >= SHARES[0] + SHARES[1])].draw(&mut rng)
            }
        }));
        let z = Points::from_rows(&rows)?;
        let ln_values = self.ln_values(&transformed, &z);
        let ln_weight = |k: usize| {
            let (z, ln_prior) = (z.row(k), ln_prior(z.row(k)));
            let gaussians = SHARES[1] * proposals[0].ln_density(z).exp() + SHARES[2] * proposals[1].ln_density(z).exp();
            let proposal = SHARES[0] * ln_prior.exp() + gaussians;
            if proposal > 0.0 { ln_values[k] + ln_prior - proposal.ln() } else { f64::NEG_INFINITY }
        };
        let ln_weights: Vec<f64> = (1..=PROPOSALS).map(ln_weight).collect();
        let largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = ln_weights.iter().map(|w| (w - largest).exp()).sum();
        Ok((ln_values[0] - largest - (total / PROPOSALS as f64).ln(), shares))
    }

    /// Mean of the parameters of simulations with similar outputs, in proportion to what they give to this one. Does not look at θ_i.
    fn centre(&self, standardised: &Points, transformed: &[f64]) -> Vec<f64> {
        let own = standardised.row(self.tried.row);
        let distance = |row: usize| standardised.row(row).iter().zip(own).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let mut others: Vec<(f64, usize)> =
            (0..standardised.rows()).filter(|&row| row != self.tried.row).map(|row| (distance(row), row)).collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let near: Vec<usize> = others.iter().take(NEIGHBOURS).map(|other| other.1).collect();
        let z = self.model.fitted.z.select(&near);
        let ln_values = self.ln_values(transformed, &z);
        let largest = ln_values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = ln_values.iter().map(|ln| (ln - largest).exp()).collect();
        let total: f64 = weights.iter().sum();
        (0..z.columns()).map(|d| z.iter().zip(&weights).map(|(z, w)| w * z[d]).sum::<f64>() / total).collect()
    }

    /// ln q₋ᵢ(x_i|θ) at each z, up to a constant of the observation.
    fn ln_values(&self, transformed: &[f64], z: &Points) -> Vec<f64> {
        let (fitted, row) = (&self.model.fitted, self.tried.row);
        let (u, mut ln) = self.model.residuals_with(Some(&self.weights), transformed, z);
        for (value, shape) in ln.iter_mut().zip(fitted.shape.ln_densities_without(row, fitted.z.row(row), z, &u)) {
            *value += shape;
        }
        ln
    }
}

/// States of a chain that passes through `own` at a random place, and that place.
fn chain_through(own: &[f64], reference: &Reference, ln_target: &dyn Fn(&[f64]) -> f64, rng: &mut ChaCha8Rng) -> (Points, usize) {
    let place = ((rng.random::<f64>() * (STEPS + 1) as f64) as usize).min(STEPS);
    let value = ln_target(own);
    let mut walk = |steps: usize| {
        let mut state = (own.to_vec(), value);
        let mut states = Vec::with_capacity(steps);
        for _ in 0..steps {
            state = slide_one(&state.0, state.1, reference, ln_target, rng);
            states.push(state.0.clone());
        }
        states
    };
    let mut before = walk(place);
    let after = walk(STEPS - place);
    before.reverse();
    before.push(own.to_vec());
    before.extend(after);
    (Points::from_rows(&before).expect("every state has the same number of coordinates"), place)
}

/// How many rows lie below row `own` in column `d`.
fn rank(theta: &Points, own: usize, d: usize) -> f64 {
    theta.iter().enumerate().filter(|(row, other)| *row != own && other[d] < theta.row(own)[d]).count() as f64
}

/// A simulation, the output that plays the observation, and its row among the successful outputs.
struct Tried {
    simulation: usize,
    output: usize,
    row: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::standard_normal;

    /// Shares of draws of N(0, spread²) in a posterior N(0, 1), by chains of ellipses much too wide.
    fn shares(spread: f64) -> Vec<f64> {
        let reference = Reference::standard(1).around(&[1.5]);
        let ln_target = |z: &[f64]| -0.5 * (z[0] / 0.2).powi(2);
        let share = |i: u64| {
            let mut rng = stream(9, Purpose::LeftOut, i);
            let own = [0.2 * spread * standard_normal(&mut rng)];
            let (chain, place) = chain_through(&own, &reference, &ln_target, &mut rng);
            assert_eq!((chain.rows(), chain.row(place)), (STEPS + 1, &own[..]));
            (rank(&chain, place, 0) + rng.random::<f64>()) / chain.rows() as f64
        };
        (0..2_000).map(share).collect()
    }

    fn covered(shares: &[f64], size: f64) -> f64 {
        shares.iter().filter(|share| (2.0 * **share - 1.0).abs() <= size).count() as f64 / shares.len() as f64
    }

    #[test]
    fn ranks_in_a_right_posterior_are_even_and_a_narrow_one_shows() {
        let right = shares(1.0);
        for size in [0.5, 0.9, 0.95] {
            // Four standard errors.
            let error = (size * (1.0 - size) / 2_000.0_f64).sqrt();
            assert!((covered(&right, size) - size).abs() < 4.0 * error, "{size}: {}", covered(&right, size));
        }
        let narrow = shares(1.5);
        assert!(covered(&narrow, 0.9) < 0.8, "{}", covered(&narrow, 0.9));
    }
}
