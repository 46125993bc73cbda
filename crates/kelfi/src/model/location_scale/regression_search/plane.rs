//! ln p(t) of a regression without a curved part, from sums over the targets that a search makes once.
//!
//! With features f_i = (1, z_i), their scales s = (1, b/β) and the same noise N for every target, A = F D² Fᵀ + N with D = diag(s). With
//! S = (I + D FᵀF D/N)⁻¹ and w = S D Fᵀt/N:
//!
//! - tᵀA⁻¹t = (tᵀt - (D Fᵀt)ᵀw)/N and ln|A| = m ln N - ln|S|
//! - ∂/∂ ln s_k = w_k² - (1 - S_kk)
//! - ∂/∂ ln s², halved twice over, = s² (|A⁻¹t|² - tr A⁻¹) with |A⁻¹t|² = |t - F D w|²/N² and tr A⁻¹ = (m - r + tr S)/N, r features

use crate::Points;
use crate::linalg::Cholesky;
use crate::linalg::vector::dot;
use crate::model::location_scale::regression::RegressionHyperparameters;

/// FᵀF, Fᵀt and tᵀt of m targets.
pub struct Plane {
    count: usize,
    products: Vec<f64>,
    with_targets: Vec<f64>,
    squared: f64,
}

impl Plane {
    /// Of standardised targets.
    pub fn new(z: &Points, t: &[f64]) -> Self {
        let size = 1 + z.columns();
        let (mut products, mut with_targets) = (vec![0.0; size * size], vec![0.0; size]);
        let mut feature = vec![1.0; size];
        for (z, t) in z.iter().zip(t) {
            feature[1..].copy_from_slice(z);
            for (k, f) in feature.iter().enumerate() {
                with_targets[k] += f * t;
                products[k * size..(k + 1) * size].iter_mut().zip(&feature).for_each(|(sum, other)| *sum += f * other);
            }
        }
        Self { count: t.len(), products, with_targets, squared: dot(t, t) }
    }

    /// ln p(t) up to a constant and its gradient in ln a (0), ln b, ln s and each ln β.
    pub fn value_and_gradient(&self, h: &RegressionHyperparameters) -> (f64, Vec<f64>) {
        let size = self.with_targets.len();
        let scales: Vec<f64> = std::iter::once(1.0).chain(h.slopes()).collect();
        let (m, noise) = (self.count as f64, h.noise_variance(1.0));
        let scaled = |k: usize| scales[k / size] * scales[k % size] * self.products[k];
        let mut information: Vec<f64> = (0..size * size).map(|k| scaled(k) / noise).collect();
        (0..size).for_each(|k| information[k * size + k] += 1.0);
        let right: Vec<f64> = self.with_targets.iter().zip(&scales).map(|(sum, scale)| sum * scale).collect();
        let Ok(cholesky) = Cholesky::new(information, size) else { return (f64::NAN, vec![f64::NAN; 3 + h.length_scales.len()]) };
        let mut weights: Vec<f64> = right.iter().map(|value| value / noise).collect();
        cholesky.solve_in_place(&mut weights);
        let explained = dot(&right, &weights);
        let value = -0.5 * ((self.squared - explained) / noise + m * noise.ln() + cholesky.ln_determinant());
        let covariance = cholesky.inverse();
        let own = |k: usize| covariance[k * size + k];
        let fitted: f64 = (0..size * size).map(|k| weights[k / size] * weights[k % size] * scaled(k)).sum();
        let alpha2 = (self.squared - 2.0 * explained + fitted) / (noise * noise);
        let trace = (m - size as f64 + (0..size).map(own).sum::<f64>()) / noise;
        let tilts: Vec<f64> = (1..size).map(|k| weights[k].powi(2) - (1.0 - own(k))).collect();
        let mut gradient = vec![0.0, tilts.iter().sum(), h.noise.powi(2) * (alpha2 - trace)];
        gradient.extend(tilts.iter().map(|tilt| -tilt));
        (value, gradient)
    }
}
