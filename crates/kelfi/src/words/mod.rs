//! Words that people or strangers wrote: what was probably meant, and how to show them.

mod foreign;
mod meant;

pub use foreign::{acts, listed, shown, without_controls};
pub use meant::{did_you_mean, meant};
