//! Simulations near the observation, each as the observation of a model without it: scores and places of their parameters.

use crate::Points;
use crate::simulations::local_set::weighted_mean;
use serde::{Deserialize, Serialize};

/// A θ_i that gets less than this share of its prior density counts as if it got this.
pub const FLOOR: f64 = 1e-2;

/// How much posterior density the own parameters get.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Which simulations, nearest first.
    pub indices: Vec<usize>,
    /// The nearer to the observation the heavier; they sum to one.
    pub weights: Vec<f64>,
    /// ln q₋ᵢ(x_i|θ_i) - ln q₋ᵢ(x_i) of each.
    pub scores: Vec<f64>,
}

impl Scores {
    /// Nats of posterior over prior density at the truth, averaged over the simulations, and the standard error.
    pub fn mean(&self) -> (f64, f64) {
        weighted_mean(&self.scores, &self.weights)
    }
}

/// Where the own parameters lie in their posteriors.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares {
    /// Which simulations, nearest first.
    pub indices: Vec<usize>,
    /// The nearer to the observation the heavier; they sum to one.
    pub weights: Vec<f64>,
    /// Share of the posterior below the own parameters: a row per simulation, a column per parameter.
    pub shares: Points,
    /// Share of the posterior with a lower density than at the own parameters; empty where it was not looked at.
    pub joint: Vec<f64>,
    /// How many more could not be judged, for want of a positive evidence without them.
    pub skipped: usize,
    /// Whether the simulated parameters stood for what they were drawn from, since it was not the prior.
    pub by_simulated: bool,
}

/// Everything that leaving out says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub struct LeftOut {
    /// Scores.
    pub scores: Scores,
    /// Shares.
    pub shares: Shares,
}

/// As it stands in a file.
#[derive(Serialize, Deserialize)]
struct Saved {
    indices: Vec<usize>,
    weights: Vec<f64>,
    scores: Vec<f64>,
    shares: Points,
    /// None in files from before it was looked at.
    #[serde(default)]
    joint: Vec<f64>,
    #[serde(default)]
    by_simulated: bool,
    #[serde(default, skip_serializing_if = "is_zero")]
    skipped: usize,
    /// Simulations that were scored and their weights, where these are not the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scored: Option<(Vec<usize>, Vec<f64>)>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl From<Saved> for LeftOut {
    fn from(saved: Saved) -> Self {
        let (indices, weights) = saved.scored.unwrap_or_else(|| (saved.indices.clone(), saved.weights.clone()));
        Self {
            scores: Scores { indices, weights, scores: saved.scores },
            shares: Shares {
                indices: saved.indices,
                weights: saved.weights,
                shares: saved.shares,
                joint: saved.joint,
                skipped: saved.skipped,
                by_simulated: saved.by_simulated,
            },
        }
    }
}

impl From<LeftOut> for Saved {
    fn from(LeftOut { scores, shares }: LeftOut) -> Self {
        let same = scores.indices == shares.indices && scores.weights == shares.weights;
        Self {
            scored: (!same).then_some((scores.indices, scores.weights)),
            scores: scores.scores,
            indices: shares.indices,
            weights: shares.weights,
            shares: shares.shares,
            joint: shares.joint,
            skipped: shares.skipped,
            by_simulated: shares.by_simulated,
        }
    }
}

/// The share of the weights below the first value, the first one's and its equals' counted in the part `uniform`.
pub(crate) fn weighted_share_below(values: &[f64], weights: &[f64], uniform: f64) -> f64 {
    let of = |keep: &dyn Fn(f64) -> bool| values.iter().zip(weights).filter(|(v, _)| keep(**v)).map(|(_, w)| w).sum::<f64>();
    let total: f64 = weights.iter().sum();
    if total > 0.0 { (of(&|v| v < values[0]) + uniform * of(&|v| v == values[0])) / total } else { uniform }
}
