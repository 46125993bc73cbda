//! A kernel matrix plus a diagonal, and what models ask of it.

/// F Fᵀ + N by few features.
pub mod features;
/// A few points that stand for all.
pub mod pivots;

pub use features::Features;
pub use pivots::Pivots;

/// A kernel matrix G, known by its diagonal and by a row at a time.
pub trait KernelMatrix {
    /// G_ii of every point.
    fn diagonal(&self) -> Vec<f64>;

    /// out_j = G_ij.
    fn row(&self, i: usize, out: &mut [f64]);
}
