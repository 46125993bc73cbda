//! The simulations as NPZ: one array for each column, as `numpy.load` reads it.

use crate::failure::Failure;
use kelfi_run::{Record, Store};
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A simulation and one row of its output.
type Line<'a> = (&'a Record, Option<&'a [f64]>);

/// The bytes of the archive, the same for the same simulations. A failed simulation has NaN in place of statistics, one that gave several
/// rows an entry for each; a round of 0 is none.
pub fn bytes(store: &Store) -> Result<Vec<u8>, Failure> {
    let records = store.records()?;
    let problem = store.problem();
    let rows = |record| Record::rows(record, problem.statistics.len()).map(move |row| (record, row));
    let lines: Vec<Line<'_>> = records.iter().flat_map(rows).collect();
    let mut archive = Archive { writer: ZipWriter::new(Cursor::new(Vec::new())), rows: lines.len() };
    archive.whole("index", &lines, |(record, _)| record.index)?;
    for (at, name) in problem.parameters.iter().enumerate() {
        archive.numbers(name, &lines, |(record, _)| record.parameters[at])?;
    }
    for (at, name) in problem.statistics.iter().enumerate() {
        archive.numbers(name, &lines, |(_, row)| row.map_or(f64::NAN, |values| values[at]))?;
    }
    archive.words("status", &lines, |(record, _)| record.outcome.status.word())?;
    for name in store.spare_columns() {
        match name {
            "round" => archive.whole(name, &lines, |(record, _)| record.origin.round().unwrap_or(0).into())?,
            "origin" => archive.words(name, &lines, |(record, _)| record.origin.word())?,
            _ => archive.words(name, &lines, |(record, _)| record.source.word())?,
        }
    }
    if records.iter().all(|record| record.seed.is_some()) {
        archive.whole("seed", &lines, |(record, _)| record.seed.unwrap_or(0))?;
    }
    archive.writer.finish().map(Cursor::into_inner).map_err(|error| unwritten(&error))
}

struct Archive {
    writer: ZipWriter<Cursor<Vec<u8>>>,
    rows: usize,
}

impl Archive {
    fn numbers(&mut self, name: &str, lines: &[Line<'_>], value: impl Fn(&Line<'_>) -> f64) -> Result<(), Failure> {
        self.array(name, "<f8", lines.iter().flat_map(|line| value(line).to_le_bytes()).collect())
    }

    fn whole(&mut self, name: &str, lines: &[Line<'_>], value: impl Fn(&Line<'_>) -> u64) -> Result<(), Failure> {
        self.array(name, "<u8", lines.iter().flat_map(|line| value(line).to_le_bytes()).collect())
    }

    fn words(&mut self, name: &str, lines: &[Line<'_>], word: impl Fn(&Line<'_>) -> &'static str) -> Result<(), Failure> {
        let longest = lines.iter().map(|line| word(line).chars().count()).max().unwrap_or(0).max(1);
        let letters = lines.iter().flat_map(|line| word(line).chars().map(u32::from).chain(std::iter::repeat(0)).take(longest));
        self.array(name, &format!("<U{longest}"), letters.flat_map(u32::to_le_bytes).collect())
    }

    /// One member of the archive: magic bytes, version 1.0, a header padded to a multiple of 64, the values.
    fn array(&mut self, name: &str, kind: &str, values: Vec<u8>) -> Result<(), Failure> {
        let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({},), }}", self.rows);
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values);
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        let options = options.large_file(bytes.len() > u32::MAX as usize);
        self.writer.start_file(format!("{name}.npy"), options).map_err(|error| unwritten(&error))?;
        self.writer.write_all(&bytes).map_err(|error| unwritten(&error))
    }
}

fn unwritten(error: &dyn std::fmt::Display) -> Failure {
    Failure::unexpected(format!("the simulations cannot be written: {error}"))
}
