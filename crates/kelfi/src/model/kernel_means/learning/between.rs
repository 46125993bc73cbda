//! The evidence between factored places of a line, from w and its slope at them.

use crate::model::Operator;
use crate::model::kernel_means::constants::evidence::BETWEEN;
use crate::model::kernel_means::learning::evidence_search::Profile;
use crate::model::kernel_means::learning::tolerance_scan::ToleranceScan;

/// A factored point of the line: w and its slope there.
pub(super) struct Node {
    pub(super) t: f64,
    pub(super) profile: Profile,
    pub(super) weights: Vec<f64>,
    pub(super) slopes: Vec<f64>,
}

/// dw/d ln λ = -mλ A⁻¹ w.
pub(super) fn regularization_slopes(operator: &Operator) -> Vec<f64> {
    let mut slopes: Vec<f64> = operator.marginal_weights().iter().map(|w| -operator.ridge() * w).collect();
    operator.solver().solve_in_place(&mut slopes);
    slopes
}

/// The best place strictly between two factored points and the value expected there: q(y) = κ(ε)ᵀ w, and w as a function of ln β₀
/// (or ln λ) is close to the cubic with the right values and slopes at both ends. So all tolerances at a place between cost O(m) each.
pub(super) fn top_between(left: &Node, right: &Node, tolerances: &ToleranceScan) -> Option<(f64, f64)> {
    let h = right.t - left.t;
    if h < 0.02 {
        return None;
    }
    let at = |k: usize| {
        let s = k as f64 / BETWEEN as f64;
        let (a, b) = ((1.0 + 2.0 * s) * (1.0 - s).powi(2), s * s * (3.0 - 2.0 * s));
        let (c, d) = (h * s * (1.0 - s).powi(2), h * s * s * (s - 1.0));
        let pairs = left.weights.iter().zip(&left.slopes).zip(right.weights.iter().zip(&right.slopes));
        let weights: Vec<f64> = pairs.map(|((w0, p0), (w1, p1))| a * w0 + b * w1 + c * p0 + d * p1).collect();
        (left.t + s * h, tolerances.best(&weights).1)
    };
    (1..BETWEEN).map(at).max_by(|a, b| a.1.total_cmp(&b.1))
}
