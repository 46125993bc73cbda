//! A check as a value: what is asked, what was found, what to do; with its number and its limit.

mod found;
mod meaning;

pub use found::*;

use serde::{Deserialize, Serialize};

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nothing to worry about.
    Ok,
    /// Read the message before using the result.
    Warn,
    /// The result should not be used as it is.
    Fail,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub struct Check {
    /// Which check.
    pub name: String,
    /// How it came out.
    pub status: Status,
    /// The number looked at.
    pub value: f64,
    /// Where a warning begins.
    pub limit: f64,
    /// What was found: a clause without a capital and a full stop.
    pub found: String,
    /// What to do: sentences; empty where nothing is to be done.
    pub advice: String,
}

impl Check {
    /// With the usual advice where it is not fine.
    pub fn new(name: &str, status: Status, value: f64, limit: f64, found: String) -> Self {
        let advice = if status == Status::Ok { "" } else { meaning::of(name).advice };
        Self { name: name.into(), status, value, limit, found, advice: advice.into() }
    }

    /// A check on a number that should be small: a warning above `warn`, a failure above `fail`.
    pub fn small(name: &str, value: f64, warn: f64, fail: f64, found: String) -> Self {
        let status = if value > fail || value.is_nan() {
            Status::Fail
        } else if value > warn {
            Status::Warn
        } else {
            Status::Ok
        };
        Self::new(name, status, value, warn, found)
    }

    /// A check on a number that should be large: a warning below `warn`, a failure below `fail`.
    pub fn large(name: &str, value: f64, warn: f64, fail: f64, found: String) -> Self {
        let mirrored = Self::small(name, -value, -warn, -fail, found);
        Self { value, limit: warn, ..mirrored }
    }

    /// The same with other advice, where there is something to do.
    pub fn advising(self, advice: &str) -> Self {
        if self.status == Status::Ok { self } else { Self { advice: advice.into(), ..self } }
    }

    /// What it asks.
    pub fn question(&self) -> &'static str {
        meaning::of(&self.name).question
    }

    /// What was found and what to do, in a line.
    pub fn message(&self) -> String {
        if self.advice.is_empty() { self.found.clone() } else { format!("{}. {}", self.found, self.advice) }
    }
}

/// As it stands in a file: the parts, and the message in one. Older versions wrote the message alone.
#[derive(Serialize, Deserialize)]
struct Saved {
    name: String,
    status: Status,
    value: f64,
    limit: f64,
    #[serde(default)]
    question: String,
    #[serde(default)]
    found: Option<String>,
    #[serde(default)]
    advice: String,
    message: String,
}

impl From<Saved> for Check {
    fn from(saved: Saved) -> Self {
        let Saved { name, status, value, limit, advice, message, .. } = saved;
        Self { name, status, value, limit, found: saved.found.unwrap_or(message), advice }
    }
}

impl From<Check> for Saved {
    fn from(check: Check) -> Self {
        let (question, message) = (check.question().to_owned(), check.message());
        let Check { name, status, value, limit, found, advice } = check;
        Self { name, status, value, limit, question, found: Some(found), advice, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_written_with_its_parts_and_read_back_also_from_older_versions() {
        let check = negative_mass(0.1);
        let text = serde_json::to_string(&check).unwrap();
        assert!(
            text.contains("\"question\":\"Is the posterior a proper density?\"") && text.contains("\"message\":\"the negative part"),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Check>(&text).unwrap(), check);
        let older = r#"{"name":"chains","status":"ok","value":1.0,"limit":1.05,"message":"they have mixed"}"#;
        let read: Check = serde_json::from_str(older).unwrap();
        assert_eq!((read.message(), read.question()), ("they have mixed".to_owned(), "Do the chains agree?"));
    }

    #[test]
    fn nothing_is_advised_where_all_is_well_and_something_wherever_it_is_not() {
        assert_eq!(chains(1.0, 900.0).advice, "");
        assert!(chains(1.2, 90.0).message().contains("another seed"));
        assert_eq!(hyperparameter_at_bound(&[], "Look.").advice, "");
        assert_eq!(hyperparameter_at_bound(&["epsilon".into()], "Look.").advice, "Look.");
    }
}
