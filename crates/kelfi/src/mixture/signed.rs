//! The posterior in z coordinates as a signed Gaussian mixture: Σ_j ω_j N(z | c_j, S), Σ ω_j = 1.

use crate::Points;
use crate::kernel::Kernel;
use crate::linalg::vector::dot;
use crate::mixture::marginals::MarginalMixture;
use crate::special::normal::cdf as normal_cdf;
use rand::{Rng, RngExt};

const SQRT_2PI: f64 = 2.506_628_274_631_000_7;

/// Gaussians that share their standard deviations, with signed weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Standard deviation in each dimension.
    pub std: Vec<f64>,
    /// Centres, one a row.
    pub centres: Points,
    /// Signed weights.
    pub weights: Vec<f64>,
}

impl Part {
    /// A draw of component `j`.
    pub fn draw(&self, j: usize, rng: &mut dyn Rng) -> Vec<f64> {
        self.centres.row(j).iter().zip(&self.std).map(|(c, s)| c + s * crate::random::standard_normal(rng)).collect()
    }
}

/// A signed Gaussian mixture whose weights sum to one.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedMixture {
    parts: Vec<Part>,
    positive_weight: f64,
}

impl SignedMixture {
    /// The mixture of these parts; components whose weight has vanished are left out, wherever they lie.
    pub fn new(mut parts: Vec<Part>) -> Self {
        for part in parts.iter_mut().filter(|part| part.weights.contains(&0.0)) {
            let kept: Vec<usize> = (0..part.weights.len()).filter(|&j| part.weights[j] != 0.0).collect();
            part.centres = part.centres.select(&kept);
            part.weights.retain(|&w| w != 0.0);
        }
        let positive_weight = parts.iter().flat_map(|p| &p.weights).filter(|w| **w > 0.0).sum();
        Self { parts, positive_weight }
    }

    /// Its parts.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Whether all weights and centres are finite.
    pub fn is_finite(&self) -> bool {
        self.parts.iter().all(|part| part.weights.iter().chain(part.centres.values()).all(|value| value.is_finite()))
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        self.parts[0].std.len()
    }

    /// Sum of the positive weights, at least one: what rejection from the positive components costs.
    pub fn positive_weight(&self) -> f64 {
        self.positive_weight
    }

    /// Σ_j ω_j N(z | c_j, S) at every query.
    pub fn values(&self, z: &Points) -> Vec<f64> {
        self.weighted_values(z, |w| w)
    }

    /// The density of the positive components only: Σ_{ω_j > 0} ω_j N(z | c_j, S), nowhere below the positive part of the mixture.
    pub fn positive_values(&self, z: &Points) -> Vec<f64> {
        self.weighted_values(z, |w| w.max(0.0))
    }

    fn weighted_values(&self, z: &Points, weight: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut total = vec![0.0; z.rows()];
        for part in &self.parts {
            let kernel = Kernel::gaussian(part.std.clone()).expect("standard deviations of a mixture are positive");
            let normaliser: f64 = part.std.iter().map(|s| 1.0 / (s * SQRT_2PI)).product();
            let weights: Vec<f64> = part.weights.iter().map(|&w| weight(w) * normaliser).collect();
            let sums = kernel.sums(&kernel.scale(&part.centres), &weights, z);
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
        total
    }

    /// A draw from the normalised positive components.
    pub fn draw_positive(&self, rng: &mut dyn Rng) -> Vec<f64> {
        let mut left = rng.random::<f64>() * self.positive_weight;
        let mut chosen = None;
        'search: for part in &self.parts {
            for (j, &w) in part.weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                chosen = Some((part, j));
                left -= w;
                if left < 0.0 {
                    break 'search;
                }
            }
        }
        let (part, j) = chosen.expect("weights that sum to one have a positive one among them");
        part.draw(j, rng)
    }

    /// The distribution of aᵀz: again a signed mixture, in one dimension.
    pub fn marginal(&self, direction: &[f64]) -> MarginalMixture {
        let mut marginal = MarginalMixture::default();
        for part in &self.parts {
            let std = part.std.iter().zip(direction).map(|(s, a)| (s * a).powi(2)).sum::<f64>().sqrt();
            for (centre, &weight) in part.centres.iter().zip(&part.weights) {
                marginal.push(weight, dot(centre, direction), std);
            }
        }
        marginal
    }

    /// The signed density of (z_d, z_e) at every pair.
    pub fn pair_values(&self, d: usize, e: usize, pairs: &Points) -> Vec<f64> {
        let parts = self.parts.iter().map(|part| Part {
            std: vec![part.std[d], part.std[e]],
            centres: part.centres.map_rows(2, |c| vec![c[d], c[e]]),
            weights: part.weights.clone(),
        });
        Self::new(parts.collect()).values(pairs)
    }

    /// Signed mass of the box low < z < high; infinite ends are allowed.
    pub fn box_probability(&self, low: &[f64], high: &[f64]) -> f64 {
        let mut total = 0.0;
        for part in &self.parts {
            for (c, w) in part.centres.iter().zip(&part.weights) {
                let side = |d: usize| interval_probability((low[d] - c[d]) / part.std[d], (high[d] - c[d]) / part.std[d]);
                total += w * (0..c.len()).map(side).product::<f64>();
            }
        }
        total
    }

    /// E[z].
    pub fn mean(&self) -> Vec<f64> {
        let term = |part: &Part, d: usize| dot(&part.weights, &part.centres.column(d));
        (0..self.dimension()).map(|d| self.parts.iter().map(|p| term(p, d)).sum()).collect()
    }

    /// Cov[z].
    pub fn covariance(&self) -> Points {
        let mean = self.mean();
        let dimension = self.dimension();
        let mut covariance = Points::zeros(dimension, dimension);
        for part in &self.parts {
            for (c, w) in part.centres.iter().zip(&part.weights) {
                for d in 0..dimension {
                    for e in 0..dimension {
                        let own = if d == e { part.std[d].powi(2) } else { 0.0 };
                        covariance.row_mut(d)[e] += w * (own + (c[d] - mean[d]) * (c[e] - mean[e]));
                    }
                }
            }
        }
        covariance
    }
}

/// Φ(b) - Φ(a) without cancellation in the upper tail.
fn interval_probability(a: f64, b: f64) -> f64 {
    if a > 0.0 { normal_cdf(-a) - normal_cdf(-b) } else { normal_cdf(b) - normal_cdf(a) }
}
