//! Each simulation near the observation as the observation of a model without it (and without all others at its θ): how much posterior
//! density its own parameters get, and which share of that posterior lies below them.
//!
//! Mean regressions and shape without simulation i have closed forms; spread, correlation and inflation are kept. Shares are ranks of θ_i
//! among the states of a chain through it, θ_i at a random place (Besag & Clifford 1989): if the posterior is right θ_i is a draw of it,
//! and its rank is uniform however slowly the chain moves. The evidence q₋ᵢ(x_i) = ∫ q₋ᵢ(x_i|θ) p(θ) dθ is estimated by importance
//! sampling from the prior and from Gaussians around the mean of the chain.
//!
//! Where simulations were not drawn from the prior, θ_i is no draw of that posterior but of the one under what they were drawn from. The
//! simulated θ_j stand for it: given all of them and x_i, the right likelihood says which one i was with probabilities in proportion to
//! q₋ᵢ(x_i|θ_j), so that shares of these weights are uniform, and scores are ln q₋ᵢ(x_i|θ_i) less ln of their mean.

use super::at_once::each;
use super::constants::leave_one_out::{CANDIDATES, LEAST_NEAR, TRIED};
use super::regression::{MeanWeights, Standard};
use super::statistic::Statistic;
use super::within::Within;
use super::without::{Proposals, Tried, Without, ln_prior, ln_values, ln_values_and_gradients, relative};
use super::{LocationScaleLikelihood, repeats_of};
use crate::chains::hamiltonian::{FEWEST_PARAMETERS, Glide};
use crate::chains::jumps::Jumps;
use crate::chains::rank_chains::{Passing, chains_through, glides_through, share_below};
use crate::chains::reference::Reference;
use crate::model::Surrogate;
use crate::model::left_out::{FLOOR, LeftOut, Scores, Shares, weighted_share_below};
use crate::prior::LatentPrior;
use crate::prior::quadrature::PriorPoints;
use crate::random::{Purpose, stream};
use crate::simulations::local_set::LocalSet;
use crate::simulations::prior_draws::PriorDraws;
use crate::simulations::same_theta::SameTheta;
use crate::simulations::scales::statistic_scales;
use crate::simulations::{Observation, Recorded, Simulations};
use crate::{Error, Points};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::sync::Arc;

/// Of these, how many are handled by one task; fixed, so that results do not depend on the number of threads.
const TOGETHER: usize = 10;

impl LocationScaleLikelihood {
    /// Tries up to 200 simulations nearest to the observation; `draws` are of the posterior, in z coordinates.
    pub fn leave_one_out(&self, draws: &Points, seed: u64) -> Result<LeftOut, Error> {
        self.leave_out(self.nearest(&self.simulations, &self.observation)?, draws, seed)
    }

    /// The same, near by other statistics `y` of all the simulations that were recorded.
    pub(in crate::model) fn leave_one_out_near(
        &self,
        all: &Arc<Simulations>,
        y: &[f64],
        draws: &Points,
        seed: u64,
    ) -> Result<LeftOut, Error> {
        let simulations = match &self.inside {
            Some(inside) => Arc::new(all.select(inside)?),
            None => all.clone(),
        };
        self.leave_out(self.nearest(&simulations, y)?, draws, seed)
    }

