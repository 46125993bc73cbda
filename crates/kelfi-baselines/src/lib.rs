//! Other methods of likelihood-free inference behind kelfi's interface, and a comparison of all on equal terms.
//!
//! ```
//! use kelfi_baselines::comparison::{Observations, ComparisonPlan, compare};
//! use kelfi_baselines::by_name;
//!
//! let problem = kelfi_problems::by_name("exponential_gamma")?;
//! let plan = ComparisonPlan {
//!     problem: &*problem,
//!     methods: vec![by_name("rejection")?, by_name("prior")?],
//!     budgets: vec![200],
//!     repeats: 5,
//!     observations: Observations::FromPrior,
//!     seed: 1,
//! };
//! let comparison = compare(&plan, &|| true, &mut |_| ())?;
//! let table = comparison.summary();
//! let error = |method: usize| table[method].error.as_ref().unwrap().mean;
//! assert!(error(0) < error(1), "rejection knows more than the prior");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// The methods by name.
pub mod catalogue;
/// Chains and populations that simulate as they go.
pub mod chains;
/// Methods side by side on one problem.
pub mod comparison;
/// Gaussian mixtures as answers.
pub mod gaussians;
/// Posterior embeddings from kernels on the outputs.
pub mod kernel;
/// The simulations nearest to the observation.
pub mod nearest;
/// Small neural networks and what is built of them.
pub mod neural;
/// The prior, unchanged.
pub mod prior;
/// Gaussian process surrogates.
pub mod process;
/// Local linear regression on the nearest simulations.
pub mod regression;
/// The nearest simulations as they are.
pub mod rejection;
/// A Gaussian fitted to the posterior.
pub mod variational;
/// Weights and their logarithms.
pub mod weights;
/// Which statistics count, and in what units.
pub mod yardstick;

pub use catalogue::{UnknownMethod, all, by_name};
pub use prior::PriorDraws;
pub use regression::RegressionAdjustment;
pub use rejection::Rejection;
