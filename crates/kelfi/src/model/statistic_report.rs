//! What a model says about each statistic.

use crate::simulations::scales::StatisticScale;
use serde::{Deserialize, Serialize};

/// A statistic that is left out gets this many of its spreads as tolerance.
pub const LEFT_OUT: f64 = 1e8;

/// What a tolerance means for its statistic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatisticReport {
    /// ε in the statistic's units.
    pub epsilon: f64,
    /// ε in units of the statistic's spread over the simulations.
    pub relative_epsilon: f64,
    /// spread / ε: large for a statistic that decides, near 0 for one that does not.
    pub relevance: f64,
    /// Its spread, and why it was left out, if so.
    pub scale: StatisticScale,
}
