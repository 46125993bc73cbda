//! What there is to decide before the first round.

use crate::{Error, FitOptions};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How many rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HowMany {
    /// As the budget and the number of parameters suggest; fewer where the posterior no longer moves.
    #[default]
    Auto,
    /// This many, whatever they find; one is draws of the prior alone.
    Exactly(usize),
}

impl FromStr for HowMany {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match (text.trim(), text.trim().parse::<usize>()) {
            ("auto", _) => Ok(Self::Auto),
            (_, Ok(count)) if count > 0 => Ok(Self::Exactly(count)),
            (_, Ok(count)) => Err(Error::invalid("number of rounds", count as f64, "it must be `auto` or at least 1")),
            _ => {
                Err(Error::Format { reason: format!("{text:?} is not a number of rounds; write `auto`, or a whole number of at least 1") })
            }
        }
    }
}

impl fmt::Display for HowMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Exactly(count) => write!(f, "{count}"),
        }
    }
}

/// Everything that decides what is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundsSettings {
    /// Simulations in all.
    pub budget: usize,
    /// How many rounds.
    pub rounds: HowMany,
    /// Which model, and the seed of everything.
    pub fit: FitOptions,
}

impl RoundsSettings {
    /// A budget with everything else left open.
    pub fn of(budget: usize, seed: u64) -> Self {
        Self { budget, rounds: HowMany::Auto, fit: FitOptions::of(crate::ModelChoice::Auto, seed) }
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.fit.learn.seed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_rounds_is_auto_or_positive() {
        assert_eq!("auto".parse::<HowMany>().unwrap(), HowMany::Auto);
        assert_eq!(" 3".parse::<HowMany>().unwrap(), HowMany::Exactly(3));
        assert!("0".parse::<HowMany>().unwrap_err().to_string().contains("at least 1"));
        assert!("many".parse::<HowMany>().unwrap_err().to_string().contains("write `auto`"));
        assert_eq!([HowMany::Auto, HowMany::Exactly(4)].map(|h| h.to_string()), ["auto", "4"]);
    }
}
