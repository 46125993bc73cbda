//! What every method of likelihood-free inference offers, so that they can be compared on equal terms.

/// What a method answers: something to sample from and to evaluate.
pub mod answer;
/// The simulator with a budget.
pub mod calls;
/// A density in z coordinates.
pub mod density;
/// kelfi in rounds.
pub mod in_rounds;
/// kelfi's own methods.
pub mod kelfi;
/// Weighted parameter vectors as a smooth distribution.
pub mod particles;

pub use answer::Answer;
pub use calls::Calls;
pub use density::Density;
pub use in_rounds::KelfiInRounds;
pub use kelfi::{KelfiMethod, own_methods};
pub use particles::Particles;

use crate::{Error, Prior};

/// What is asked of a method.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The prior.
    pub prior: &'a Prior,
    /// What was observed.
    pub observation: &'a [f64],
    /// The simulator, for as many calls as the budget allows.
    pub calls: &'a Calls<'a>,
    /// Seed of the method's own randomness.
    pub seed: u64,
    /// Asked now and then whether to continue.
    pub go_on: &'a (dyn Fn() -> bool + Sync),
}

/// A method of likelihood-free inference: a budget of simulator calls in, a posterior out.
pub trait Method: Send + Sync {
    /// Name in tables and on the command line.
    fn name(&self) -> &'static str;

    /// One line on how it works.
    fn description(&self) -> &'static str;

    /// Who proposed it, where and when, in one line.
    fn reference(&self) -> &'static str;

    /// Does the task with at most the budget's calls. The same task gives the same answer.
    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error>;
}
