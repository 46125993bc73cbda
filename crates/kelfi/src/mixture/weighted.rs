//! Weighted draws: signed weights on draws of the prior, or positive ones that stand for the clipped density.

use crate::linalg::vector::dot;
use crate::{Error, Points, Prior};

/// Draws z_t of the prior with weights q(y|z_t) / (T q(y)), which sum to about one.
#[derive(Debug, Clone)]
pub struct WeightedDraws {
    z: Points,
    weights: Vec<f64>,
}

/// The positive part of one coordinate of the draws, sorted.
#[derive(Debug, Clone)]
pub struct WeightedLine {
    values: Vec<f64>,
    below: Vec<f64>,
    bandwidth: f64,
}

impl WeightedDraws {
    /// With these weights, which sum to one and may be negative.
    pub fn signed(z: Points, weights: Vec<f64>) -> Self {
        Self { z, weights }
    }

    /// Draws of the posterior itself: equal weights.
    pub fn equal(z: Points) -> Self {
        Self { weights: vec![1.0 / z.rows() as f64; z.rows()], z }
    }

    /// Draws with these weights, which are not negative: those that count, weights made to sum to one.
    pub fn weighted(z: Points, weights: Vec<f64>) -> Self {
        let kept: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
        let total: f64 = kept.iter().map(|&i| weights[i]).sum();
        Self { z: z.select(&kept), weights: kept.iter().map(|&i| weights[i] / total).collect() }
    }

    /// The positive weights only.
    pub fn clipped(&self) -> Self {
        Self::weighted(self.z.clone(), self.weights.iter().map(|w| w.max(0.0)).collect())
    }

    /// (Σw)²/Σw²: how many draws of equal weight they are worth, where no weight is negative.
    pub fn effective(&self) -> f64 {
        1.0 / self.weights.iter().map(|w| w * w).sum::<f64>()
    }

    /// `count` draws of equal weight, taken at even steps of the weights' sum; no weight is negative.
    pub fn resampled(&self, count: usize) -> Self {
        let (mut chosen, mut below) = (Vec::with_capacity(count), 0.0);
        for (i, weight) in self.weights.iter().enumerate() {
            below += weight;
            while chosen.len() < count && (chosen.len() as f64 + 0.5) / (count as f64) < below {
                chosen.push(i);
            }
        }
        // Rounding may leave the sum just below one.
        chosen.resize(count, self.weights.len() - 1);
        Self::equal(self.z.select(&chosen))
    }

    /// The draws in z coordinates.
    pub fn z(&self) -> &Points {
        &self.z
    }

    /// Their signed weights.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// E[θ].
    pub fn mean(&self, prior: &Prior) -> Vec<f64> {
        let mut mean = vec![0.0; prior.dimension()];
        for (z, w) in self.z.iter().zip(&self.weights) {
            for (mean, theta) in mean.iter_mut().zip(prior.from_latent(z)) {
                *mean += w * theta;
            }
        }
        mean
    }

    /// Cov[θ].
    pub fn covariance(&self, prior: &Prior) -> Points {
        let mean = self.mean(prior);
        let mut covariance = Points::zeros(mean.len(), mean.len());
        for (z, w) in self.z.iter().zip(&self.weights) {
            let theta = prior.from_latent(z);
            for d in 0..mean.len() {
                for e in 0..mean.len() {
                    let term = w * (theta[d] - mean[d]) * (theta[e] - mean[e]);
                    // A family may span so many orders of magnitude that squares are too large for a number.
                    let sum = covariance.row(d)[e] + if term.is_nan() { f64::MAX } else { term.clamp(-f64::MAX, f64::MAX) };
                    covariance.row_mut(d)[e] = sum.clamp(-f64::MAX, f64::MAX);
                }
            }
        }
        covariance
    }

    /// Signed mass of the box.
    pub fn box_probability(&self, prior: &Prior, low: &[f64], high: &[f64]) -> f64 {
        let inside = |z: &[f64]| prior.from_latent(z).iter().zip(low.iter().zip(high)).all(|(t, (l, h))| l <= t && t <= h);
        self.z.iter().zip(&self.weights).filter(|(z, _)| inside(z)).map(|(_, w)| w).sum()
    }

    /// A Gaussian kernel estimate of the joint density of (aᵀz, bᵀz) from the positive weights, bandwidths by Scott's rule.
    pub fn pair_density(&self, a: &[f64], b: &[f64], pairs: &Points) -> Vec<f64> {
        let total: f64 = self.weights.iter().map(|w| w.max(0.0)).sum();
        let positive = self.z.iter().zip(&self.weights).filter(|(_, w)| **w > 0.0);
        let kept: Vec<(f64, f64, f64)> = positive.map(|(z, w)| (dot(a, z), dot(b, z), w / total)).collect();
        let effective = 1.0 / kept.iter().map(|k| k.2 * k.2).sum::<f64>();
        let width = |direction: &[f64], value: fn(&(f64, f64, f64)) -> f64| {
            let mean: f64 = kept.iter().map(|k| k.2 * value(k)).sum();
            let variance: f64 = kept.iter().map(|k| k.2 * (value(k) - mean).powi(2)).sum();
            let spread = self.line(direction).within_modes(variance.sqrt());
            (spread * effective.powf(-1.0 / 6.0)).max(f64::MIN_POSITIVE)
        };
        let (h, g) = (width(a, |k| k.0), width(b, |k| k.1));
        let at = |pair: &[f64]| {
            let sum: f64 = kept.iter().map(|k| k.2 * (-0.5 * (((pair[0] - k.0) / h).powi(2) + ((pair[1] - k.1) / g).powi(2))).exp()).sum();
            sum / (std::f64::consts::TAU * h * g)
        };
        pairs.iter().map(at).collect()
    }

