//! What a shape is mixed of: N(u | s M_j, e_j² I) for every simulated residual u_j, M_j the residual itself or the mean of those around it.
//!
//! e_j = min(1, e + c |u_j|/√n): residuals far out lie far apart, and the tolerance that suits the middle would leave gaps between them.
//! s² Σ|M_j|²/Σ|u_j|² = 1 - mean e_j² keeps the variance of the mixture at that of the residuals.

use super::Centres;
use super::local_means::LocalMeans;
use crate::Points;
use crate::linalg::products::transpose;
use crate::linalg::vector::{dot, scaled_gaussian_row};
use crate::random::standard_normal;
use rand_chacha::ChaCha8Rng;

/// e_j of each residual.
#[derive(Debug, Clone)]
pub struct Tolerances {
    /// e_j.
    pub each: Vec<f64>,
    /// 1 - mean e_j²: the variance that is left for the centres.
    pub left: f64,
}

impl Tolerances {
    /// From e, c and the |u_j|² of residuals of n statistics.
    pub fn new(tolerance: f64, growth: f64, squared_radii: &[f64], n: usize) -> Self {
        let of_one = |r2: &f64| (tolerance + growth * (r2 / n as f64).sqrt()).min(1.0);
        let each: Vec<f64> = squared_radii.iter().map(of_one).collect();
        let mean_square = each.iter().map(|e| e * e).sum::<f64>() / each.len() as f64;
        Self { each, left: (1.0 - mean_square).max(0.0) }
    }

    /// M_j.
    pub fn means(&self, u: &Points, centres: Centres) -> LocalMeans {
        match centres {
            Centres::Residuals => LocalMeans::themselves(u),
            Centres::LocalMeans => LocalMeans::new(u, &self.precisions()),
        }
    }

    /// s, for these M_j.
    pub fn shrinkage(&self, means: &LocalMeans) -> f64 {
        (self.left / means.spread().max(f64::MIN_POSITIVE)).sqrt()
    }

    /// The smallest e_j.
    pub fn smallest(&self) -> f64 {
        self.each.iter().copied().fold(1.0, f64::min)
    }

    /// n ln(e/e_j), e the smallest: heights of the components relative to the highest.
    pub fn ln_heights(&self, n: usize) -> Vec<f64> {
        let smallest = self.smallest();
        self.each.iter().map(|e| n as f64 * (smallest / e).ln()).collect()
    }

    /// 1/e_j².
    pub fn precisions(&self) -> Vec<f64> {
        self.each.iter().map(|e| (e * e).recip()).collect()
    }
}

/// All components.
#[derive(Debug, Clone)]
pub struct Components {
    tolerances: Tolerances,
    means: LocalMeans,
    shrinkage: f64,
    /// s M_j, one coordinate after the other.
    centres: Vec<f64>,
    precisions: Vec<f64>,
    ln_heights: Vec<f64>,
    /// ln of (2π)^-n/2 e^-n, e the smallest tolerance.
    ln_normaliser: f64,
    n: usize,
}

impl Components {
    /// Around the residuals `u` (m × n).
    pub fn new(u: &Points, tolerance: f64, growth: f64, centres: Centres) -> Self {
        let (n, squared_radii) = (u.columns(), u.iter().map(|u| dot(u, u)).collect::<Vec<_>>());
        let tolerances = Tolerances::new(tolerance, growth, &squared_radii, n);
        let (precisions, ln_heights) = (tolerances.precisions(), tolerances.ln_heights(n));
        let means = tolerances.means(u, centres);
        let shrinkage = tolerances.shrinkage(&means);
        let centres = shrunk(&means.all(), n, shrinkage);
        let ln_normaliser = ln_normaliser(tolerances.smallest(), n);
        Self { tolerances, means, shrinkage, centres, precisions, ln_heights, ln_normaliser, n }
    }

    /// Centres without some residuals, whose own ones are not to be used; the shrinkage is kept.
    pub fn centres_without(&self, some: &[usize]) -> Vec<f64> {
        shrunk(&self.means.without(some), self.n, self.shrinkage)
    }

    /// m.
    pub fn count(&self) -> usize {
        self.precisions.len()
    }

    /// n.
    pub fn statistics(&self) -> usize {
        self.n
    }

    /// Whether there is nothing left of the residuals: Gaussian noise.
    pub fn is_gaussian(&self) -> bool {
        self.tolerances.left == 0.0
    }

    /// √(mean e_j²).
    pub fn typical_tolerance(&self) -> f64 {
        (1.0 - self.tolerances.left).sqrt()
    }

    /// out_j = (e/e_j)^n exp(-½ |u - s M_j|²/e_j²), e the smallest tolerance.
    pub fn at(&self, u: &[f64], out: &mut [f64]) {
        self.around(&self.centres, u, out);
    }

    /// The same around other centres.
    pub fn around(&self, centres: &[f64], u: &[f64], out: &mut [f64]) {
        scaled_gaussian_row(centres, u, &self.precisions, &self.ln_heights, out);
    }

    /// ∂/∂u of Σ_j w_j times component j, `heights` w_j times what [`Components::at`] gives: Σ_j heights_j (s M_j - u)/e_j².
    pub fn pull(&self, u: &[f64], heights: &[f64]) -> Vec<f64> {
        self.pull_around(&self.centres, u, heights)
    }

    /// The same around other centres.
    pub fn pull_around(&self, centres: &[f64], u: &[f64], heights: &[f64]) -> Vec<f64> {
        let m = self.count();
        let pulls: Vec<f64> = heights.iter().zip(&self.precisions).map(|(h, p)| h * p).collect();
        let total: f64 = pulls.iter().sum();
        (0..self.n).map(|k| dot(&centres[k * m..(k + 1) * m], &pulls) - u[k] * total).collect()
    }

    /// ln of what [`Components::at`] leaves out of the density: (2π)^-n/2 e^-n.
    pub fn ln_normaliser(&self) -> f64 {
        self.ln_normaliser
    }

    /// A draw from component j.
    pub fn draw(&self, j: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let m = self.count();
        (0..self.n).map(|k| self.centres[k * m + j] + self.tolerances.each[j] * standard_normal(rng)).collect()
    }
}

/// Rows of means times s, one coordinate after the other.
fn shrunk(means: &[f64], n: usize, s: f64) -> Vec<f64> {
    transpose(means, n).into_iter().map(|value| s * value).collect()
}

/// ln of the height of N(0, e² I) in n dimensions.
pub fn ln_normaliser(e: f64, n: usize) -> f64 {
    -(n as f64) * (e.ln() + 0.5 * std::f64::consts::TAU.ln())
}
