//! What is to be simulated next.

use crate::Points;
use serde::{Deserialize, Serialize};

/// Parameters of one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Which round, from 0: the prior's.
    pub round: usize,
    /// Simulations of all rounds before: row k is simulation `first + k`.
    pub first: usize,
    /// The parameters, one simulation a row.
    pub theta: Points,
    /// Whether each was proposed widely, to find what the posterior so far may have missed.
    pub wide: Vec<bool>,
}
