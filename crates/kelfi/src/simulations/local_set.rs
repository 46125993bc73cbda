//! Which simulations play the observation when hyperparameters are scored: those near the real one, the nearer the heavier.

use crate::simulations::same_theta::SameTheta;
use crate::simulations::{Observation, Recorded};
use crate::{Error, Points};

/// At most this many.
const LARGEST: usize = 200;
/// The weight of a simulation falls to exp(-½) at this many spreads of the statistics from the observation,
const REACH: f64 = 1.5;
/// or at the distance of this many nearest simulations where they are farther.
const NEAREST: usize = 40;

/// Simulations with weights that sum to one, nearest first.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalSet {
    /// Which simulations.
    pub indices: Vec<usize>,
    /// Their weights.
    pub weights: Vec<f64>,
    /// All simulations at the θ of each, itself among them: they are left out together.
    pub together: Vec<Vec<usize>>,
}

impl LocalSet {
    /// The successful simulations nearest to the observation by the root mean square distance in units of `scales`,
    /// over the `active` statistics that are not left out.
    pub fn new(recorded: &Recorded, observation: &Observation, scales: &[f64], active: usize) -> Result<Self, Error> {
        Self::of(recorded, observation, scales, active, LARGEST, |_, _| true)
    }

    /// Up to `most` of the first simulations at every θ: their places in their posteriors say nothing of one another.
    pub fn independent(recorded: &Recorded, observation: &Observation, scales: &[f64], active: usize, most: usize) -> Result<Self, Error> {
        Self::of(recorded, observation, scales, active, most, |same, i| same.with(i)[0] == i)
    }

    fn of(
        recorded: &Recorded,
        observation: &Observation,
        scales: &[f64],
        active: usize,
        most: usize,
        which: impl Fn(&SameTheta, usize) -> bool,
    ) -> Result<Self, Error> {
        let same = SameTheta::new(recorded.theta());
        let discrepancies = recorded.discrepancies(observation)?;
        let n = active.max(1) as f64;
        let mut distances: Vec<(f64, usize)> = (0..discrepancies.simulations())
            .filter(|&i| which(&same, i) && recorded.as_observation(i).is_some())
            .map(|i| (discrepancies.distance_of(i, scales) / n.sqrt(), i))
            .collect();
        distances.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        distances.truncate(most);
        let typical = distances.get(distances.len().saturating_sub(1).min(NEAREST)).map_or(0.0, |nearest| nearest.0);
        let reach = typical.max(REACH);
        let raw: Vec<f64> = distances.iter().map(|(d, _)| (-0.5 * (d / reach).powi(2)).exp()).collect();
        let total: f64 = raw.iter().sum();
        let weights = raw.into_iter().map(|w| w / total).collect();
        let indices: Vec<usize> = distances.into_iter().map(|(_, i)| i).collect();
        Ok(Self { together: indices.iter().map(|&i| same.with(i).to_vec()).collect(), indices, weights })
    }

    /// The nearest `count` of them.
    pub fn nearest(mut self, count: usize) -> Self {
        self.indices.truncate(count);
        self.weights.truncate(count);
        self.together.truncate(count);
        let total: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|w| *w /= total);
        self
    }

    /// (Σw)²/Σw²: how many simulations the weights amount to.
    pub fn effective(&self) -> f64 {
        1.0 / self.weights.iter().map(|w| w * w).sum::<f64>()
    }

    /// Mean and standard deviation of the set in z coordinates: where the posterior is to be expected.
    pub fn spread(&self, z: &Points) -> (Vec<f64>, Vec<f64>) {
        let moment = |d: usize, about: f64, power: i32| -> f64 {
            self.indices.iter().zip(&self.weights).map(|(&i, w)| w * (z.row(i)[d] - about).powi(power)).sum()
        };
        let mean: Vec<f64> = (0..z.columns()).map(|d| moment(d, 0.0, 1)).collect();
        let std = mean.iter().enumerate().map(|(d, &m)| moment(d, m, 2).sqrt().max(1e-3)).collect();
        (mean, std)
    }
}

/// The mean with weights that sum to one, and its standard error.
pub fn weighted_mean(values: &[f64], weights: &[f64]) -> (f64, f64) {
    let mean: f64 = values.iter().zip(weights).map(|(v, w)| w * v).sum();
    let variance: f64 = values.iter().zip(weights).map(|(v, w)| (w * (v - mean)).powi(2)).sum();
    (mean, variance.sqrt())
}
