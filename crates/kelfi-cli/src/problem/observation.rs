//! `[observation]`: values in place, or a CSV with one row.

use super::names;
use super::reader::{Found, Section};

/// The observed statistics by name, in their order.
pub fn read(root: &Section<'_>) -> Option<Vec<Found<(String, f64)>>> {
    let section = root.section("observation")?;
    section.only(&["values", "file"]);
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
    let complain = |fact: String| {
        section.complain("file", format!("{}: {fact}", path.display()), "give a CSV with the statistics' names and one row of numbers")
    };
    let read = || -> Result<Vec<(String, f64)>, String> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(&path).map_err(|error| error.to_string())?;
        let header = reader.headers().map_err(|error| error.to_string())?.clone();
        let rows: Vec<_> = reader.records().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        let [row] = &rows[..] else { return Err(format!("it has {} rows", rows.len())) };
        let number = |(name, text): (&str, &str)| match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok((name.trim_start_matches('\u{feff}').to_owned(), value)),
            _ => Err(format!("the statistic {name:?} is {text:?}")),
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
