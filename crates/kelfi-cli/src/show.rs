//! Results for people: the posterior table, the checks, and where the files are.

use crate::directory::Directory;
use crate::failure::Failure;
use crate::paragraph::paragraph;
use crate::summary::Summary;
use kelfi::checks::{Check, Status};
use kelfi::words::{counted, shown, without_controls};
use std::fmt::Write as _;
use std::io::Write as _;

/// Prints to stdout, control characters of strangers as text; a reader that has gone away (`| head`) is no reason to complain.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(without_controls(text).as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::unexpected(format!("the result cannot be printed: {error}")))
        }
        _ => Ok(()),
    }
}

/// Says something on stderr, control characters of strangers as text. Where nobody can hear it (a closed terminal, a full disk), nothing is
/// lost by going on.
pub fn say(message: &str) {
    let _ = std::io::stderr().lock().write_all(format!("{}\n", without_controls(message)).as_bytes());
}

/// The posterior and what it comes from.
pub fn found(summary: &Summary) -> String {
    posterior(summary) + &model(summary) + &rounds(summary)
}

/// The posterior, the checks and the files.
pub fn result(summary: &Summary, directory: &Directory, files: &[&str]) -> String {
    found(summary) + &examined(summary, directory, files)
}

/// What follows the posterior: the checks and the files.
pub fn examined(summary: &Summary, directory: &Directory, files: &[&str]) -> String {
    let place = directory.path().display();
    notable(summary, &place.to_string()) + "\n" + &paragraph(&format!("in {place}: "), &files.join(", "))
}

/// One line for each parameter; with calibrated intervals where they differ from the posterior's own.
pub fn posterior(summary: &Summary) -> String {
    let simulations = summary.simulations;
    let mut text = format!("{}: posterior from {}", shown(&summary.problem), counted(simulations.ok + simulations.failed, "simulation"));
    if simulations.failed > 0 {
        let _ = write!(text, " ({} failed)", simulations.failed);
    }
    text.push_str("\n\n");
    let corrected = summary.parameters.0.iter().any(|(_, p)| p.calibrated_95.is_some_and(|ends| ends != (p.q025, p.q975)));
    let mut rows = vec![["parameter", "mean", "sd", "mode", "95 % interval", ""].map(str::to_owned).to_vec()];
    if corrected {
        rows[0].extend(["calibrated 95 %".to_owned(), String::new()]);
    }
    for (name, p) in &summary.parameters.0 {
        let mut row = vec![shown(name).into_owned()];
        row.extend([p.mean, p.sd, p.mode, p.q025, p.q975].map(number));
        if corrected {
            row.extend(p.calibrated_95.map_or(["–", "–"].map(String::from), |(low, high)| [low, high].map(number)));
        }
        rows.push(row);
    }
    text + &columns(&rows)
}

/// Which model, and why that one where it was left open.
pub fn model(summary: &Summary) -> String {
    let name = &summary.hyperparameters.model;
    let reason = summary.comparison.as_ref().map_or(String::new(), |comparison| format!(": {}", comparison.reason));
    format!("\nmodel\n{}", paragraph("  ", &format!("{name}{reason}")))
}

/// How many rounds there were and what the last one changed; nothing where there was one.
pub fn rounds(summary: &Summary) -> String {
    let Some(history) = &summary.rounds else { return String::new() };
    let sizes: Vec<String> = history.rounds.iter().map(|round| round.simulations.to_string()).collect();
    let changed = history.statement().map_or_else(String::new, |statement| format!("; {statement}"));
    format!("\nrounds\n{}", paragraph("  ", &format!("{} rounds of {} simulations{changed}", sizes.len(), sizes.join(", "))))
}

/// Every check with what it found.
pub fn checks(summary: &Summary) -> String {
    summary.checks.iter().fold("\nchecks\n".to_owned(), |text, check| text + &finding(check))
}

/// The checks that ask for attention, failed ones first, and the names of the others.
fn notable(summary: &Summary, place: &str) -> String {
    let with = |status: Status| summary.checks.iter().filter(move |check| check.status == status);
    let text = with(Status::Fail).chain(with(Status::Warn)).fold("\nchecks\n".to_owned(), |text, check| text + &finding(check));
    let passed: Vec<&str> = with(Status::Ok).map(|check| check.name.as_str()).collect();
    if passed.is_empty() {
        return text;
    }
    text + &paragraph("  ok    ", &format!("{} (`kelfi inspect {place}` shows what each found)", passed.join(", ")))
}

fn finding(check: &Check) -> String {
    let word = match check.status {
        Status::Ok => "ok  ",
        Status::Warn => "WARN",
        Status::Fail => "FAIL",
    };
    paragraph(&format!("  {word}  "), &format!("{}: {}", check.name, check.message()))
}

/// An error of one line where a check failed, for after everything is written.
pub fn require_no_failed(checks: &[Check]) -> Result<(), Failure> {
    let failed: Vec<&Check> = checks.iter().filter(|check| check.status == Status::Fail).collect();
    match failed.as_slice() {
        [] => Ok(()),
        [one] => Err(Failure::checks(format!("check failed: {}: {}", one.name, one.message().replace('\n', " ")))),
        several => {
            let names: Vec<&str> = several.iter().map(|check| check.name.as_str()).collect();
            let first = several[0];
            Err(Failure::checks(format!(
                "{} checks failed: {}; {}: {}",
                several.len(),
                names.join(", "),
                first.name,
                first.message().replace('\n', " ")
            )))
        }
    }
}

/// Four significant digits, without an exponent where it stays short.
pub fn number(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    if !(1e-4..1e7).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let decimals = (3 - magnitude.log10().floor() as i32).max(0) as usize;
    format!("{value:.decimals$}")
}

/// Rows with their columns aligned: the first to the left, numbers to the right.
pub fn columns<R: AsRef<[String]>>(rows: &[R]) -> String {
    let count = rows.first().map_or(0, |row| row.as_ref().len());
    let width = |at: usize| rows.iter().map(|row| row.as_ref()[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows.iter().map(AsRef::as_ref).filter(|row| !row.is_empty()) {
        let mut line = format!("  {:<1$}", row[0], widths[0]);
        for at in 1..count {
            let _ = write!(line, "  {:>1$}", row[at], widths[at]);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_significant_digits() {
        assert_eq!(
            [1234.5678, 0.012345678, -3.0, 1e-9, 2.5e12, 0.0].map(number),
            ["1235", "0.01235", "-3.000", "1.000e-9", "2.500e12", "0"]
        );
    }
}
