//! Words: what a mistyped one probably meant, how to show text from outside, and nouns that agree with their number.

mod counted;
mod foreign;
mod meant;

pub use counted::{all_of, counted};
pub use foreign::{acts, listed, shown, without_controls};
pub use meant::{did_you_mean, meant};
