//! Where the parameters of a simulation come from.

use std::fmt;
use std::str::FromStr;

/// Where θ comes from. What inference may assume about it depends on this: draws of the prior stand for the prior, others do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A draw of the prior.
    Prior,
    /// A draw of the proposal of this round, which counts from 1.
    Round(u32),
    /// A draw of the wider proposal that keeps the simulations of this round from being too narrow.
    Wide(u32),
    /// Chosen by somebody.
    Hand,
    /// Brought with its result from a file.
    File,
}

impl Origin {
    /// The word without the number of the round.
    pub fn word(self) -> &'static str {
        match self {
            Self::Prior => "prior",
            Self::Round(_) => "round",
            Self::Wide(_) => "wide",
            Self::Hand => "hand",
            Self::File => "file",
        }
    }

    /// The number of the round; none outside of rounds.
    pub fn round(self) -> Option<u32> {
        match self {
            Self::Round(round) | Self::Wide(round) => Some(round),
            Self::Prior | Self::Hand | Self::File => None,
        }
    }

    /// The origin of this word and round.
    pub fn of(word: &str, round: Option<u32>) -> Option<Self> {
        match (word, round) {
            ("prior", None) => Some(Self::Prior),
            ("round", Some(round)) => Some(Self::Round(round)),
            ("wide", Some(round)) => Some(Self::Wide(round)),
            ("hand", None) => Some(Self::Hand),
            ("file", None) => Some(Self::File),
            _ => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.round() {
            Some(round) => write!(formatter, "{} {round}", self.word()),
            None => formatter.write_str(self.word()),
        }
    }
}

/// A text that is no origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an origin; expected prior, round K, wide K, hand or file")]
pub struct UnknownOrigin(pub String);

impl FromStr for Origin {
    type Err = UnknownOrigin;

    fn from_str(text: &str) -> Result<Self, UnknownOrigin> {
        let unknown = || UnknownOrigin(text.to_owned());
        match text.split_once(' ') {
            Some((word, round)) => Self::of(word, Some(round.parse().map_err(|_| unknown())?)),
            None => Self::of(text, None),
        }
        .ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_origin_is_read_back_from_its_text() {
        for origin in [Origin::Prior, Origin::Round(1), Origin::Wide(7), Origin::Hand, Origin::File] {
            assert_eq!(origin.to_string().parse(), Ok(origin));
            assert_eq!(Origin::of(origin.word(), origin.round()), Some(origin));
        }
        for text in ["", "round", "round x", "prior 1", "dream"] {
            assert!(text.parse::<Origin>().is_err(), "{text}");
        }
    }
}
