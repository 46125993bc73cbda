//! Samples of the posterior: super-samples by herding, and independent ones.

/// Whether chains agree.
pub mod agreement;
/// Query points for herding.
pub mod candidates;
/// Kernel herding of super-samples.
pub mod herding;
/// Independent samples from the positive part of the posterior.
pub mod independent;
/// Proposals of chains.
pub mod jumps;
pub(crate) mod passing;
/// A Gaussian fitted to points.
pub mod reference;
/// Elliptical slice sampling.
pub mod slice;
pub(crate) mod walker;

pub use candidates::Candidates;
pub use herding::{Herding, SuperSamples};
pub use independent::{IndependentSamples, independent, independent_while};
pub use slice::{SliceSamples, slice};
