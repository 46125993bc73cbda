//! Each simulation near the observation as the observation of a model without it: how much posterior density its own parameters get,
//! and which share of that posterior lies below them.
//!
//! Mean regressions and shape without simulation i have closed forms; spread, correlation and inflation are kept. Shares are ranks of θ_i
//! among the states of a chain through it, θ_i at a random place (Besag & Clifford 1989): if the posterior is right θ_i is a draw of it,
//! and its rank is uniform however slowly the chain moves. The evidence q₋ᵢ(x_i) = ∫ q₋ᵢ(x_i|θ) p(θ) dθ is estimated by importance
//! sampling from the prior and from Gaussians around the mean of the chain.

use super::LocationScaleLikelihood;
use super::regression::{MeanWeights, Standard};
use super::shape::Omitted;
use super::statistic::Statistic;
use crate::learning::leave_one_out::FLOOR;
use crate::learning::local_set::{LocalSet, weighted_mean};
use crate::learning::statistics::statistic_scales;
use crate::model::Surrogate;
use crate::prior::LatentPrior;
use crate::random::{Purpose, stream};
use crate::samples::passing::{chains_through, rank};
use crate::samples::reference::Reference;
use crate::simulations::Observation;
use crate::{Error, Points};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Simulations tried as observations.
pub const TRIED: usize = 100;
/// Of these, how many are handled by one task; fixed, so that results do not depend on the number of threads.
const TOGETHER: usize = 10;
/// Simulations with outputs like x_i that tell where its posterior may be.
const NEIGHBOURS: usize = 60;
/// Proposals for the evidence, and their shares: prior, Gaussian as wide as the posterior at the observation, as wide as the chain.
const PROPOSALS: usize = 200;
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
        let mut weights: Vec<Vec<MeanWeights>> = Vec::with_capacity(self.fitted.residuals.statistics.len());
        for statistic in &self.fitted.residuals.statistics {
            weights.push(statistic.without(&self.fitted.seen, &rows)?);
        }
        let wide = Reference::fitted(draws);
        let standardised = self.standardised_outputs();
        let of = |k: usize| Without::new(self, &tried[k], weights.iter().map(|w| &w[k]).collect());
        let judge_some = |task: &[usize]| {
            let without: Vec<Without<'_>> = task.iter().map(|&k| of(k)).collect();
            judge(&without, &standardised, &wide, seed)
        };
        let all: Vec<usize> = (0..tried.len()).collect();
        let found: Vec<Vec<Judged>> = all.par_chunks(TOGETHER).map(judge_some).collect::<Result<_, Error>>()?;
        let found = found.concat();
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
        let mut table = Points::zeros(successful.len(), self.fitted.residuals.statistics.len());
        for (k, statistic) in self.fitted.residuals.statistics.iter().enumerate() {
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
    omitted: Omitted,
    /// The output, transformed.
    transformed: Vec<f64>,
}

impl<'a> Without<'a> {
    fn new(model: &'a LocationScaleLikelihood, tried: &'a Tried, weights: Vec<&'a MeanWeights>) -> Self {
        let x = model.simulations.outputs().row(tried.output);
        let of_statistic = |s: &Statistic| s.hyperparameters().transform.scale.apply(x[s.hyperparameters().index]);
        let transformed = model.fitted.residuals.statistics.iter().map(of_statistic).collect();
        let omitted = model.fitted.residuals.shape.omit(tried.row, model.fitted.seen.row(tried.row));
        Self { model, tried, weights, omitted, transformed }
    }

    /// z of the simulation left out.
    fn own(&self) -> &[f64] {
        self.model.fitted.z.row(self.tried.row)
    }

    /// Mean of the parameters of simulations with similar outputs, in proportion to what they give to this one. Does not look at θ_i.
    fn centre(&self, standardised: &Points) -> Vec<f64> {
        let own = standardised.row(self.tried.row);
        let distance = |row: usize| standardised.row(row).iter().zip(own).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let mut others: Vec<(f64, usize)> =
            (0..standardised.rows()).filter(|&row| row != self.tried.row).map(|row| (distance(row), row)).collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let near: Vec<usize> = others.iter().take(NEIGHBOURS).map(|other| other.1).collect();
        let z = self.model.fitted.z.select(&near);
        let ln_values = ln_values(&vec![self; z.rows()], &z);
        let largest = ln_values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = ln_values.iter().map(|ln| (ln - largest).exp()).collect();
        let total: f64 = weights.iter().sum();
        (0..z.columns()).map(|d| z.iter().zip(&weights).map(|(z, w)| w * z[d]).sum::<f64>() / total).collect()
    }

