//! A posterior that is a density in z coordinates with a sampler of its own.

use crate::Points;
use std::fmt::Debug;

/// A normalised density in z coordinates.
pub trait Density: Debug + Send + Sync {
    /// ln of the density.
    fn ln_density(&self, z: &[f64]) -> f64;

    /// `count` samples in z coordinates; sample s depends on (seed, s) only.
    fn samples(&self, count: usize, seed: u64) -> Points;
}
