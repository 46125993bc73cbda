//! Rejection ABC (Tavaré, Balding, Griffiths & Donnelly, Genetics 145, 1997; Pritchard et al., Mol. Biol. Evol. 16, 1999):
//! the simulations nearest to the observation are the posterior.

use crate::nearest::{Acceptance, Nearest};
use kelfi::Error;
use kelfi::method::{Answer, Method, Particles, Task};

/// Draws of the prior whose statistics came nearest to the observation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rejection {
    /// How many are kept.
    pub acceptance: Acceptance,
}

impl Default for Rejection {
    /// A twentieth, but at least 25.
    fn default() -> Self {
        Self { acceptance: Acceptance { share: 0.05, least: 25 } }
    }
}

impl Method for Rejection {
    fn name(&self) -> &'static str {
        "rejection"
    }

    fn description(&self) -> &'static str {
        "rejection ABC: the nearest 5 % of the simulations (at least 25), each statistic in units of its spread"
    }

    fn reference(&self) -> &'static str {
        "Pritchard et al., Mol. Biol. Evol. 16, 1999"
    }

    fn infer(&self, question: &Task<'_>) -> Result<Answer, Error> {
        let kept = Nearest::of(question, &self.acceptance)?;
        Ok(Answer::Particles(Particles::new(question.prior, &kept.theta, &vec![1.0; kept.distances.len()])?))
    }
}
