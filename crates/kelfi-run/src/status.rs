//! How one call of a simulator ended: a closed set, with the words the store and the reports use.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How one call ended. Details (which exit code, which signal) stand in the message kept with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The expected statistics, all finite.
    Ok,
    /// The expected count of statistics, at least one NaN or infinite.
    NonFinite,
    /// Something that is not numbers (or not the JSON agreed upon).
    BadOutput,
    /// Numbers, but fewer or more than there are statistics.
    WrongCount,
    /// The program ended with a code other than 0.
    ExitCode,
    /// The program was ended by a signal.
    Signal,
    /// The program took longer than allowed and was ended.
    Timeout,
    /// The program printed more than allowed and was ended.
    TooMuchOutput,
    /// The program could not be started.
    CouldNotStart,
    /// The run was stopped while the program was at work; never recorded.
    Interrupted,
    /// The machine had no process, memory or file descriptor to spare; never recorded, made again.
    Shortage,
    /// Something outside killed the program (most often the system, for lack of memory); never recorded, made again.
    Killed,
}

impl Status {
    /// Every status, success first.
    pub const ALL: [Self; 12] = [
        Self::Ok,
        Self::NonFinite,
        Self::BadOutput,
        Self::WrongCount,
        Self::ExitCode,
        Self::Signal,
        Self::Timeout,
        Self::TooMuchOutput,
        Self::CouldNotStart,
        Self::Interrupted,
        Self::Shortage,
        Self::Killed,
    ];

    /// The word written to the store and to exports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::NonFinite => "non-finite",
            Self::BadOutput => "bad-output",
            Self::WrongCount => "wrong-count",
            Self::ExitCode => "exit-code",
            Self::Signal => "signal",
            Self::Timeout => "timeout",
            Self::TooMuchOutput => "too-much-output",
            Self::CouldNotStart => "could-not-start",
            Self::Interrupted => "interrupted",
            Self::Shortage => "shortage",
            Self::Killed => "killed",
        }
    }

    /// Whether this says something about the simulation. What the machine or the user did to it does not, and is never recorded.
    pub fn is_result(self) -> bool {
        !matches!(self, Self::Interrupted | Self::Shortage | Self::Killed)
    }

    /// Whether the call gave statistics that inference can use.
    pub fn is_ok(self) -> bool {
        self == Self::Ok
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.word())
    }
}

/// A word that is no status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a status; expected one of {words}", words = Status::ALL.map(Status::word).join(", "))]
pub struct UnknownStatus(pub String);

impl FromStr for Status {
    type Err = UnknownStatus;

    fn from_str(word: &str) -> Result<Self, UnknownStatus> {
        Self::ALL.into_iter().find(|status| status.word() == word).ok_or_else(|| UnknownStatus(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_read_back_from_its_word() {
        for status in Status::ALL {
            assert_eq!(status.word().parse(), Ok(status));
            assert_eq!(serde_json::to_value(status).unwrap(), status.word());
        }
        assert!("fine".parse::<Status>().unwrap_err().to_string().contains("too-much-output"));
    }
}
