//! Markov chains on a density known up to a factor: slides along ellipses, jumps, and whether chains agree. Knows nothing of models.

/// Whether chains agree.
pub mod agreement;
/// Moves along gradients.
pub mod hamiltonian;
/// Proposals of chains.
pub mod jumps;
/// Separate modes of draws.
pub mod modes;
pub(crate) mod rank_chains;
/// A Gaussian fitted to points.
pub mod reference;
/// Many chains of elliptical slice sampling at once.
pub mod slice_chains;
/// What chains draw from.
pub mod target;
pub(crate) mod walker;
