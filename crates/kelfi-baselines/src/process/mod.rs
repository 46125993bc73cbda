//! Methods that put a Gaussian process on what simulations say.

/// Regression with its hyperparameters by the marginal likelihood.
pub mod gaussian_process;
/// A process on the log likelihood, in waves.
pub mod gpa_abc;
/// A process on each statistic, with chains that simulate where they are unsure.
pub mod gps_abc;
