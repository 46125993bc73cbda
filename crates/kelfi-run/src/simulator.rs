//! A program as a simulator: its command, protocol and limits, checked before anything starts.

use crate::once::Once;
use crate::worker::Worker;
use crate::{Error, Outcome, Session, Simulate, Task, output};
use kelfi::Outputs;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// How parameters reach the program and statistics come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Placeholders in the command; numbers on stdout.
    #[default]
    Arguments,
    /// One JSON object on stdin, one on stdout.
    Json,
    /// A long-lived program: one line of JSON each way for every simulation.
    Worker,
}

/// Pipes held for a running program: its stdin, stdout and stderr, and two to its supervisor.
const DESCRIPTORS: usize = 5;

/// Names that stand for something else in commands and exports.
const RESERVED: [&str; 4] = ["index", "seed", "seed64", "status"];

/// A program, started from an argument list and never through a shell.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatorProgram {
    /// Program and arguments; `{parameter}`, `{seed}`, `{seed64}` and `{index}` are replaced within each argument.
    pub command: Vec<String>,
    /// How parameters and statistics travel.
    pub protocol: Protocol,
    /// Names of the parameters, in the order of [`Task::parameters`].
    pub parameters: Vec<String>,
    /// Names of the statistics, in the order they are wanted.
    pub statistics: Vec<String>,
    /// What one simulation gives: a value of each statistic, or rows.
    pub outputs: Outputs,
    /// Longest time one simulation may take.
    pub timeout: Duration,
    /// How often a call is repeated when the machine, not the simulator, failed (no process to be had, worker gone between calls).
    pub retries: u32,
    /// Most bytes one simulation may print to stdout.
    pub output_limit: usize,
    /// Where the program runs; a relative program path counts from here.
    pub directory: Option<PathBuf>,
    /// Environment variables added to those of this process.
    pub environment: Vec<(OsString, OsString)>,
}

impl SimulatorProgram {
    /// A command with defaults: protocol `arguments`, 60 s, 1 retry, 4 MiB of output.
    pub fn new<S: Into<String>>(command: impl IntoIterator<Item = S>, parameters: &[&str], statistics: &[&str]) -> Self {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self {
            command: command.into_iter().map(Into::into).collect(),
            protocol: Protocol::Arguments,
            parameters: owned(parameters),
            statistics: owned(statistics),
            outputs: Outputs::Statistics,
            timeout: Duration::from_secs(60),
            retries: 1,
            output_limit: 4 << 20,
            directory: None,
            environment: Vec::new(),
        }
    }

    /// The first setting that cannot work, before anything is started.
    pub fn check(&self) -> Result<(), Error> {
        if self.command.first().is_none_or(String::is_empty) {
            return Err(Error::setting("the simulator's command is empty", "give the program and its arguments as a list"));
        }
        if let Some(argument) = self.command.iter().find(|argument| argument.contains('\0')) {
            return Err(Error::setting(format!("the argument {argument:?} has a NUL byte"), "arguments cannot contain one; remove it"));
        }
        if self.statistics.is_empty() {
            return Err(Error::setting("there is no statistic", "name at least one in the observation"));
        }
        if self.timeout.is_zero() {
            return Err(Error::setting("the time-out is 0 s", "give each simulation some time, such as \"60s\""));
        }
        if self.output_limit == 0 {
            return Err(Error::setting("the output limit is 0 bytes", "leave room for the statistics, such as 1 MB"));
        }
        self.check_names()
    }

    /// Whether a call can know its seed: from a placeholder, or from the JSON it is sent.
    pub fn is_given_a_seed(&self) -> bool {
        let seed = |piece| matches!(piece, Piece::Braced("seed" | "seed64"));
        self.protocol != Protocol::Arguments || self.command.iter().any(|argument| pieces(argument).any(seed))
    }

    /// The `{words}` of the command that are neither parameters nor `seed`, `seed64` or `index`. They are passed on as they are (awk programs
    /// have such words), but one that nearly spells a parameter is a slip worth reporting.
    pub fn unknown_placeholders(&self) -> Vec<String> {
        let known = |word: &str| ["seed", "seed64", "index"].contains(&word) || self.parameters.iter().any(|name| name == word);
        let words = self.command.iter().flat_map(|argument| pieces(argument));
        words.filter_map(|piece| if let Piece::Braced(word) = piece { (!known(word)).then(|| word.to_owned()) } else { None }).collect()
    }

    /// The command with every placeholder replaced. Each argument is read once, so a value can never become a placeholder.
    pub fn arguments(&self, task: &Task) -> Vec<String> {
        self.command.iter().map(|argument| pieces(argument).map(|piece| self.replaced(piece, task)).collect()).collect()
    }

    /// The task as the JSON object that the protocols `json` and `worker` send, with the parameters in their order.
    pub fn json(&self, task: &Task) -> String {
        let quoted = |name: &String| serde_json::Value::from(name.as_str()).to_string();
        let parameters: Vec<_> =
            self.parameters.iter().zip(&task.parameters).map(|(name, value)| format!("{}:{value:?}", quoted(name))).collect();
        let Task { index, seed, seed64, .. } = task;
        format!("{{\"index\":{index},\"seed\":{seed},\"seed64\":{seed64},\"parameters\":{{{}}}}}", parameters.join(","))
    }

    /// What was printed, as text or as JSON.
    pub(crate) fn outcome_of_text(&self, printed: &[u8]) -> Outcome {
        output::from_text(printed, &self.statistics, self.outputs)
    }

    pub(crate) fn outcome_of_json(&self, printed: &[u8]) -> Outcome {
        output::from_json(printed, &self.statistics, self.outputs)
    }

