//! `[observation]`: values in place, or a CSV with one row.

use super::names;
use super::reader::{Found, Section};
use crate::reading;
use kelfi::words::shown;
use std::path::Path;

/// The observed statistics by name, in their order.
pub fn read(root: &Section<'_>) -> Option<Vec<Found<(String, f64)>>> {
    let section = root.section("observation")?;
    section.only(&["values", "file", "ignore"]);
    let observed = match (section.has("values"), section.has("file")) {
        (true, false) => values(&section)?,
        (false, true) => file(&section)?,
        (true, true) => {
            section.complain("file", "there are `values` too", "give one of them");
            return None;
        }
        (false, false) => {
            section.missing("values", "give values = { mean = 3.1, .. } or file = \"observed.csv\"");
            return None;
        }
    };
    if observed.is_empty() {
        section.complain(if section.has("file") { "file" } else { "values" }, "there is no statistic", "observe at least one");
        return None;
    }
    let acceptable = |found: &Found<(String, f64)>| {
        names::acceptable(section.reader, &Found { value: found.value.0.clone(), line: found.line, key: found.key.clone() })
    };
    observed.iter().all(acceptable).then_some(observed)
}

fn values(section: &Section<'_>) -> Option<Vec<Found<(String, f64)>>> {
    let values = section.section("values")?;
    let one =
        |name: &&str| values.number(name).map(|found| Found { value: ((*name).to_owned(), found.value), line: found.line, key: found.key });
    // Every value is looked at before giving up, so that all complaints are found.
    let found: Vec<_> = values.keys().iter().map(one).collect();
    found.into_iter().collect()
}

fn file(section: &Section<'_>) -> Option<Vec<Found<(String, f64)>>> {
    let name = section.text("file")?;
    let path = section.reader.folder().join(&name.value);
    let complain =
        |fact: String| section.complain("file", fact_of(&path, &fact), "give a CSV with the statistics' names and one row of numbers");
    let read = || -> Result<Vec<(String, f64)>, String> {
        let bytes = reading::bytes(&path, reading::WRITTEN_BY_HAND).map_err(|failure| first_line(&failure.message))?;
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(&bytes[..]);
        let unreadable = |error: csv::Error| shown(&error.to_string()).into_owned();
        let header = reader.headers().map_err(unreadable)?.clone();
        let rows: Vec<_> = reader.records().collect::<Result<_, _>>().map_err(unreadable)?;
        let [row] = &rows[..] else { return Err(format!("it has {} rows", rows.len())) };
        let number = |(name, text): (&str, &str)| match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok((name.trim_start_matches('\u{feff}').to_owned(), value)),
            _ => Err(format!("the statistic \"{}\" is \"{}\"", shown(name), shown(text))),
        };
        header.iter().zip(row).map(number).collect()
    };
    match read() {
        Ok(values) => Some(values.into_iter().map(|value| Found { value, line: name.line, key: name.key.clone() }).collect()),
        Err(fact) => {
            complain(fact);
            None
        }
    }
}

/// What is wrong with a file, which is named once.
fn fact_of(path: &Path, fact: &str) -> String {
    let name = path.display().to_string();
    if fact.contains(&name) { fact.to_owned() } else { format!("{name}: {fact}") }
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}
