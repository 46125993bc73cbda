//! `kelfi tell`: results of what `kelfi ask` gave.

use crate::arguments::Tell;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::problem::Problem;
use crate::reading;
use kelfi::words::{listed, shown};
use kelfi_run::{Record, Source, Store, import};
use std::collections::HashSet;
use std::path::Path;

/// Parameters may come back rounded by a program between; more than this is another simulation.
const ROUNDING: f64 = 1e-6;

pub fn run(typed: &Tell) -> Result<(), Failure> {
    let directory = Directory::at(&typed.directory);
    let problem = directory.problem()?;
    let bytes = reading::bytes(&typed.results, reading::MADE_BY_PROGRAMS)?;
    let mut store = directory.open(&problem)?;
    let text = with_parameters(&problem, &typed.results, &bytes)?;
    let of_file = |error: kelfi_run::Error| match error {
        kelfi_run::Error::Results { .. } => Failure::input(format!("{}: {error}", typed.results.display())),
        other => other.into(),
    };
    let mut records = import::read_csv(&text[..], &store.problem().clone(), 0, Source::Tell).map_err(of_file)?;
    check_asked(&store, &records)?;
    for record in &mut records {
        check_parameters(&problem, record)?;
    }
    let new = store.record(&records)?;
    super::say_counts(&store, &directory, &typed.voice, Some(new))
}

/// The table with the parameters of each index filled in, if it has none of them.
fn with_parameters(problem: &Problem, path: &Path, bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let failed = |error: csv::Error| {
        let fact = shown(&error.to_string()).into_owned();
        Failure::input(format!("{}: {fact}\n  every row needs as many fields as the header", path.display()))
    };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
    let header = reader.headers().map_err(failed)?.clone();
    let place = |name: &str| header.iter().position(|found| found.trim_start_matches('\u{feff}') == name);
    let Some(index) = place("index") else {
        let found = listed(header.iter());
        return Err(Failure::input(format!(
            "{}: line 1: there is no column `index`\n  keep the one that `kelfi ask` gave; found: {found}",
            path.display()
        )));
    };
    let names = problem.prior.names();
    if names.iter().any(|name| place(name).is_some()) {
        return Ok(bytes.to_vec());
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header.iter().chain(names.iter().map(String::as_str))).map_err(failed)?;
    for row in reader.records() {
        let row = row.map_err(failed)?;
        // An index that cannot be read is reported by its line when the whole table is read.
        let theta = row.get(index).and_then(|text| text.parse().ok()).map_or_else(|| vec![0.0; names.len()], |index| problem.theta(index));
        let fields = row.iter().map(str::to_owned).chain(theta.into_iter().map(|value| format!("{value:?}")));
        writer.write_record(fields).map_err(failed)?;
    }
    writer.into_inner().map_err(|error| failed(error.into_error().into()))
}

fn check_asked(store: &Store, records: &[Record]) -> Result<(), Failure> {
    let asked: HashSet<u64> = store.outstanding()?.into_iter().chain(store.table()?.indices).collect();
    match records.iter().find(|record| !asked.contains(&record.index)) {
        None => Ok(()),
        Some(record) => Err(Failure::input(format!(
            "simulation {} was never asked for\n  tell only what `kelfi ask` gave; use `kelfi import` for others",
            record.index
        ))),
    }
}

/// Refuses parameters that are not those of the index; puts the exact ones in place of rounded ones.
fn check_parameters(problem: &Problem, record: &mut Record) -> Result<(), Failure> {
    let theta = problem.theta(record.index);
    for (name, (&told, &own)) in problem.prior.names().iter().zip(record.parameters.iter().zip(&theta)) {
        if (told - own).abs() > ROUNDING * own.abs() {
            return Err(Failure::input(format!(
                "simulation {} was told with {name} = {told:?}, but {own:?} was asked for\n  results must be for the parameters that `kelfi ask` gave; use `kelfi import` for others",
                record.index
            )));
        }
    }
    record.parameters = theta;
    Ok(())
}