    fn leave_out(&self, (tried, local): (Vec<Tried>, LocalSet), draws: &Points, seed: u64) -> Result<LeftOut, Error> {
        if matches!(self.prior().latent(), LatentPrior::Draws(_)) {
            return Err(Error::Unavailable {
                what: "leave-one-out posteriors of the location-scale model".into(),
                reason: "this prior is given only as draws; give it as a distribution".into(),
            });
        }
        let groups: Vec<Vec<usize>> = tried.iter().map(|t| t.together.clone()).collect();
        let statistics: Vec<&Statistic> = self.fitted.residuals.statistics.iter().collect();
        let weights: Vec<Vec<MeanWeights>> =
            each(statistics, self.fitted.seen.rows(), |statistic| statistic.without(&self.fitted.seen, &groups))?;
        let of = |k: usize| Without::new(self, &tried[k], weights.iter().map(|w| &w[k]).collect());
        let simulated = self.question.prior.to_latent_points(self.simulations.theta())?;
        let by_simulated = !PriorDraws::of(&simulated, &self.question.prior).plausible();
        let chains = Chains::of(self, draws);
        let candidates = PriorPoints::of_simulations(&simulated.select(&SameTheta::new(&simulated).firsts()), CANDIDATES).z;
        let judge_some = |task: &[usize]| {
            let without: Vec<Without<'_>> = task.iter().map(|&k| of(k)).collect();
            if by_simulated {
                return Ok(without.iter().map(|without| judge_by_simulated(without, &candidates, seed)).collect());
            }
            judge(&without, &chains, seed)
        };
        let all: Vec<usize> = (0..tried.len()).collect();
        let found: Vec<Vec<Judged>> = all.par_chunks(TOGETHER).map(judge_some).collect::<Result<_, Error>>()?;
        let found = found.concat();
        let shares: Vec<Vec<f64>> = found.iter().map(|f| f.shares.clone()).collect();
        let indices: Vec<usize> = tried.iter().map(|t| self.recorded_index(t.simulation)).collect();
        let scores = found.iter().map(|f| f.score.max(FLOOR.ln())).collect();
        Ok(LeftOut {
            scores: Scores { indices: indices.clone(), weights: local.weights.clone(), scores },
            shares: Shares {
                indices,
                weights: local.weights,
                shares: Points::from_rows(&shares)?,
                joint: found.iter().map(|f| f.joint).collect(),
                skipped: 0,
                by_simulated,
            },
        })
    }

    /// The simulations nearest to the observation by these statistics of them.
    pub(super) fn nearest(&self, simulations: &Arc<Simulations>, y: &[f64]) -> Result<(Vec<Tried>, LocalSet), Error> {
        let scales = statistic_scales(simulations);
        let units: Vec<f64> = scales.iter().map(|s| if s.dropped.is_none() { s.scale } else { f64::MAX.sqrt() }).collect();
        let active = scales.iter().filter(|s| s.dropped.is_none()).count();
        let observation = Observation::Statistics(y.to_vec());
        let local = LocalSet::independent(&Recorded::Statistics(simulations.clone()), &observation, &units, active, TRIED)?;
        // Row of each output among the successful ones.
        let failed = self.simulations.failed();
        let mut successes = 0;
        let rows: Vec<Option<usize>> = failed
            .iter()
            .map(|&failed| {
                successes += usize::from(!failed);
                (!failed).then(|| successes - 1)
            })
            .collect();
        let offsets = self.simulations.offsets();
        let first = |(&simulation, together): (&usize, &Vec<usize>)| {
            let output = self.simulations.first_success(simulation)?;
            let together = together.iter().flat_map(|&j| rows[offsets[j]..offsets[j + 1]].iter().copied().flatten()).collect();
            Some(Tried { simulation, output, row: rows[output]?, together })
        };
        Ok((local.indices.iter().zip(&local.together).filter_map(first).collect(), local))
    }

    /// Transformed outputs of the successful simulations, each statistic in units of its standard deviation. Of repeats, whose order says
    /// nothing, these are the averages and the logarithms of the variances.
    fn standardised_outputs(&self) -> Points {
        let (outputs, successful, repeats) = (self.simulations.outputs(), self.simulations.successful_rows(), self.repeats());
        let of_statistic = |statistic: &Statistic| -> Vec<Vec<f64>> {
            let h = statistic.hyperparameters();
            let of_row = |&row: &usize| repeats_of(outputs.row(row), h.index, repeats).map(|value| h.transform.scale.apply(value));
            let values: Vec<f64> = successful.iter().flat_map(of_row).collect();
            if repeats == 1 {
                return vec![values];
            }
            let (means, within) = Within::of(&values, repeats);
            vec![means, within.ln_variances()]
        };
        let columns: Vec<Vec<f64>> = self.fitted.residuals.statistics.iter().flat_map(of_statistic).collect();
        let mut table = Points::zeros(successful.len(), columns.len());
        for (k, values) in columns.iter().enumerate() {
            for (row, value) in Standard::of(values).apply(values).into_iter().enumerate() {
                table.row_mut(row)[k] = value;
            }
        }
        table
    }
}

/// What is found of one simulation.
#[derive(Debug, Clone)]
struct Judged {
    score: f64,
    shares: Vec<f64>,
    joint: f64,
}

