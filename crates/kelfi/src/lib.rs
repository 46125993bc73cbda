//! Likelihood-free inference that tunes itself: kernel embedding likelihood-free inference (KELFI).
//!
//! The modules stand in the order of the method: problem → simulations → model → learning → posterior → samples.

/// Axes of equal ratios.
pub mod axis;
/// Is the posterior to be trusted? Answers from the simulations at hand.
pub mod diagnostics;
/// What can go wrong, each with its numbers and what to do next.
pub mod error;
/// The front door: either model, or the better one.
pub mod fit;
/// The kernel means model, learned.
pub mod inference;
/// Kernels on parameters and on outputs.
pub mod kernel;
/// Choosing the hyperparameters.
pub mod learning;
/// Vector loops and the Cholesky factorisation.
pub mod linalg;
/// What a fit takes of memory, and a refusal before it is taken.
pub mod memory;
/// What every method of inference offers, and kelfi's own behind it.
pub mod method;
/// Surrogate likelihoods.
pub mod model;
/// Maximising a smooth function inside a box.
pub mod optimise;
/// m points of R^D, one a row.
pub mod points;
/// The posterior and what it says about itself.
pub mod posterior;
/// What is believed about the parameters before any data, and its Gaussian coordinates.
pub mod prior;
/// Random streams that are pure functions of (seed, purpose, index).
pub mod random;
/// Samples of the posterior.
pub mod samples;
/// Pairs (θ, x), failed ones included.
pub mod simulations;
/// Special functions with both tails in log space.
pub mod special;
/// Conformance kits: what every prior, kernel or gradient of a user has to satisfy.
pub mod testing;
/// What somebody meant, and strangers' words made safe to show.
pub mod words;

pub use error::Error;
pub use fit::{Fit, FitSettings, ModelChoice, infer};
pub use inference::Inference;
pub use model::{Hyperparameters, KernelMeansLikelihood, Kind, Likelihood, LocationScaleLikelihood, Surrogate};
pub use points::Points;
pub use posterior::Posterior;
pub use prior::{Marginal, Prior};
pub use simulations::{Observation, Recorded, Simulations};
