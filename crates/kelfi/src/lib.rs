//! Likelihood-free inference that tunes itself: kernel embedding likelihood-free inference (KELFI).
//!
//! Simulations and a question (prior, observation) → model → posterior → answer (samples, checks). The modules stand in this order,
//! and each uses only those above it.

/// What somebody meant, and strangers' words made safe to show.
pub mod words;

/// What can go wrong, each with its numbers and what to do next.
pub mod error;

/// m points of R^D, one a row.
pub mod points;

/// Axes of equal ratios.
pub mod axis;

/// Random streams that are pure functions of (seed, purpose, index).
pub mod random;

/// Vector loops and the Cholesky factorisation.
pub mod linalg;

/// Special functions with both tails in log space.
pub mod special;

/// Maximising a smooth function inside a box.
pub mod optimise;

/// What a fit takes of memory, and a refusal before it is taken.
pub mod memory;

/// Kernels on parameters and on data sets.
pub mod kernel;

/// A kernel matrix plus a diagonal, and what models ask of it.
pub mod solver;

/// The prior and its Gaussian coordinates.
pub mod prior;

/// Pairs (θ, x), failed ones included; their scales, and which are near the observation.
pub mod simulations;

/// What is asked: a prior, what was simulated, and an observation.
pub mod question;

/// A check as a value: what was asked, what was found, what to do.
pub mod checks;

/// Markov chains.
pub mod chains;

/// Signed mixtures and weighted draws.
pub mod mixture;

/// Models of the likelihood: what every one offers, and those there are.
pub mod model;

/// The posterior and what it says about itself.
pub mod posterior;

/// Samples of the posterior.
pub mod samples;

/// Is the posterior to be trusted? Answers from the simulations at hand.
pub mod diagnostics;

/// The front door: any model, or the best of several.
pub mod fit;

/// Simulating where the posterior is, round after round.
pub mod rounds;

/// What every method of inference offers, and kelfi's own behind it.
pub mod method;

/// Conformance kits: what every prior, kernel, gradient or method of a user has to satisfy.
pub mod testing;

pub use error::Error;
pub use fit::{Fit, infer};
pub use model::kernel_means::learning;
pub use model::{
    FitOptions, Hyperparameters, KERNEL_MEANS, KernelMeansLikelihood, LOCATION_SCALE, LocationScaleLikelihood, Model, ModelChoice,
    SUMMARIES, SummariesLikelihood, Surrogate,
};
pub use points::Points;
pub use posterior::Posterior;
pub use prior::{Marginal, Prior};
pub use question::Question;
pub use rounds::{HowMany, Rounds, RoundsSettings};
pub use simulations::{Observation, Outputs, Recorded, Simulations};
