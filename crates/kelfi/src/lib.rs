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

pub use error::Error;
pub use points::Points;
pub use prior::Prior;
