//! A = L + mλI behind one interface: exact, or of low rank with an error that is known. Pivots and features serve every model.

mod blocks;
/// Which solver.
pub mod choice;
/// Cholesky factorisation of all of A.
pub mod exact;
/// F Fᵀ + N by few features.
pub mod features;
mod kernel_system;
/// L ≈ R Rᵀ by pivots.
pub mod low_rank;
/// A few points that stand for all.
pub mod pivots;

pub use choice::{Accuracy, SolverChoice};
pub use exact::Exact;
pub use features::Features;
pub use kernel_system::KernelSystem;
pub use low_rank::{Approximation, LowRank};
pub use pivots::Pivots;

use crate::Points;
use std::fmt::Debug;

/// A kernel matrix G, known by its diagonal and by a row at a time.
pub trait KernelMatrix {
    /// G_ii of every point.
    fn diagonal(&self) -> Vec<f64>;

    /// out_j = G_ij.
    fn row(&self, i: usize, out: &mut [f64]);
}

/// What models ask of A = L + mλI, where L is exact or an approximation of known error.
///
/// A function Σ_j v_j ℓ(z_j, z) may live on fewer points than there are simulations: its support. Where L ≈ L̂ = C W⁻¹ Cᵀ, C the kernel
/// values with the support and W those among it, its weights there are W⁻¹ Cᵀ v.
pub trait Solver: Debug + Send + Sync {
    /// m.
    fn order(&self) -> usize;

    /// Replaces each column of `right` (one after the other) by A⁻¹ times it.
    fn solve_in_place(&self, right: &mut [f64]);

    /// Estimate of the condition number of A.
    fn condition_estimate(&self) -> f64;

    /// What was left of diagonal entry `i` of A when it was factored.
    fn pivot(&self, i: usize) -> f64;

    /// vᵀL'_d w for every dimension, L'_d = ∂L/∂ ln β_d.
    fn gram_slopes(&self, system: &KernelSystem<'_>, v: &[f64], w: &[f64]) -> Vec<f64>;

    /// Σ_d L'_d w.
    fn gram_slope_image(&self, system: &KernelSystem<'_>, w: &[f64]) -> Vec<f64>;

    /// ℓ(z, z) - ℓ(z)ᵀ A⁻¹ ℓ(z) at every query, in [0, 1].
    fn unit_variances(&self, system: &KernelSystem<'_>, queries: &Points) -> Vec<f64>;

    /// Which points functions live on; `None`: all.
    fn support(&self) -> Option<&[usize]> {
        None
    }

    /// Weights on the support of the function with weights v on all points; several, one after the other.
    fn on_support(&self, v: &[f64]) -> Vec<f64> {
        v.to_vec()
    }

    /// How far L is approximated; `None` where it is exact.
    fn approximation(&self) -> Option<&Approximation> {
        None
    }

    /// A bound of |vᵀ E w|, E what L̂ misses of L; 0 where it is exact.
    fn missed(&self, _v: &[f64], _w: &[f64]) -> f64 {
        0.0
    }

    /// A⁻¹ b.
    fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        self.solve_in_place(&mut x);
        x
    }

    /// The rows of A⁻¹ with these indices, one after the other.
    fn inverse_rows(&self, indices: &[usize]) -> Vec<f64> {
        let order = self.order();
        let mut rows = vec![0.0; indices.len() * order];
        for (row, &i) in rows.chunks_mut(order).zip(indices) {
            row[i] = 1.0;
        }
        self.solve_in_place(&mut rows);
        rows
    }
}
