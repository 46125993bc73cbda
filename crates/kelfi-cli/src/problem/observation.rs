//! `[observation]`: values in place, or a CSV file. Statistics have one row; a data set has any number.

use super::names;
use super::reader::{Found, Section};
use crate::reading;
use kelfi::Outputs;
use kelfi::words::{counted, shown};
use std::path::Path;

/// A name and the observed values of each row.
pub type Column = (String, Vec<f64>);

/// The observed statistics or columns by name, in their order, all with the same number of rows.
pub fn read(root: &Section<'_>, outputs: Outputs) -> Option<Vec<Found<Column>>> {
    let section = root.section("observation")?;
    section.only(&["values", "file", "ignore"]);
    let observed = match (section.has("values"), section.has("file")) {
        (true, false) => values(&section, outputs)?,
        (false, true) => file(&section, outputs)?,
        (true, true) => {
            section.complain("file", "there are `values` too", "give only one of them");
            return None;
        }
        (false, false) => {
            let advice = match outputs {
                Outputs::Statistics | Outputs::Repeats(_) => "give values = { mean = 3.1, .. } or file = \"observed.csv\"",
                Outputs::Rows => "give file = \"observed.csv\" with a line for each row, or values = { height = [1.7, 1.8, ..], .. }",
            };
            section.missing("values", advice);
            return None;
        }
    };
    let key = if section.has("file") { "file" } else { "values" };
    if observed.is_empty() {
        section.complain(key, "there is no statistic", "give at least one");
        return None;
    }
    let rows = observed[0].value.1.len();
    if let Some(other) = observed.iter().find(|found| found.value.1.len() != rows) {
        let fact =
            format!("`{}` has {} and `{}` has {rows}", other.value.0, counted(other.value.1.len() as u64, "value"), observed[0].value.0);
        section.complain(key, fact, "give a value of each column for every row");
        return None;
    }
    if rows == 0 {
        section.complain(key, "there is no row", "give at least one");
        return None;
    }
    let acceptable = |found: &Found<Column>| {
        names::acceptable(section.reader, &Found { value: found.value.0.clone(), line: found.line, key: found.key.clone() })
    };
    observed.iter().all(acceptable).then_some(observed)
}

fn values(section: &Section<'_>, outputs: Outputs) -> Option<Vec<Found<Column>>> {
    let values = section.section("values")?;
    let given = |name: &str| match outputs {
        Outputs::Statistics | Outputs::Repeats(_) => {
            values.number(name).map(|found| Found { value: vec![found.value], line: found.line, key: found.key })
        }
        Outputs::Rows => values.numbers(name),
    };
    let one = |name: &&str| given(name).map(|found| Found { value: ((*name).to_owned(), found.value), line: found.line, key: found.key });
    // Every value is looked at before giving up, so that all complaints are found.
    let found: Vec<_> = values.keys().iter().map(one).collect();
    found.into_iter().collect()
}

fn file(section: &Section<'_>, outputs: Outputs) -> Option<Vec<Found<Column>>> {
    let name = section.text("file")?;
    let path = section.reader.folder().join(&name.value);
    let advice = match outputs {
        Outputs::Statistics | Outputs::Repeats(_) => {
            "give a CSV with the statistics' names and one row of numbers; where an output is a data set, say so with `rows = true` under [outputs]"
        }
        Outputs::Rows => "give a CSV with the columns' names and a line of numbers for each row",
    };
    match columns(&path, outputs) {
        Ok(found) => Some(found.into_iter().map(|value| Found { value, line: name.line, key: name.key.clone() }).collect()),
        Err(fact) => {
            section.complain("file", fact_of(&path, &fact), advice);
            None
        }
    }
}

/// The columns of a CSV file, or what is wrong with it.
fn columns(path: &Path, outputs: Outputs) -> Result<Vec<Column>, String> {
    let bytes = reading::bytes(path, reading::WRITTEN_BY_HAND).map_err(|failure| first_line(&failure.message))?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(&bytes[..]);
    let unreadable = |error: csv::Error| shown(&error.to_string()).into_owned();
    let header = reader.headers().map_err(unreadable)?.clone();
    let rows: Vec<_> = reader.records().collect::<Result<_, _>>().map_err(unreadable)?;
    if !outputs.in_rows() && rows.len() != 1 {
        return Err(format!("it has {} rows", rows.len()));
    }
    let number = |name: &str, row: &csv::StringRecord, at: usize| match row.get(at).unwrap_or_default().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => {
            let place =
                if outputs.in_rows() { format!(" in line {}", row.position().map_or(0, csv::Position::line)) } else { String::new() };
            Err(format!("the statistic \"{}\" is \"{}\"{place}", shown(name), shown(row.get(at).unwrap_or_default())))
        }
    };
    let column = |(at, name): (usize, &str)| {
        let values = rows.iter().map(|row| number(name, row, at)).collect::<Result<_, String>>()?;
        Ok((name.trim_start_matches('\u{feff}').to_owned(), values))
    };
    header.iter().enumerate().map(column).collect()
}

/// What is wrong with a file, which is named once.
fn fact_of(path: &Path, fact: &str) -> String {
    let name = path.display().to_string();
    if fact.contains(&name) { fact.to_owned() } else { format!("{name}: {fact}") }
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}
