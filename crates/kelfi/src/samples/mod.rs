//! Samples of the posterior: super-samples by herding, and independent ones.

/// Query points for herding.
pub mod candidates;
/// Kernel herding of super-samples.
pub mod herding;
/// Elliptical slice sampling.
pub mod slice;

pub use crate::posterior::independent::{IndependentSamples, independent, independent_while};
pub use candidates::Candidates;
pub use herding::{Herding, SuperSamples};
pub use slice::{SliceSamples, slice};
