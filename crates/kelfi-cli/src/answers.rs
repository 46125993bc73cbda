//! The answers of a run directory: DIR/answers/NAME/ each, and a table of those of one command.

use crate::directory::Directory;
use crate::failure::Failure;
use crate::problem::ProblemFile;
use crate::question::Changes;
use crate::show;
use crate::summary::Summary;
use kelfi::checks::Status;
use kelfi::words::shown;
use kelfi_run::files;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The table of a command with many observations.
const TABLE: &str = "table.csv";

/// Longest name of an answer; file systems take 255 bytes.
const LONGEST: usize = 200;

/// The folder of the answers.
pub struct Answers(PathBuf);

impl Answers {
    /// Of this run directory.
    pub fn of(directory: &Directory) -> Self {
        Self(directory.file("answers"))
    }

    /// Makes the folder of one answer.
    pub fn make(&self, name: &str) -> Result<Directory, Failure> {
        acceptable(name)?;
        let place = Directory::at(&self.0.join(name));
        place.make()?;
        Ok(place)
    }

    /// Every answer that can be read, by name.
    pub fn all(&self) -> Vec<(String, Summary)> {
        let names = std::fs::read_dir(&self.0).into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let names: BTreeSet<String> = names.collect();
        names.into_iter().filter_map(|name| Some((name.clone(), Summary::read(&Directory::at(&self.0.join(name)))?))).collect()
    }

    /// Writes one row for each question: what was observed, mean, sd and quantiles of each parameter, and the worst status of its checks.
    pub fn write_table(
        &self,
        problem: &ProblemFile,
        labels: &[String],
        questions: &[Changes],
        found: &[(String, Option<Summary>)],
    ) -> Result<PathBuf, Failure> {
        let path = self.0.join(TABLE);
        let failed = |error: csv::Error| Failure::unexpected(format!("{} cannot be written: {error}", path.display()));
        let mut csv = csv::Writer::from_writer(Vec::new());
        let figures = ["mean", "sd", "mode", "q025", "q50", "q975"];
        let parameters = problem.prior.names().iter().flat_map(|name| figures.map(|figure| format!("{name}_{figure}")));
        let header = std::iter::once("answer".to_owned()).chain(problem.statistics.iter().cloned()).chain(parameters);
        csv.write_record(header.chain(["status".to_owned()])).map_err(failed)?;
        for ((label, question), (_, summary)) in labels.iter().zip(questions).zip(found) {
            let given = question.observation.as_deref().unwrap_or_default();
            let value = |name: &String| {
                given
                    .iter()
                    .find(|(known, _)| known == name)
                    .map_or_else(String::new, |(_, value)| value.iter().map(|value| format!("{value:?}")).collect())
            };
            let mut row: Vec<String> = std::iter::once(label.clone()).chain(problem.statistics.iter().map(value)).collect();
            match summary {
                Some(summary) => {
                    for (_, p) in &summary.parameters.0 {
                        row.extend([p.mean, p.sd, p.mode, p.q025, p.q50, p.q975].map(|figure| format!("{figure:?}")));
                    }
                    row.push(word(summary).to_owned());
                }
                None => {
                    row.extend(problem.prior.names().iter().flat_map(|_| figures.map(|_| String::new())));
                    row.push("refused".into());
                }
            }
            csv.write_record(row).map_err(failed)?;
        }
        let bytes = csv.into_inner().map_err(|error| failed(error.into_error().into()))?;
        files::write_bytes_atomically(&path, &bytes)?;
        Ok(path)
    }
}

/// The worst status among the checks.
pub fn word(summary: &Summary) -> &'static str {
    let has = |status: Status| summary.checks.iter().any(|check| check.status == status);
    match (has(Status::Fail), has(Status::Warn)) {
        (true, _) => "fail",
        (_, true) => "warn",
        _ => "ok",
    }
}

/// Answers one a line: mean and standard deviation of each parameter, and the worst status of the checks.
pub fn listed<'a>(answers: impl Iterator<Item = (&'a str, &'a Summary)>) -> String {
    let mut rows: Vec<Vec<String>> = vec![];
    for (name, summary) in answers {
        if rows.is_empty() {
            let names = summary.parameters.0.iter().flat_map(|(name, _)| [shown(name).into_owned(), "sd".to_owned()]);
            rows.push(std::iter::once("answer".to_owned()).chain(names).chain(["checks".to_owned()]).collect());
        }
        let figures = summary.parameters.0.iter().flat_map(|(_, p)| [show::number(p.mean), show::number(p.sd)]);
        rows.push(std::iter::once(shown(name).into_owned()).chain(figures).chain([word(summary).to_owned()]).collect());
    }
    show::columns(&rows)
}

/// A name for the answer of each row: that of its column `name`, else its number; after `before` and a dash where that is given.
pub fn labels(names: &[String], rows: &[Vec<String>], before: Option<&str>, problem: &ProblemFile) -> Result<Vec<String>, Failure> {
    let column = names.iter().position(|name| name == "name" && !problem.statistics.contains(name));
    let width = rows.len().to_string().len();
    let own = |(at, row): (usize, &Vec<String>)| match column.and_then(|column| row.get(column)) {
        Some(name) => name.clone(),
        None => format!("{:0width$}", at + 1),
    };
    let label = |own: String| before.map_or(own.clone(), |before| format!("{before}-{own}"));
    let labels: Vec<String> = rows.iter().enumerate().map(own).map(label).collect();
    labels.iter().try_for_each(|label| acceptable(label))?;
    let mut seen = BTreeSet::new();
    match labels.iter().find(|label| !seen.insert(label.as_str())) {
        Some(twice) => Err(Failure::input(format!("two rows have the name \"{}\"\n  give each row its own name", shown(twice)))),
        None if labels.is_empty() => Err(Failure::input("there is no observation\n  give one row for each observation")),
        None => Ok(labels),
    }
}

/// Refuses what cannot be the name of a folder of its own.
fn acceptable(name: &str) -> Result<(), Failure> {
    let fact = if name.trim().is_empty() {
        "it is empty"
    } else if name.contains(['/', '\\']) || name.chars().any(char::is_control) {
        "it has a slash or a control character"
    } else if name.starts_with('.') || name == TABLE {
        "it begins with a dot, or is that of the table of answers"
    } else if name.len() > LONGEST {
        "it is too long"
    } else {
        return Ok(());
    };
    Err(Failure::input(format!("\"{}\" cannot be the name of an answer: {fact}\n  give a name that a folder can have", shown(name))))
}
