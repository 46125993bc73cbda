//! ln q(y) at many common tolerances: q(y) = κ(ε)ᵀw, so κ at each of them is computed once and serves every (β, λ).

use crate::linalg::vector::dot;
use crate::model::kernel_means::constants::evidence::TOLERANCES;
use crate::model::kernel_means::learning::problem::LearningProblem;
use crate::simulations::Discrepancies;
use crate::simulations::discrepancies::Kappa;

/// κ at tolerances spread evenly in ln ε between the bounds; the fixed tolerance alone where there is one.
pub(super) struct ToleranceScan {
    /// ln of the common tolerance, and κ there.
    scanned: Vec<(f64, Kappa)>,
}

impl ToleranceScan {
    pub(super) fn new(setting: &LearningProblem<'_>, discrepancies: &Discrepancies) -> Self {
        if let Some(fixed) = setting.fixed_epsilon() {
            return Self { scanned: vec![(0.0, discrepancies.kappa(&fixed))] };
        }
        let (low, high) = (setting.epsilons.0.ln(), setting.epsilons.1.ln());
        let place = |k: usize| low + (high - low) * k as f64 / (TOLERANCES - 1) as f64;
        Self { scanned: (0..TOLERANCES).map(|k| (place(k), discrepancies.kappa(&setting.tolerances(place(k).exp())))).collect() }
    }

    /// How many tolerances.
    pub(super) fn len(&self) -> usize {
        self.scanned.len()
    }

    /// The distance in ln ε from one to the next.
    pub(super) fn step(&self) -> f64 {
        self.scanned.get(1).map_or(0.0, |next| next.0 - self.scanned[0].0)
    }

    /// The best ln ε for these w and ln q(y) there; -∞ where q(y) ≤ 0 at all of them. Costs O(m) per tolerance.
    pub(super) fn best(&self, w: &[f64]) -> (f64, f64) {
        let value = |(t, kappa): &(f64, Kappa)| (*t, dot(w, &kappa.relative).max(0.0).ln() + kappa.ln_scale);
        self.scanned.iter().map(value).max_by(|a, b| a.1.total_cmp(&b.1)).expect("there is at least one tolerance")
    }
}
