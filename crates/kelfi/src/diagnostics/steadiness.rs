//! How far would the answer move with more simulations? From the same model on halves of those there are.
//!
//! If the posterior mean from m simulations varies between sets of simulations with variance V ∝ 1/m, then that from a random half differs
//! from that from all by V on average (the delete-half jackknife), and that from four times as many by ¾ V. Halves are fitted with the
//! hyperparameters of all; their means are those of draws of the posterior, weighted by how much more likely a half makes each.

use crate::checks::{Check, Status};
use crate::model::Likelihood;
use crate::posterior::Form;
use crate::random::{Purpose, stream};
use crate::simulations::Observation;
use crate::{Error, Points, Posterior};
use rand::RngExt;
use rayon::prelude::*;

/// Times the simulations are split in two.
const SPLITS: usize = 3;
/// Fewer simulations are not split.
const FEWEST: usize = 24;
/// Draws of the posterior that halves are judged by.
const DRAWS: usize = 500;
/// V(m) - V(4m), in V(m).
const FOUR_TIMES: f64 = 0.75;

/// Means that would move by more than 0.61 posterior standard deviations are warned about: 0.75/0.61² draws are as steady.
const LEAST_EFFECTIVE: f64 = 2.0;
/// Means that would move by less, in posterior standard deviations, hardly change with more simulations.
const LITTLE: f64 = 0.2;

/// How far posterior means would move with four times as many simulations.
#[derive(Debug, Clone, PartialEq)]
pub struct Steadiness {
    /// Root mean square over parameters, in posterior standard deviations.
    pub movement: f64,
    /// Its standard error.
    pub error: f64,
    /// Posterior standard deviations of halves over that of all: geometric mean over halves and parameters.
    pub width_of_half: f64,
}

impl Steadiness {
    /// `None` where there are too few simulations, or none of the halves has a posterior.
    pub fn new(posterior: &Posterior, likelihood: &Likelihood, observation: &Observation, seed: u64) -> Result<Option<Self>, Error> {
        let count = likelihood.recorded().theta().rows();
        if count < FEWEST {
            return Ok(None);
        }
        let z = draws(posterior, seed)?;
        let theta = posterior.prior().from_latent_points(&z);
        let whole = Moments::of(&theta, &vec![1.0; theta.rows()]);
        let ln_whole = posterior.surrogate().ln_relative_values(&z);
        let of_half = |half: &Vec<usize>| -> Option<Compared> {
            let surrogate = likelihood.on_part(half, observation).ok()?.surrogate();
            let ratios: Vec<f64> = surrogate.ln_relative_values(&z).iter().zip(&ln_whole).map(|(half, whole)| half - whole).collect();
            let largest = ratios.iter().copied().filter(|r| r.is_finite()).fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = ratios.iter().map(|r| if r.is_finite() { (r - largest).exp() } else { 0.0 }).collect();
            largest.is_finite().then(|| Moments::of(&theta, &weights).compared_with(&whole))
        };
        let halves: Vec<Vec<usize>> = (0..SPLITS).flat_map(|split| split_in_two(count, seed, split as u64)).collect();
        let found: Vec<Compared> = halves.par_iter().map(of_half).collect::<Vec<_>>().into_iter().flatten().collect();
        if found.is_empty() {
            return Ok(None);
        }
        let average = |of: fn(&Compared) -> f64| found.iter().map(of).sum::<f64>() / found.len() as f64;
        let movement = (FOUR_TIMES * average(|c| c.squared_shift)).sqrt();
        // A split has about one degree of freedom: of a root of a mean of k squares the standard error is 1/√(2k) of it.
        let error = movement / (2.0 * SPLITS as f64).sqrt();
        Ok(Some(Self { movement, error, width_of_half: average(|c| c.ln_width).exp() }))
    }

    /// In a sentence, the same wherever it is said.
    pub fn statement(&self) -> String {
        format!(
            "with four times as many simulations the posterior means would move by about {:.2} ± {:.2} posterior standard deviations",
            self.movement, self.error
        )
    }

