//! Surrogate likelihoods built from simulations.

/// The paper's surrogate: the kernel means likelihood.
pub mod kernel_means;
/// Either of them.
pub mod likelihood;
/// Ours: regressions of mean and spread, and the embedding for the shape of what is left.
pub mod location_scale;
/// A model written to JSON and read back.
pub mod saved;
/// What every surrogate likelihood offers to posterior and samples.
pub mod surrogate;

pub use kernel_means::{Hyperparameters, KernelMeansLikelihood, Operator, PriorEmbedding};
pub use likelihood::{Kind, Likelihood};
pub use location_scale::{LocationScaleHyperparameters, LocationScaleLikelihood};
pub use surrogate::Surrogate;
