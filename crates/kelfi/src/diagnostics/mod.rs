//! Is the posterior to be trusted? Answers from the simulations at hand, without new runs.

/// Bands that a calibrated posterior stays inside at a stated rate.
pub mod bands;
mod calibrated_intervals;
/// Each simulation near the observation as observation: does the posterior without it cover its parameters?
pub mod calibration;
/// Would the posterior have produced the observation?
pub mod predictive;
/// Is the observation among what was simulated?
pub mod range;
/// How far would the answer move with more simulations?
pub mod steadiness;
/// Are shares uniform? Tests that weigh simulations.
pub mod uniformity;

pub use bands::{CountBand, CurveBand};
pub use calibration::{Calibration, Verdict};
pub use predictive::{Predicted, Predictive};
pub use steadiness::{Halves, Steadiness};