    fn check_names(&self) -> Result<(), Error> {
        let mut seen = std::collections::HashSet::new();
        for name in self.parameters.iter().chain(&self.statistics) {
            if RESERVED.contains(&name.as_str()) {
                return Err(Error::setting(format!("`{name}` is a reserved name"), "choose another name for the parameter or statistic"));
            }
            if !seen.insert(name) {
                return Err(Error::setting(format!("the name `{name}` is used twice"), "parameters and statistics need different names"));
            }
            let used = self.command.iter().any(|argument| argument.contains(&format!("{{{name}}}")));
            if self.protocol == Protocol::Arguments && self.parameters.contains(name) && !used {
                return Err(Error::setting(
                    format!("the command never uses the parameter `{name}`"),
                    format!("pass it as \"{{{name}}}\", or use the protocol \"json\""),
                ));
            }
        }
        Ok(())
    }

    fn replaced(&self, piece: Piece<'_>, task: &Task) -> String {
        match piece {
            Piece::Braced("seed") => task.seed.to_string(),
            Piece::Braced("seed64") => task.seed64.to_string(),
            Piece::Braced("index") => task.index.to_string(),
            Piece::Braced(word) => match self.parameters.iter().zip(&task.parameters).find(|(name, _)| *name == word) {
                // {:?} is the shortest text that reads back as the same number, with an exponent where that is shorter.
                Some((_, value)) => format!("{value:?}"),
                None => format!("{{{word}}}"),
            },
            Piece::Text(text) => text.to_owned(),
        }
    }
}

impl Simulate for SimulatorProgram {
    fn statistics(&self) -> &[String] {
        &self.statistics
    }

    fn descriptors(&self) -> usize {
        DESCRIPTORS
    }

    fn session(&self) -> Box<dyn Session + Send + '_> {
        match self.protocol {
            Protocol::Arguments | Protocol::Json => Box::new(Once::new(self)),
            Protocol::Worker => Box::new(Worker::new(self)),
        }
    }
}

/// A stretch of an argument.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece<'a> {
    Text(&'a str),
    /// The word between `{` and `}` with no brace within.
    Braced(&'a str),
}

/// An argument cut into text and braced words, in order.
fn pieces(mut rest: &str) -> impl Iterator<Item = Piece<'_>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let braced =
            |from: &str| from.strip_prefix('{').and_then(|inner| inner.find(['{', '}']).filter(|&end| inner[end..].starts_with('}')));
        if let Some(end) = braced(rest) {
            let word = &rest[1..=end];
            rest = &rest[end + 2..];
            return Some(Piece::Braced(word));
        }
        // Everything up to the next `{` after the first character is text.
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[first..].find('{').map_or(rest.len(), |at| at + first);
        let text = &rest[..end];
        rest = &rest[end..];
        Some(Piece::Text(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Task {
        Task { index: 7, seed: 11, seed64: u64::MAX, parameters: vec![0.1, 1e-300] }
    }

    #[test]
    fn placeholders_are_replaced_once_and_unknown_words_pass_through() {
        let simulator =
            SimulatorProgram::new(["awk", "{print} {{rate}}", "--{rate}={index}", "{b}", "{seed}:{seed64}"], &["rate", "b"], &["x"]);
        let expected = ["awk", "{print} {0.1}", "--0.1=7", "1e-300", "11:18446744073709551615"];
        assert_eq!(simulator.arguments(&task()), expected);
        assert_eq!(simulator.unknown_placeholders(), ["print"]);
    }

    #[test]
    fn shell_metacharacters_stay_ordinary_characters() {
        let simulator = SimulatorProgram::new(["echo", "$(id); {rate} | `x` > ü{"], &["rate"], &["x"]);
        assert_eq!(simulator.arguments(&task())[1], "$(id); 0.1 | `x` > ü{");
    }

    #[test]
    fn json_keeps_the_order_of_parameters_and_quotes_their_names() {
        let simulator = SimulatorProgram::new(["x"], &["z\"", "a"], &["x"]);
        assert_eq!(simulator.json(&task()), r#"{"index":7,"seed":11,"seed64":18446744073709551615,"parameters":{"z\"":0.1,"a":1e-300}}"#);
        assert!(serde_json::from_str::<serde_json::Value>(&simulator.json(&task())).is_ok());
    }

    #[test]
    fn a_command_without_a_seed_is_noticed_and_json_always_carries_one() {
        let with = |argument: &str| SimulatorProgram::new(["x", "{rate}", argument], &["rate"], &["mean"]);
        assert!(with("{seed}").is_given_a_seed() && with("--s={seed64}").is_given_a_seed());
        assert!(!with("{index}").is_given_a_seed() && !with("seed").is_given_a_seed());
        assert!(SimulatorProgram { protocol: Protocol::Json, ..with("") }.is_given_a_seed());
    }

    #[test]
    fn settings_that_cannot_work_are_refused_by_name() {
        let good = SimulatorProgram::new(["x", "{rate}"], &["rate"], &["mean"]);
        assert!(good.check().is_ok());
        let refused = |change: fn(&mut SimulatorProgram), word: &str| {
            let mut simulator = good.clone();
            change(&mut simulator);
            let message = simulator.check().unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        };
        refused(|s| s.command.clear(), "command is empty");
        refused(|s| s.command[1] = "a\0".into(), "NUL");
        refused(|s| s.command[1] = "--rate".into(), "never uses the parameter `rate`");
        refused(|s| s.statistics.clear(), "no statistic");
        refused(|s| s.statistics[0] = "rate".into(), "twice");
        refused(|s| s.parameters[0] = "seed".into(), "reserved");
        refused(|s| s.timeout = Duration::ZERO, "time-out");
        refused(|s| s.output_limit = 0, "output limit");
    }
}
