//! Variational methods: a Gaussian q(z) that maximises E_q[ln likelihood] − KL(q ‖ prior).

/// Differences of simulations with common random numbers.
pub mod automatic;
/// The Gaussian, its divergence from the prior and its gradients.
pub mod family;
/// A classifier for the likelihood.
pub mod implicit;
/// Likelihoods estimated without bias, or by Gaussian statistics.
pub mod intractable;
