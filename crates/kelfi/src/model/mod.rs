//! Surrogate likelihoods built from simulations.

/// Mean embeddings of the prior and of the posterior: closed form or from draws.
pub mod embedding;
/// The paper's surrogate: the kernel means likelihood.
pub mod kernel_means;
/// Either of them.
pub mod likelihood;
/// Ours: regressions of mean and spread, and the embedding for the shape of what is left.
pub mod location_scale;
/// The conditional embedding operator (L + mλI)⁻¹: factored once, used for everything.
pub mod operator;
/// A model written to JSON and read back.
pub mod saved;
/// What every surrogate likelihood offers to posterior and samples.
pub mod surrogate;

pub use embedding::PriorEmbedding;
pub use kernel_means::{Hyperparameters, KernelMeansLikelihood};
pub use likelihood::{Kind, Likelihood};
pub use location_scale::{LocationScaleHyperparameters, LocationScaleLikelihood};
pub use operator::Operator;
pub use surrogate::Surrogate;
