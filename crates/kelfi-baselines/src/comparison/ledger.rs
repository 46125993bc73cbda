//! Where runs are kept as they come, so that a comparison that was cut short can go on.

use super::Run;
use kelfi::Error;

/// Keeps every run, and gives back those of an earlier attempt at the same plan.
pub trait Ledger {
    /// The run of this method, budget and repeat, if it was made before.
    fn kept(&self, method: &str, budget: usize, repeat: usize) -> Option<Run>;

    /// Keeps a run, whole or not at all.
    fn keep(&self, run: &Run) -> Result<(), Error>;
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy)]
pub struct Forgetful;

impl Ledger for Forgetful {
    fn kept(&self, _: &str, _: usize, _: usize) -> Option<Run> {
        None
    }

    fn keep(&self, _: &Run) -> Result<(), Error> {
        Ok(())
    }
}
