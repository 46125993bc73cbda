//! Ways to hold a distribution: signed Gaussian mixtures and weighted draws. Knows nothing of models.

/// Signed Gaussian mixtures on the line.
pub mod marginals;
/// Signed Gaussian mixtures.
pub mod signed;
/// Weighted draws, for what has no closed form.
pub mod weighted;

pub use signed::{Part, SignedMixture};
pub use weighted::{WeightedDraws, WeightedLine};
