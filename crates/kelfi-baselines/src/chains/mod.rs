//! Chains of Metropolis and Hastings whose likelihood is estimated by simulating.

/// Synthetic likelihood that simulates until a decision is safe.
pub mod adaptive_synthetic;
/// Markov chain Monte Carlo with a soft tolerance.
pub mod mcmc_abc;
/// Where a chain has been.
pub mod path;
/// What tells a chain where to start and how far to step.
pub mod pilot;
/// Weighted particles, moved and weighted anew.
pub mod population;
/// Populations that move towards the observation.
pub mod smc_abc;
/// Gaussian statistics with moments estimated at every step.
pub mod synthetic;
/// Steps of a chain.
pub mod walk;
