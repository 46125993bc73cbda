//! The kernel, its points and the ridge: what A = L + mλI is made of.

use super::KernelMatrix;
use crate::kernel::{Kernel, ScaledPoints};
use crate::linalg::vector::squared_distances;

/// A kernel on points, and what is added to the diagonal of its matrix.
#[derive(Debug, Clone, Copy)]
pub struct KernelSystem<'a> {
    /// ℓ.
    pub kernel: &'a Kernel,
    /// The points divided by the length scales.
    pub points: &'a ScaledPoints,
    /// λ.
    pub regularization: f64,
}

impl KernelSystem<'_> {
    /// Number of points m.
    pub fn order(&self) -> usize {
        self.points.rows()
    }

    /// mλ.
    pub fn ridge(&self) -> f64 {
        self.order() as f64 * self.regularization
    }

    /// out_j = Σ_d ∂ℓ/∂ ln β_d between `query` and each of `points`, everything scaled.
    pub(super) fn slopes(&self, points: &ScaledPoints, query: &[f64], squared: &mut [f64], out: &mut [f64]) {
        self.kernel.slope_row(points, query, out);
        squared_distances(points.values(), 0, query, squared);
        out.iter_mut().zip(squared).for_each(|(slope, d2)| *slope *= *d2);
    }
}

impl KernelMatrix for KernelSystem<'_> {
    fn diagonal(&self) -> Vec<f64> {
        vec![1.0; self.order()]
    }

    fn row(&self, i: usize, out: &mut [f64]) {
        self.kernel.row(self.points, &self.points.point(i), out);
    }
}
