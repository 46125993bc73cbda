//! The table as CSV, ordered by index and free of anything that depends on the machine: the same run gives the same bytes.

use super::{Record, Store};
use crate::{Error, files};
use std::io::Write;
use std::path::Path;

/// Columns whose names are not reserved.
const SPARE: [&str; 3] = ["source", "origin", "round"];

impl Store {
    /// Writes `index, parameters.., statistics.., status, seed, source, origin, round` as CSV. A failed simulation has empty statistics; one
    /// that gave several rows has a line for each.
    /// Of the last three, those that are the name of a parameter or statistic are left out.
    pub fn export_csv(&self, writer: &mut dyn Write) -> Result<(), Error> {
        let mut csv = csv::Writer::from_writer(writer);
        let problem = self.problem();
        let names = problem.parameters.iter().chain(&problem.statistics).map(String::as_str);
        let written = |result: csv::Result<()>| result.map_err(|error| Error::file(self.path(), error.into()));
        let spare = self.spare_columns();
        written(csv.write_record(["index"].into_iter().chain(names).chain(["status", "seed"]).chain(spare.iter().copied())))?;
        self.for_each(|record| {
            record.rows(problem.statistics.len()).try_for_each(|values| {
                let mut fields = vec![record.index.to_string()];
                fields.extend(record.parameters.iter().map(|value| format!("{value:?}")));
                match values {
                    Some(values) => fields.extend(values.iter().map(|value| format!("{value:?}"))),
                    None => fields.extend(problem.statistics.iter().map(|_| String::new())),
                }
                fields.push(record.outcome.status.word().to_owned());
                fields.push(record.seed.map_or_else(String::new, |seed| seed.to_string()));
                fields.extend(spare.iter().map(|name| spare_field(name, &record)));
                written(csv.write_record(&fields))
            })
        })?;
        csv.flush().map_err(|error| Error::file(self.path(), error))
    }

    /// [`Self::export_csv`] to a file that appears whole or not at all.
    pub fn export_csv_file(&self, path: &Path) -> Result<(), Error> {
        files::write_atomically(path, |writer| self.export_csv(writer))
    }

    /// Those of `source`, `origin` and `round` that are not the name of a parameter or statistic.
    pub fn spare_columns(&self) -> Vec<&'static str> {
        let problem = self.problem();
        let taken = |name: &str| problem.parameters.iter().chain(&problem.statistics).any(|known| known == name);
        SPARE.into_iter().filter(|name| !taken(name)).collect()
    }
}

fn spare_field(name: &str, record: &Record) -> String {
    match name {
        "source" => record.source.word().to_owned(),
        "origin" => record.origin.word().to_owned(),
        _ => record.origin.round().map_or_else(String::new, |round| round.to_string()),
    }
}
