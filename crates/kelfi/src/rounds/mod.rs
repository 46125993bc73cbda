//! Rounds: fit, see where the posterior is, simulate there, fit again.
//!
//! A surrogate of the likelihood needs no correction for where simulations come from: the posterior is the prior times the surrogate wherever
//! they were made. [`Rounds`] is a machine without any input or output that whoever runs the simulator can drive: [`Rounds::ask`] says which
//! parameters to simulate next, [`Rounds::tell`] takes what came of them, [`Rounds::answer`] is the posterior. What it asks is a function of
//! the question, the settings and what it was told, so that a run that was cut short asks the same again.

mod answer;
mod batch;
mod explored;
mod missed_mode;
mod nearest;
mod plan;
mod proposal;
mod settings;
mod state;

pub use crate::fit::history::{History, Round, Stopped};
pub use crate::fit::movement::{Movement, Place};
pub use batch::Batch;
pub use explored::available;
pub use plan::sizes;
pub use settings::{HowMany, RoundsSettings};
pub use state::{Next, Rounds};
