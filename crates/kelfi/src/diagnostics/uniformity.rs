//! Are shares uniform? Tests for weighted shares that see a posterior too narrow, too wide, shifted or misshapen.
//!
//! With normal scores s = Φ⁻¹(u), weights w that sum to one and ν = 1/Σw², uniform shares have
//!
//! - Σ w s ~ N(0, 1/ν): how far truths lie from the middle of their posteriors, in standard deviations;
//! - Σ w s² ~ χ²_ν/ν: the square of how much wider truths spread than their posteriors (by the cube root, Wilson & Hilferty 1931);
//! - Σ w L₃(u), Σ w L₄(u), orthonormal Legendre polynomials: the sum of their squares times ν ~ χ²₂ (Neyman 1937).
//!
//! The share of the posterior with a lower density than at the truth is uniform too; its normal score is low where truths lie too far out
//! in any direction. All levels are divided by the number of tests.

use crate::special::normal::{cdf, quantile_of};

/// Exact posteriors are found fault with at most this often, over all tests of all parameters.
pub const LEVEL: f64 = 0.005;
/// Scores of shares of 0 and 1.
const SMALLEST_SHARE: f64 = 1e-4;

/// What the shares of one number say, each with how often uniform ones say as much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uniformity {
    /// Mean normal score: where truths lie in their posteriors, in standard deviations from the middle.
    pub shift: f64,
    /// Root mean square of normal scores: how many times wider truths spread than their posteriors.
    pub stretch: f64,
    /// Of the shift.
    pub p_shift: f64,
    /// Of the stretch.
    pub p_stretch: f64,
    /// Of the shape.
    pub p_shape: f64,
}

impl Uniformity {
    /// Of shares with weights that sum to one.
    pub fn new(shares: &[f64], weights: &[f64]) -> Self {
        let effective = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        let mean = |of: &dyn Fn(f64) -> f64| shares.iter().zip(weights).map(|(u, w)| w * of(*u)).sum::<f64>();
        let score = |u: f64| quantile_of(u.clamp(SMALLEST_SHARE, 1.0 - SMALLEST_SHARE));
        let (shift, square) = (mean(&score), mean(&|u| score(u).powi(2)));
        let third = 2.0 / (9.0 * effective);
        let cubed = |u: f64| 7.0_f64.sqrt() * (((20.0 * u - 30.0) * u + 12.0) * u - 1.0);
        let fourth = |u: f64| 3.0 * ((((70.0 * u - 140.0) * u + 90.0) * u - 20.0) * u + 1.0);
        Self {
            shift,
            stretch: square.sqrt(),
            p_shift: two_sided(shift * effective.sqrt()),
            p_stretch: two_sided((square.cbrt() - (1.0 - third)) / third.sqrt()),
            p_shape: (-0.5 * effective * (mean(&cubed).powi(2) + mean(&fourth).powi(2))).exp(),
        }
    }

    /// The smallest of the three.
    pub fn p_value(&self) -> f64 {
        self.p_shift.min(self.p_stretch).min(self.p_shape)
    }
}

/// P(|N(0, 1)| > |z|).
fn two_sided(z: f64) -> f64 {
    2.0 * cdf(-z.abs())
}
