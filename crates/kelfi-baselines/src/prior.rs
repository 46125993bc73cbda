//! The prior, unchanged: what every method must beat.

use kelfi::Error;
use kelfi::method::{Answer, Method, Task};

/// Draws of the prior; no call is made.
#[derive(Debug, Clone, Copy)]
pub struct PriorDraws;

impl Method for PriorDraws {
    fn name(&self) -> &'static str {
        "prior"
    }

    fn description(&self) -> &'static str {
        "the prior itself: what every method must beat"
    }

    fn reference(&self) -> &'static str {
        "none: it makes no simulations"
    }

    fn infer(&self, question: &Task<'_>) -> Result<Answer, Error> {
        Ok(Answer::Prior(question.prior.clone()))
    }
}
