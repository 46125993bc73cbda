//! NPZ as CSV: one array for each parameter and statistic, one number for each simulation, and what `kelfi export` adds.
//!
//! Ours rather than npyz's reader, which allocates a header as long as the file claims; tests write their files with npyz.

mod array;
mod header;

use kelfi::memory::Demand;
use kelfi::words::{listed, shown};
use std::io::Cursor;
use zip::ZipArchive;

/// Most simulations that a problem can have.
const MOST_ROWS: u64 = 10_000_000;
/// Bytes that a number takes on its way from the array through CSV into a record, at most.
const BYTES_OF_A_NUMBER: u64 = 120;

/// Columns that are taken where they are there.
const FURTHER: [&str; 5] = ["index", "seed", "status", "origin", "round"];

/// The arrays with these names as columns of CSV, or what is wrong with them.
pub fn as_csv(bytes: &[u8], names: &[&String]) -> Result<Vec<u8>, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| format!("it is not an NPZ file: {}\n  write it with numpy.savez", shown(&error.to_string())))?;
    let further: Vec<String> = FURTHER.map(str::to_owned).to_vec();
    let there = |name: &&String| !names.contains(name) && archive.index_for_name(&format!("{name}.npy")).is_some();
    let names: Vec<&String> = names.iter().copied().chain(further.iter().filter(there)).collect();
    let mut columns: Vec<Vec<String>> = Vec::with_capacity(names.len());
    for name in &names {
        let Some(position) = archive.index_for_name(&format!("{name}.npy")) else {
            let found = listed(archive.file_names().map(|name| name.trim_end_matches(".npy")));
            return Err(format!("there is no array `{name}`\n  name the arrays after parameters and statistics; found: {found}"));
        };
        let file = archive
            .by_index(position)
            .map_err(|error| of_array(name, &format!("{}\n  write it again with numpy.savez", shown(&error.to_string()))))?;
        let rows = columns.first().map(Vec::len);
        let column = array::read(file, |count| admit(count, rows, &names)).map_err(|fact| of_array(name, &fact))?;
        columns.push(column);
    }
    table(&names, &columns).map_err(|error| error.to_string())
}

/// Whether an array of so many numbers may be read: as long as the first one, and no more than there is room for.
fn admit(count: u64, first: Option<usize>, names: &[&String]) -> Result<(), String> {
    if let Some(rows) = first.filter(|&rows| rows as u64 != count) {
        return Err(format!("it has {count} numbers, but `{}` has {rows}\n  every array needs one number per simulation", names[0]));
    }
    if count > MOST_ROWS {
        return Err(format!("it has {count} numbers\n  at most {MOST_ROWS} simulations can be imported"));
    }
    let needed = Demand {
        what: "importing this file",
        bytes: count.saturating_mul(names.len() as u64).saturating_mul(BYTES_OF_A_NUMBER),
        simulations: count as usize,
        statistics: 0,
        advice: "use a machine with more memory",
    };
    needed.require().map_err(|error| error.to_string())
}

fn of_array(name: &str, fact: &str) -> String {
    format!("the array `{name}` cannot be used: {fact}")
}

fn table(names: &[&String], columns: &[Vec<String>]) -> csv::Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(names.iter().map(|name| name.as_str()))?;
    for row in 0..columns.first().map_or(0, Vec::len) {
        csv.write_record(columns.iter().map(|column| column[row].as_str()))?;
    }
    csv.into_inner().map_err(|error| error.into_error().into())
}
