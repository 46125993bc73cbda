//! `kelfi import`: simulations made elsewhere, with parameters of their own.

use crate::arguments::Import;
use crate::failure::Failure;
use crate::problem::ProblemFile;
use crate::reading;
use kelfi_run::{Record, Source, import};
use std::collections::HashMap;

pub fn run(typed: &Import) -> Result<(), Failure> {
    let (problem, directory) = super::problem(&typed.place, None)?;
    let mut bytes = reading::bytes(&typed.data, reading::MADE_BY_PROGRAMS)?;
    let shown = typed.data.display();
    if bytes.starts_with(b"PK") {
        let names: Vec<&String> = problem.prior.names().iter().chain(&problem.statistics).collect();
        bytes = super::npz::as_csv(&bytes, &names).map_err(|fact| Failure::input(format!("{shown}: {fact}")))?;
    }
    let of_file = |error: kelfi_run::Error| Failure::input(format!("{shown}: {error}"));
    // Read once before anything is made, so that a bad file leaves nothing behind.
    let read = |first| import::read_csv(&bytes[..], &problem.identity(kelfi_run::Seeds::Short), first, Source::Import);
    check_support(&problem, &read(0).map_err(of_file)?).map_err(|fact| Failure::input(format!("{shown}: {fact}")))?;

    let mut store = directory.open(&problem)?;
    let numbered = import_numbered(&bytes);
    let first = store.next_index()?;
    let mut records = read(first).map_err(of_file)?;
    if !numbered {
        leave_out_known(&mut records, &store.records()?, first);
    }
    let new = store.record(&records)?;
    super::say_counts(&store, &directory, &typed.voice, Some(new))
}

/// Whether rows carry an index of their own.
fn import_numbered(bytes: &[u8]) -> bool {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
    reader.headers().is_ok_and(|header| header.iter().any(|name| name.trim_start_matches('\u{feff}') == "index"))
}

fn check_support(problem: &ProblemFile, records: &[Record]) -> Result<(), String> {
    for (row, record) in records.iter().enumerate() {
        if let Err(error) = problem.prior.to_latent(&record.parameters) {
            return Err(format!("row {} of the data: {error}", row + 1));
        }
    }
    Ok(())
}

/// Leaves out rows that an earlier import of the same file brought: each recorded simulation stands for one equal row.
fn leave_out_known(records: &mut Vec<Record>, known: &[Record], first: u64) {
    let bits = |record: &Record| -> Vec<u64> {
        let statistics = record.outcome.statistics.iter().flatten();
        record.parameters.iter().chain(statistics).map(|value| value.to_bits()).collect()
    };
    let mut there: HashMap<Vec<u64>, usize> = HashMap::new();
    for record in known {
        *there.entry(bits(record)).or_default() += 1;
    }
    records.retain(|record| match there.get_mut(&bits(record)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    for (index, record) in (first..).zip(records) {
        record.index = index;
    }
}
