//! Benchmark problems for likelihood-free inference, each with its truth or a way to its reference posterior beside it.
//!
//! ```
//! use kelfi_problems::{by_name, simulate_many};
//!
//! let problem = by_name("blowfly")?;
//! let simulated = simulate_many(&*problem, 10, 1);
//! assert_eq!((simulated.theta.columns(), simulated.x.columns()), (6, 10));
//! # Ok::<(), kelfi_problems::UnknownProblem>(())
//! ```

/// The problems by name.
pub mod catalogue;
/// What every problem offers.
pub mod problem;
/// Reference posteriors in one or two dimensions.
pub mod quadrature;
/// Many calls of a simulator.
pub mod simulate;

/// Nicholson's blowflies.
pub mod blowfly;
/// The toy of the KELFI paper.
pub mod exponential_gamma;
/// Stochastic predators and prey.
pub mod lotka_volterra;

/// A banana-shaped posterior.
pub mod banana;
/// θ² observed: two modes.
pub mod bimodal;
/// The g-and-k distribution.
pub mod g_and_k;
/// A Gaussian posterior in closed form.
pub mod linear_gaussian;
/// A moving average of order two.
pub mod moving_average;
/// The M/G/1 queue.
pub mod queue;
/// Ricker's chaotic map.
pub mod ricker;
/// The eight tasks of sbibm.
pub mod sbibm;

/// Differential equations.
pub mod ode;

mod moments;
mod small_matrix;

pub use catalogue::{UnknownProblem, all, by_name};
pub use problem::{BenchmarkProblem, Facts, Reference, SimulationFailure};
pub use quadrature::{Axis, GridDensity};
pub use simulate::{Simulated, data_set, replicate, simulate_at, simulate_from, simulate_many};
