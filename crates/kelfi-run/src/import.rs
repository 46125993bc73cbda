//! Results made elsewhere, from CSV with columns named after parameters and statistics.

use crate::store::{Problem, Record, Source};
use crate::{Error, Outcome, Status};
use csv::StringRecord;
use kelfi::words::{listed, shown};
use std::collections::HashSet;
use std::io::Read;

/// Records from CSV. Columns may come in any order; other columns are ignored. With a column `index` each row keeps its own,
/// otherwise rows are numbered from `first_index`. A row whose statistics are empty, NaN or infinite, or whose column `status` says
/// so, is a failed simulation; a row that cannot be read is an error that names its line.
pub fn read_csv(reader: impl Read, problem: &Problem, first_index: u64, source: Source) -> Result<Vec<Record>, Error> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(reader);
    let header = reader.headers().map_err(|error| unreadable(1, &error))?.clone();
    let columns = Columns::find(&header, problem)?;
    let mut records = Vec::new();
    let mut seen = HashSet::new();
    for row in reader.records() {
        let row = row.map_err(|error| unreadable(error.position().map_or(0, csv::Position::line), &error))?;
        let record = columns.record(&row, problem, first_index + records.len() as u64, source)?;
        if !seen.insert(record.index) {
            return Err(wrong(&row, format!("simulation {} appears twice", record.index), "keep one row for each index"));
        }
        records.push(record);
    }
    Ok(records)
}

/// Where each value stands in a row.
struct Columns {
    index: Option<usize>,
    seed: Option<usize>,
    status: Option<usize>,
    seconds: Option<usize>,
    parameters: Vec<usize>,
    statistics: Vec<usize>,
}

impl Columns {
    fn find(header: &StringRecord, problem: &Problem) -> Result<Self, Error> {
        let place = |name: &str| header.iter().position(|found| found.trim_start_matches('\u{feff}') == name);
        let needed = |names: &[String]| {
            let missing = |name: &String| Error::Results {
                line: 1,
                fact: format!("there is no column `{name}`"),
                advice: format!("name the columns after parameters and statistics; found: {}", listed(header.iter())),
            };
            names.iter().map(|name| place(name).ok_or_else(|| missing(name))).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            parameters: needed(&problem.parameters)?,
            statistics: needed(&problem.statistics)?,
            index: place("index"),
            seed: place("seed"),
            status: place("status"),
            seconds: place("seconds"),
        })
    }

    fn record(&self, row: &StringRecord, problem: &Problem, fallback: u64, source: Source) -> Result<Record, Error> {
        let field = |column: Option<usize>| column.and_then(|at| row.get(at)).filter(|text| !text.is_empty());
        let whole = |column, name: &str| {
            let parse = |text: &str| {
                text.parse::<u64>().map_err(|_| wrong(row, format!("the {name} is \"{}\"", shown(text)), "give a whole number from 0"))
            };
            field(column).map(parse).transpose()
        };
        let mut parameters = Vec::with_capacity(self.parameters.len());
        for (&at, name) in self.parameters.iter().zip(&problem.parameters) {
            let text = row.get(at).unwrap_or_default();
            let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
            parameters.push(value.ok_or_else(|| {
                wrong(row, format!("parameter `{name}` is \"{}\"", shown(text)), "every parameter must be a finite number")
            })?);
        }
        Ok(Record {
            index: whole(self.index, "index")?.unwrap_or(fallback),
            seed: whole(self.seed, "seed")?,
            seconds: field(self.seconds).and_then(|text| text.parse().ok()).filter(|seconds: &f64| seconds.is_finite()),
            outcome: self.outcome(row, problem, field(self.status))?,
            parameters,
            source,
        })
    }

    fn outcome(&self, row: &StringRecord, problem: &Problem, status: Option<&str>) -> Result<Outcome, Error> {
        let known = status.map(|word| {
            word.parse::<Status>().map_err(|error| wrong(row, shown(&error.to_string()).into_owned(), "leave the column out if in doubt"))
        });
        if let Some(status) = known.transpose()?.filter(|status| !status.is_ok() && *status != Status::Interrupted) {
            return Ok(Outcome::failed(status, "reported as failed where it was made"));
        }
        let mut values = Vec::with_capacity(self.statistics.len());
        for (&at, name) in self.statistics.iter().zip(&problem.statistics) {
            match row.get(at).unwrap_or_default() {
                "" | "NA" => values.push(f64::NAN),
                text => values.push(text.parse().map_err(|_| {
                    wrong(
                        row,
                        format!("statistic `{name}` is \"{}\"", shown(text)),
                        "give a number with a decimal point, or leave the field empty for a failure",
                    )
                })?),
            }
        }
        Ok(Outcome::from_values(values, &problem.statistics))
    }
}

fn wrong(row: &StringRecord, fact: String, advice: &str) -> Error {
    Error::Results { line: row.position().map_or(0, csv::Position::line), fact, advice: advice.into() }
}

fn unreadable(line: u64, error: &csv::Error) -> Error {
    Error::Results {
        line,
        fact: shown(&error.to_string()).into_owned(),
        advice: "every row needs as many fields as the header, as UTF-8".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem() -> Problem {
        Problem { text: String::new(), parameters: vec!["rate".into()], statistics: vec!["mean".into(), "sd".into()], seed: 1 }
    }

    fn read(text: &str) -> Result<Vec<Record>, Error> {
        read_csv(text.as_bytes(), &problem(), 5, Source::Import)
    }

    #[test]
    fn columns_are_found_by_name_in_any_order_with_extra_ones_ignored() {
        let records = read("\u{feff}sd,note,rate,mean\r\n2,hello,0.5,1\r\n4,,0.25,3\r\n").unwrap();
        assert_eq!(records.len(), 2);
        assert_eq!((records[1].index, &records[1].parameters), (6, &vec![0.25]));
        assert_eq!(records[1].outcome, Outcome::ok(vec![3.0, 4.0]));
    }

    #[test]
    fn empty_or_non_finite_statistics_and_reported_failures_are_failed_simulations() {
        let records = read("index,rate,mean,sd,status,seed\n9,1,,,,\n2,1,NaN,1,,7\n3,1,,,timeout,\n4,1,1,1,ok,\n").unwrap();
        let statuses: Vec<_> = records.iter().map(|record| record.outcome.status).collect();
        assert_eq!(statuses, [Status::NonFinite, Status::NonFinite, Status::Timeout, Status::Ok]);
        assert_eq!((records[0].index, records[1].seed), (9, Some(7)));
    }

    #[test]
    fn what_cannot_be_read_is_named_by_line() {
        let message = |text| read(text).unwrap_err().to_string();
        assert!(message("rate,mean\n1,2\n").starts_with("line 1: there is no column `sd`"));
        assert!(message("rate,mean,sd\n1,2,3\nx,2,3\n").starts_with("line 3: parameter `rate` is \"x\""));
        assert!(message("rate,mean,sd\n1,\"2,5\",3\n").contains("decimal point"));
        assert!(message("rate,mean,sd\n1,2\n").starts_with("line 2"));
        assert!(message("index,rate,mean,sd\n1,1,2,3\n1,1,2,3\n").contains("appears twice"));
    }
}