    /// Positive and negative mass.
    pub fn masses(&self) -> (f64, f64) {
        self.weights.iter().fold((0.0, 0.0), |(p, n), w| (p + w.max(0.0), n - w.min(0.0)))
    }

    /// aᵀz of the draws with positive weight, sorted.
    pub fn line(&self, direction: &[f64]) -> WeightedLine {
        let mut pairs: Vec<(f64, f64)> =
            self.z.iter().zip(&self.weights).filter(|(_, w)| **w > 0.0).map(|(z, w)| (dot(direction, z), *w)).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = pairs.iter().map(|pair| pair.1).sum();
        let effective = total * total / pairs.iter().map(|pair| pair.1 * pair.1).sum::<f64>();
        let mut below = Vec::with_capacity(pairs.len());
        let mut sum = 0.0;
        for pair in &pairs {
            sum += pair.1 / total;
            // Rounding of the shares must not make more than all of them.
            below.push(sum.min(1.0));
        }
        let mut line = WeightedLine { values: pairs.into_iter().map(|pair| pair.0).collect(), below, bandwidth: 1.0 };
        // Silverman's rule with the interquartile range and the effective number of draws.
        let spread = line.within_modes((line.at(0.75) - line.at(0.25)) / 1.349);
        line.bandwidth = (0.9 * spread * effective.powf(-0.2)).max(1e-12 * line.at(0.5).abs()).max(f64::MIN_POSITIVE);
        line
    }
}

impl WeightedLine {
    fn at(&self, p: f64) -> f64 {
        self.values[self.below.partition_point(|&share| share < p).min(self.values.len() - 1)]
    }

    /// A standard deviation for a bandwidth: `whole`, that of all draws, unless a quarter of them lies in less than half of the interval that it
    /// would take of a Gaussian. Then most of `whole` is the distance between modes, and the draws are as wide as that quarter says.
    fn within_modes(&self, whole: f64) -> f64 {
        const STEPS: usize = 300;
        // A Gaussian has a quarter of its mass within 0.6373 standard deviations.
        const QUARTER: f64 = 0.6373;
        let narrowest = (0..STEPS).map(|k| 0.75 * k as f64 / (STEPS - 1) as f64).map(|p| self.at(p + 0.25) - self.at(p));
        let local = narrowest.fold(f64::INFINITY, f64::min) / QUARTER;
        if local > 0.0 && local < 0.5 * whole { local } else { whole }
    }

    /// The smallest draw with at least a share `p` at or below it.
    pub fn quantile(&self, p: f64) -> Result<f64, Error> {
        if !(0.0..=1.0).contains(&p) {
            return Err(Error::invalid("probability", p, "it must lie between 0 and 1"));
        }
        Ok(self.at(p))
    }

    /// The share at or below a value.
    pub fn cdf(&self, value: f64) -> f64 {
        match self.values.partition_point(|&v| v <= value) {
            0 => 0.0,
            k => self.below[k - 1],
        }
    }

    /// A Gaussian kernel estimate of the density.
    pub fn density(&self, value: f64) -> f64 {
        self.expectation(|v| (-0.5 * ((value - v) / self.bandwidth).powi(2)).exp()) / (self.bandwidth * 2.506_628_274_631_000_7)
    }
    /// The mean of f over the draws.
    fn expectation(&self, f: impl Fn(f64) -> f64) -> f64 {
        let mut sum = 0.0;
        let mut before = 0.0;
        for (v, below) in self.values.iter().zip(&self.below) {
            sum += (below - before) * f(*v);
            before = *below;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two modes of equal weight at ±1, each a Gaussian with this standard deviation, by quantiles.
    fn two_modes(deviation: f64) -> WeightedDraws {
        let quantiles = (0..500).map(|k| deviation * crate::special::normal::quantile_of((k as f64 + 0.5) / 500.0));
        WeightedDraws::equal(Points::from_column(quantiles.flat_map(|q| [q - 1.0, q + 1.0]).collect()))
    }

    #[test]
    fn the_density_of_separate_modes_is_as_narrow_as_they_are() {
        let deviation = 0.1;
        let draws = two_modes(deviation);
        let exact = 0.5 / (deviation * std::f64::consts::TAU.sqrt());
        let line = draws.line(&[1.0]);
        assert!((line.density(1.0) / exact - 1.0).abs() < 0.15, "{} and {exact}", line.density(1.0));
        assert!(line.density(0.5) < 0.01 * exact, "{}", line.density(0.5));
        let pair = draws.pair_density(&[1.0], &[1.0], &Points::from_rows(&[[1.0, 1.0], [1.0, -1.0]]).unwrap());
        assert!(pair[1] < 1e-6 * pair[0], "{pair:?}");
    }

    #[test]
    fn one_mode_keeps_the_rule_for_all_draws() {
        let line = two_modes(2.0).line(&[1.0]);
        let spread = (line.at(0.75) - line.at(0.25)) / 1.349;
        assert_eq!(line.within_modes(spread), spread);
    }
}