/// How chains through left-out parameters move.
enum Chains {
    /// Along ellipses as wide as the posterior and to where outputs are similar; transformed outputs in units of their standard deviations.
    Slide { wide: Reference, standardised: Points },
    /// Along gradients, with many parameters.
    Glide { glide: Glide, draws: Points },
}

impl Chains {
    /// With draws of the posterior at the observation, in z coordinates.
    fn of(model: &LocationScaleLikelihood, draws: &Points) -> Self {
        if draws.columns() >= FEWEST_PARAMETERS && model.has_gradients() {
            return Self::Glide { glide: Glide::along(draws), draws: draws.clone() };
        }
        Self::Slide { wide: Reference::fitted(draws), standardised: model.standardised_outputs() }
    }

    /// Through each of the parameters left out.
    fn through(&self, without: &[Without<'_>], latent: &LatentPrior, streams: &mut [ChaCha8Rng]) -> Vec<Passing> {
        let own: Vec<&[f64]> = without.iter().map(Without::own).collect();
        let of = |models: &[usize]| -> Vec<&Without<'_>> { models.iter().map(|&k| &without[k]).collect() };
        let (wide, standardised) = match self {
            Self::Slide { wide, standardised } => (wide, standardised),
            Self::Glide { glide, .. } => {
                return glides_through(&own, glide, streams, |models, z| ln_values_and_gradients(&of(models), latent, z));
            }
        };
        let (near, centres): (Vec<Points>, Vec<Vec<f64>>) = without.iter().map(|w| w.whereabouts(standardised)).unzip();
        let references: Vec<Reference> = centres.iter().map(|centre| wide.around(centre)).collect();
        // Too few neighbours do not tell one part of the posterior from another.
        let enough = near.iter().all(|near| near.rows() >= LEAST_NEAR);
        let jumps: Vec<Jumps> =
            if enough { near.iter().zip(&references).map(|(near, wide)| Jumps::around(near, wide)).collect() } else { vec![] };
        let evaluate = |models: &[usize], z: &Points| -> Vec<f64> {
            ln_values(&of(models), z).into_iter().zip(z.iter()).map(|(ln, z)| ln + ln_prior(latent, z)).collect()
        };
        chains_through(&own, &references, &jumps, streams, evaluate)
    }

    /// Where the evidence of a model with these states of its posterior is looked for.
    fn proposals(&self, states: &Points) -> Proposals {
        match self {
            Self::Slide { wide, .. } => Proposals::of_few(states, wide),
            Self::Glide { draws, .. } => Proposals::of_many(states, draws),
        }
    }
}

/// What is found of each model, their chains side by side. Runs on one thread.
fn judge(without: &[Without<'_>], chains: &Chains, seed: u64) -> Result<Vec<Judged>, Error> {
    let prior = &without[0].model.question.prior;
    let mut streams: Vec<ChaCha8Rng> = without.iter().map(|w| stream(seed, Purpose::LeftOut, w.tried.simulation as u64)).collect();
    let passing = chains.through(without, &prior.latent(), &mut streams);
    let mut judged = Vec::with_capacity(without.len());
    for ((without, chain), rng) in without.iter().zip(&passing).zip(&mut streams) {
        let theta = prior.from_latent_points(&chain.states);
        let shares = (0..theta.columns()).map(|d| share_below(&theta.column(d), chain.place, rng.random())).collect();
        let joint = share_below(&chain.values, chain.place, rng.random());
        judged.push(Judged { score: without.score(&chains.proposals(&chain.states), rng)?, shares, joint });
    }
    Ok(judged)
}

/// The same with the simulated parameters for what they were drawn from.
fn judge_by_simulated(without: &Without<'_>, candidates: &Points, seed: u64) -> Judged {
    let prior = &without.model.question.prior;
    let mut rng = stream(seed, Purpose::LeftOut, without.tried.simulation as u64);
    let mut rows = vec![without.own()];
    rows.extend(candidates.iter().filter(|z| *z != without.own()));
    let z = Points::from_rows(&rows).expect("every candidate has the same number of coordinates");
    let ln = ln_values(&vec![without; z.rows()], &z);
    let weights = relative(&ln);
    let theta = prior.from_latent_points(&z);
    let shares = (0..theta.columns()).map(|d| weighted_share_below(&theta.column(d), &weights, rng.random())).collect();
    let joint = weighted_share_below(&ln, &weights, rng.random());
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    Judged { score: (weights[0] / mean).ln(), shares, joint }
}
