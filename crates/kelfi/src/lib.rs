//! Likelihood-free inference that tunes itself: kernel embedding likelihood-free inference (KELFI).
//!
//! The modules stand in the order of the method: problem → simulations → model → learning → posterior → samples.

/// What can go wrong, each with its numbers and what to do next.
pub mod error;
/// m points of R^D, one a row.
pub mod points;
/// What is believed about the parameters before any data, and its Gaussian coordinates.
pub mod prior;
/// Random streams that are pure functions of (seed, purpose, index).
pub mod random;
/// Special functions with both tails in log space.
pub mod special;
/// Conformance kits: what every prior, kernel or gradient of a user has to satisfy.
pub mod testing;

pub use error::Error;
pub use points::Points;
pub use prior::Prior;
