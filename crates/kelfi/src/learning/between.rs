//! The evidence between factored places of a line, from w and its slope at them.

use crate::learning::evidence_search::{Profile, Search, TOLERANCES};
use crate::linalg::vector::dot;
use crate::model::Operator;

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
    operator.cholesky().solve_in_place(&mut slopes);
    slopes
}

/// The surface between two factored points: q(y) = κ(ε)ᵀ w, and w as a function of ln β₀ (or ln λ) is close to
/// the cubic with the right values and slopes at both ends. So all tolerances at a place between cost O(m) each.
pub(super) struct Between {
    /// κ at each tolerance tried, with its ln scale.
    kappas: Vec<(Vec<f64>, f64)>,
}

impl Between {
    const PLACES: usize = 16;

    pub(super) fn new(search: &Search<'_>) -> Self {
        let setting = search.setting;
        let kappa = |epsilon: &[f64]| {
            let kappa = setting.discrepancies.kappa(epsilon);
            (kappa.relative, kappa.ln_scale)
        };
        let kappas = match setting.fixed_epsilon() {
            Some(fixed) => vec![kappa(&fixed)],
            None => {
                let (low, high) = (setting.epsilons.0.ln(), setting.epsilons.1.ln());
                let place = |k: usize| (low + (high - low) * k as f64 / (TOLERANCES - 1) as f64).exp();
                (0..TOLERANCES).map(|k| kappa(&setting.tolerances(place(k)))).collect()
            }
        };
        Self { kappas }
    }

    /// The best place strictly between two points and the value expected there.
    pub(super) fn top(&self, left: &Node, right: &Node) -> Option<(f64, f64)> {
        let h = right.t - left.t;
        if h < 0.02 {
            return None;
        }
        let at = |k: usize| {
            let s = k as f64 / Self::PLACES as f64;
            let (a, b) = ((1.0 + 2.0 * s) * (1.0 - s).powi(2), s * s * (3.0 - 2.0 * s));
            let (c, d) = (h * s * (1.0 - s).powi(2), h * s * s * (s - 1.0));
            let pairs = left.weights.iter().zip(&left.slopes).zip(right.weights.iter().zip(&right.slopes));
            let weights: Vec<f64> = pairs.map(|((w0, p0), (w1, p1))| a * w0 + b * w1 + c * p0 + d * p1).collect();
            let value = |(kappa, ln_scale): &(Vec<f64>, f64)| dot(kappa, &weights).max(0.0).ln() + ln_scale;
            (left.t + s * h, self.kappas.iter().map(value).fold(f64::NEG_INFINITY, f64::max))
        };
        (1..Self::PLACES).map(at).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}
