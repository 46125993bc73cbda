//! Markov chains on a density known up to a factor: slides along ellipses, jumps, and whether chains agree. Knows nothing of models.

/// Whether chains agree.
pub mod agreement;
/// Proposals of chains.
pub mod jumps;
pub(crate) mod passing;
/// A Gaussian fitted to points.
pub mod reference;
pub(crate) mod walker;
