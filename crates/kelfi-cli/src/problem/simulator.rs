//! `[simulator]`: what is run, and what happens when it fails.

use super::reader::{Found, Section, number_of};
use kelfi::words::{meant, shown};
use kelfi_run::Protocol;
use std::path::PathBuf;
use std::time::Duration;

/// What becomes of failed simulations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFailure {
    /// They count as outputs that do not match.
    #[default]
    Zero,
    /// They are left out.
    Drop,
    /// The first ends the run.
    Abort,
}

/// A program as written.
#[derive(Debug, Clone)]
pub struct Program {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Line of the command in the problem file.
    pub line: usize,
    /// How parameters and statistics travel.
    pub protocol: Protocol,
    /// Longest time for one simulation.
    pub timeout: Duration,
    /// Repeats after failures of the machine.
    pub retries: u32,
    /// Where it runs.
    pub directory: PathBuf,
}

/// What makes simulations.
#[derive(Debug, Clone)]
pub enum SimulatorSource {
    /// A problem of the catalogue, by name.
    Builtin(String),
    /// A program.
    Program(Program),
}

const KEYS: [&str; 7] = ["builtin", "command", "protocol", "timeout", "retries", "on_failure", "directory"];

/// The simulator, if the file has one that can be understood.
pub fn read(root: &Section<'_>) -> (Option<SimulatorSource>, OnFailure) {
    let Some(section) = root.section("simulator") else { return (None, OnFailure::default()) };
    section.only(&KEYS);
    let on_failure = match section.word("on_failure", &["zero", "drop", "abort"]) {
        Some("drop") => OnFailure::Drop,
        Some("abort") => OnFailure::Abort,
        _ => OnFailure::Zero,
    };
    let simulator = match (section.has("builtin"), section.has("command")) {
        (true, false) => builtin(&section),
        (false, true) => program(&section),
        (true, true) => {
            section.complain("command", "there is a `builtin` too", "give only one of them");
            None
        }
        (false, false) => {
            section.missing("command", "give command = [\"program\", \"argument\", ..] or builtin = \"blowfly\"");
            None
        }
    };
    (simulator, on_failure)
}

fn builtin(section: &Section<'_>) -> Option<SimulatorSource> {
    for key in ["protocol", "timeout", "retries", "directory"].into_iter().filter(|key| section.has(key)) {
        section.complain(key, "it does not apply to a built-in simulator", "remove it");
    }
    let name = section.text("builtin")?;
    match kelfi_problems::by_name(&name.value) {
        Ok(problem) => Some(SimulatorSource::Builtin(problem.name().to_owned())),
        Err(error) => {
            section.complain("builtin", format!("there is no problem named \"{}\"", error.name), error.advice);
            None
        }
    }
}

fn program(section: &Section<'_>) -> Option<SimulatorSource> {
    let protocol = match section.word("protocol", &["arguments", "json", "worker"]) {
        Some("json") => Protocol::Json,
        Some("worker") => Protocol::Worker,
        _ => Protocol::Arguments,
    };
    let timeout = timeout(section);
    let retries = section.whole("retries", 0..101).map_or(1, |found| found.value as u32);
    let folder = section.reader.folder();
    let directory = section.text("directory").map_or_else(|| folder.clone(), |found| folder.join(found.value));
    let Found { value: command, line, .. } = section.texts("command")?;
    match command.first() {
        None => section.complain("command", "it is empty", "give the program and its arguments as a list"),
        Some(first) if first.trim().is_empty() => section.complain("command", "the program's name is empty", "name the program first"),
        Some(_) if command.iter().any(|argument| argument.contains('\0')) => {
            section.complain("command", "an argument has a NUL byte", "arguments cannot contain one; remove it");
        }
        Some(_) => return Some(SimulatorSource::Program(Program { command, line, protocol, timeout: timeout?, retries, directory })),
    }
    None
}

const TIMEOUT_ADVICE: &str = "give a duration such as \"500ms\", \"60s\", \"5m\" or \"2h\"";

/// `"60s"`, or a number of seconds.
fn timeout(section: &Section<'_>) -> Option<Duration> {
    let Some(item) = section.item("timeout") else { return Some(Duration::from_secs(60)) };
    let seconds = number_of(item).or_else(|| item.as_str().and_then(seconds_of));
    let Some(seconds) = seconds else {
        section.complain("timeout", format!("{} is not a duration", shown(item.to_string().trim())), TIMEOUT_ADVICE);
        return None;
    };
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if time >= Duration::from_millis(1) && time <= Duration::from_secs(366 * 24 * 3600) => Some(time),
        _ => {
            section.complain("timeout", format!("it is {seconds} s"), "give a duration from 1 ms to a year");
            None
        }
    }
}

/// Seconds of a number with a unit. Ours: the file promises these units and no others, and a crate's spellings would become promises too.
fn seconds_of(text: &str) -> Option<f64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let factor = match text[split..].trim() {
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    text[..split].trim().parse::<f64>().ok().map(|number| number * factor)
}

/// Complains about placeholders that are nearly a parameter, and parameters without a placeholder.
pub fn check_placeholders(root: &Section<'_>, program: &Program, parameters: &[String]) {
    if program.protocol != Protocol::Arguments {
        return;
    }
    let complain = |fact: String, advice: String| root.reader.complain(program.line, "simulator.command", fact, advice);
    let names: Vec<&str> = parameters.iter().map(String::as_str).collect();
    let simulator = kelfi_run::SimulatorProgram::new(program.command.iter().cloned(), &names, &[]);
    for word in simulator.unknown_placeholders() {
        if let Some(meant) = meant(&word, names.iter().copied().chain(["seed", "seed64", "index"])) {
            let word = shown(&word);
            complain(format!("there is no parameter `{word}` for the placeholder {{{word}}}"), format!("did you mean {{{meant}}}?"));
        }
    }
    for name in parameters {
        if !program.command.iter().any(|argument| argument.contains(&format!("{{{name}}}"))) {
            complain(format!("the parameter `{name}` is never used"), format!("pass it as \"{{{name}}}\", or use protocol = \"json\""));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        assert_eq!(seconds_of("500ms"), Some(0.5));
        assert_eq!(seconds_of("1.5 h"), Some(5400.0));
        assert_eq!(seconds_of("60"), Some(60.0));
        assert_eq!(seconds_of("60 seconds"), None);
        assert_eq!(seconds_of("s"), None);
    }
}