    /// Independent draws of the posterior whose mean varies as much as the posterior mean does between sets of simulations: 1/V.
    pub fn effective(&self) -> f64 {
        FOUR_TIMES / self.movement.max(1e-6).powi(2)
    }
}

/// How many independent draws of the posterior would be as steady as its means are between sets of simulations; `carried_by` is
/// (Σκ)²/Σκ², how many simulations carry the answer of the kernel means model.
pub fn effective_simulations(steadiness: Option<&Steadiness>, carried_by: Option<f64>, simulations: usize) -> Check {
    let mut said = vec![];
    said.extend(carried_by.map(|effective| format!("the answer rests on about {effective:.1} of {simulations} simulations")));
    said.push(steadiness.map_or("there are too few simulations to tell how far more would move the answer".into(), Steadiness::statement));
    let effective = steadiness.map_or(0.0, Steadiness::effective);
    let status = match carried_by {
        Some(effective) if effective < 2.0 => Status::Fail,
        _ if effective < LEAST_EFFECTIVE => Status::Warn,
        _ => Status::Ok,
    };
    let advice = match (status, steadiness) {
        (Status::Ok, Some(steady)) if steady.movement < LITTLE => "more would change little",
        (Status::Ok, _) => "more would still sharpen them",
        _ => "simulate more before relying on them",
    };
    let message = format!("{}; {advice}", said.join("; "));
    Check { name: "effective_simulations".into(), status, value: effective, limit: LEAST_EFFECTIVE, message }
}

/// Draws in z coordinates.
fn draws(posterior: &Posterior, seed: u64) -> Result<Points, Error> {
    if let Form::Chained(chained) = posterior.form() {
        let all = chained.draws().z();
        return Ok(all.select(&(0..all.rows()).step_by((all.rows() / DRAWS).max(1)).collect::<Vec<_>>()));
    }
    posterior.prior().to_latent_points(&crate::samples::independent(posterior, DRAWS, seed)?.samples)
}

/// The two halves of a random order.
fn split_in_two(count: usize, seed: u64, split: u64) -> [Vec<usize>; 2] {
    let mut rng = stream(seed, Purpose::Parts, split);
    let mut order: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    let mut halves = [order[..count / 2].to_vec(), order[count / 2..].to_vec()];
    halves.iter_mut().for_each(|half| half.sort_unstable());
    halves
}

/// Mean and variance of every parameter.
struct Moments {
    means: Vec<f64>,
    variances: Vec<f64>,
}

/// A half beside the whole: mean squared shift in posterior variances, mean ln of the ratio of standard deviations.
struct Compared {
    squared_shift: f64,
    ln_width: f64,
}

impl Moments {
    fn of(theta: &Points, weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let expectation = |f: &dyn Fn(&[f64]) -> f64| theta.iter().zip(weights).map(|(theta, w)| w / total * f(theta)).sum::<f64>();
        let means: Vec<f64> = (0..theta.columns()).map(|d| expectation(&|theta| theta[d])).collect();
        let variances = (0..theta.columns()).map(|d| expectation(&|theta| (theta[d] - means[d]).powi(2))).collect();
        Self { means, variances }
    }

    fn compared_with(&self, whole: &Self) -> Compared {
        let count = self.means.len() as f64;
        let shift = |d: usize| (self.means[d] - whole.means[d]).powi(2) / whole.variances[d].max(f64::MIN_POSITIVE);
        let ln_ratio = |d: usize| 0.5 * (self.variances[d].max(f64::MIN_POSITIVE) / whole.variances[d].max(f64::MIN_POSITIVE)).ln();
        Compared {
            squared_shift: (0..self.means.len()).map(shift).sum::<f64>() / count,
            ln_width: (0..self.means.len()).map(ln_ratio).sum::<f64>() / count,
        }
    }
}
