//! Which solver: as asked for, or by the number of simulations.

use super::{Exact, KernelSystem, LowRank, Solver};
use crate::Error;
use serde::{Deserialize, Serialize};

/// Up to so many simulations `auto` is exact: a factorisation takes about a second, and answers have the bits they always had.
pub const EXACT_UP_TO: usize = 5_000;
/// Up to so many simulations `auto` turns to the exact solver where low rank needs too many pivots: a gigabyte and ten seconds.
const EXACT_IF_NEEDED: usize = 12_000;

/// How A = L + mλI is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SolverChoice {
    /// Exact up to 5,000 simulations, low rank above.
    #[default]
    Auto,
    /// Cholesky factorisation of the whole matrix.
    Exact,
    /// Pivots that stand for all simulations, with a certified error.
    LowRank,
}

/// The share τ/(mλ) of what a low-rank solver misses: what it works for, and what is still accepted when pivots run out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Pivots are added until this is reached.
    pub wanted: f64,
    /// More than this is refused.
    pub accepted: f64,
}

impl Accuracy {
    /// Of an answer: ln q(y) then has a certified error of about 10⁻⁶.
    pub const ANSWER: Self = Self { wanted: 1e-6, accepted: 1e-2 };
    /// Of a search, whose scores have standard errors of about 0.05.
    pub const SEARCH: Self = Self { wanted: 1e-3, accepted: 1e-2 };
}

impl SolverChoice {
    /// Every choice with its name and what it means: command line, Python and files read this list.
    pub const ALL: [(&'static str, Self, &'static str); 3] = [
        ("auto", Self::Auto, "Exact up to 5,000 simulations, low rank above"),
        ("exact", Self::Exact, "Cholesky factorisation of the whole matrix"),
        ("low-rank", Self::LowRank, "Some simulations stand for all, with a certified error"),
    ];

    /// The choice of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _, _)| *known == name).map(|(_, choice, _)| *choice)
    }

    /// Whether nothing was asked for: such a choice is not written to files.
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }

    /// Whether so many simulations are solved by low rank.
    pub fn is_low_rank(self, simulations: usize) -> bool {
        match self {
            Self::Auto => simulations > EXACT_UP_TO,
            Self::Exact => false,
            Self::LowRank => true,
        }
    }

    /// The solver of this system.
    pub fn solver(self, system: &KernelSystem<'_>, accuracy: Accuracy) -> Result<Box<dyn Solver>, Error> {
        let m = system.order();
        if !self.is_low_rank(m) {
            return Ok(Box::new(Exact::new(system)?));
        }
        match LowRank::new(system, accuracy) {
            Err(Error::TooManyPivots(_)) if self == Self::Auto && m <= EXACT_IF_NEEDED => Ok(Box::new(Exact::new(system)?)),
            found => Ok(Box::new(found?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_found_by_the_name_that_files_have() {
        for (name, choice, _) in SolverChoice::ALL {
            assert_eq!(serde_json::to_value(choice).unwrap(), name);
            assert_eq!(SolverChoice::named(name), Some(choice));
        }
        assert!(SolverChoice::ALL[0].2.contains("5,000") && EXACT_UP_TO == 5_000);
    }
}