    /// ln q₋ᵢ(x_i|θ_i) - ln q₋ᵢ(x_i), the evidence by importance sampling.
    fn score(&self, chain: &Points, wide: &Reference, rng: &mut ChaCha8Rng) -> Result<f64, Error> {
        let latent = self.model.prior.latent();
        let fitted = Reference::fitted(chain);
        let proposals = [wide.around(fitted.centre()), fitted];
        let mut rows = vec![self.own().to_vec()];
        rows.extend((0..PROPOSALS).map(|k| {
            let place = (k as f64 + 0.5) / PROPOSALS as f64;
            if place < SHARES[0] { latent.draw_with(rng) } else { proposals[usize::from(place >= SHARES[0] + SHARES[1])].draw(rng) }
        }));
        let z = Points::from_rows(&rows)?;
        let ln_values = ln_values(&vec![self; z.rows()], &z);
        let ln_weight = |k: usize| {
            let (z, ln_prior) = (z.row(k), ln_prior(&latent, z.row(k)));
            let gaussians = SHARES[1] * proposals[0].ln_density(z).exp() + SHARES[2] * proposals[1].ln_density(z).exp();
            let proposal = SHARES[0] * ln_prior.exp() + gaussians;
            if proposal > 0.0 { ln_values[k] + ln_prior - proposal.ln() } else { f64::NEG_INFINITY }
        };
        let ln_weights: Vec<f64> = (1..=PROPOSALS).map(ln_weight).collect();
        let largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = ln_weights.iter().map(|w| (w - largest).exp()).sum();
        Ok(ln_values[0] - largest - (total / PROPOSALS as f64).ln())
    }
}

/// Score and shares.
type Judged = (f64, Vec<f64>);

/// What is found of each model, their chains side by side. Runs on one thread.
fn judge(without: &[Without<'_>], standardised: &Points, wide: &Reference, seed: u64) -> Result<Vec<Judged>, Error> {
    let prior = &without[0].model.prior;
    let latent = prior.latent();
    let references: Vec<Reference> = without.iter().map(|w| wide.around(&w.centre(standardised))).collect();
    let mut streams: Vec<ChaCha8Rng> = without.iter().map(|w| stream(seed, Purpose::LeftOut, w.tried.simulation as u64)).collect();
    let evaluate = |models: &[usize], z: &Points| -> Vec<f64> {
        let rows: Vec<&Without<'_>> = models.iter().map(|&k| &without[k]).collect();
        ln_values(&rows, z).into_iter().zip(z.iter()).map(|(ln, z)| ln + ln_prior(&latent, z)).collect()
    };
    let own: Vec<&[f64]> = without.iter().map(Without::own).collect();
    let chains = chains_through(&own, &references, &mut streams, evaluate);
    let one = |((without, (chain, place)), rng): ((&Without<'_>, &(Points, usize)), &mut ChaCha8Rng)| {
        let theta = prior.from_latent_points(chain);
        let shares = (0..theta.columns()).map(|d| (rank(&theta, *place, d) + rng.random::<f64>()) / theta.rows() as f64).collect();
        Ok((without.score(chain, wide, rng)?, shares))
    };
    without.iter().zip(&chains).zip(&mut streams).map(one).collect()
}

fn ln_prior(latent: &LatentPrior, z: &[f64]) -> f64 {
    latent.ln_density(z).unwrap_or(f64::NEG_INFINITY)
}

/// ln q₋ᵢ(x_i|θ) of the model of each row at its z, up to a constant of the observation. Rows of one model stand together.
fn ln_values(models: &[&Without<'_>], z: &Points) -> Vec<f64> {
    let model = models[0].model;
    let seen = &model.seen(z);
    let columns = z.columns();
    let mut u = Points::zeros(z.rows(), model.fitted.residuals.statistics.len());
    let mut ln = Vec::with_capacity(z.rows());
    let mut first = 0;
    for same in models.chunk_by(|a, b| std::ptr::eq(*a, *b)) {
        let rows = same.len();
        let part = Points::new(seen.values()[first * columns..(first + rows) * columns].to_vec(), rows, columns).expect("whole rows");
        let (residuals, rest) = model.residuals_with(Some(&same[0].weights), &same[0].transformed, &part);
        residuals.iter().enumerate().for_each(|(row, residual)| u.row_mut(first + row).copy_from_slice(residual));
        ln.extend(rest);
        first += rows;
    }
    let omitted: Vec<&Omitted> = models.iter().map(|without| &without.omitted).collect();
    for (value, shape) in ln.iter_mut().zip(model.fitted.residuals.shape.ln_densities_without(&omitted, seen, &u)) {
        *value += shape;
    }
    ln
}

/// A simulation, the output that plays the observation, and its row among the successful outputs.
struct Tried {
    simulation: usize,
    output: usize,
    row: usize,
}
