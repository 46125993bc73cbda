//! Results made elsewhere, from CSV with columns named after parameters and statistics.

use crate::store::{Origin, Record, Source, StoredProblem};
use crate::{Error, Outcome, Status};
use csv::StringRecord;
use kelfi::Outputs;
use kelfi::words::{listed, shown};
use std::collections::HashSet;
use std::io::Read;

/// Each row's line, with its record or what is wrong with it.
pub type Rows = Vec<(u64, Result<Record, Error>)>;

/// Which simulation a row is.
#[derive(Clone, Copy)]
pub enum Numbering<'a> {
    /// The one of its column `index`; without such a column, rows are numbered from here.
    From(u64),
    /// The one of its column `index`, which must be there. Where the table has no parameters, this function of the index gives them.
    Asked(&'a dyn Fn(u64) -> Vec<f64>),
}

/// Records from CSV. Columns may come in any order; other columns are ignored. With a column `index` each row keeps its own,
/// otherwise rows are numbered from `first_index`. A row whose statistics are empty, NaN or infinite, or whose column `status` says
/// so, is a failed simulation; a row that cannot be read is an error that names its line. Where a simulation gives several rows, rows one
/// after the other with the same index, or without a column `index` with the same parameters, are one.
pub fn read_csv(reader: impl Read, problem: &StoredProblem, first_index: u64, source: Source) -> Result<Vec<Record>, Error> {
    read_rows(reader, problem, Numbering::From(first_index), source)?.into_iter().map(|(_, row)| row).collect()
}

/// [`read_csv`] row by row: each with its line, as a record or as what is wrong with it. An error only where no row can be read.
pub fn read_rows(reader: impl Read, problem: &StoredProblem, numbering: Numbering<'_>, source: Source) -> Result<Rows, Error> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(reader);
    let header = reader.headers().map_err(|error| unreadable(1, &error))?.clone();
    let columns = Columns::find(&header, problem, numbering)?;
    let (mut rows, mut seen) = (Vec::new(), HashSet::new());
    let outputs = problem.outputs();
    for row in reader.records() {
        let (line, record) = match row {
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                (line, Err(unreadable(line, &error)))
            }
            Ok(row) => {
                let record = columns.record(&row, problem, numbering, rows.len() as u64, source);
                if let (true, Ok(record), Some((_, Ok(last)))) = (outputs.in_rows(), &record, rows.last_mut())
                    && columns.continues(&row, last, record)?
                {
                    last.outcome = together(&last.outcome, &record.outcome);
                    continue;
                }
                let twice = |record: Record| match seen.insert(record.index) {
                    true => Ok(record),
                    false => Err(wrong(&row, format!("simulation {} appears twice", record.index), "keep one row for each index")),
                };
                (row.position().map_or(0, csv::Position::line), record.and_then(twice))
            }
        };
        // Without one of its rows a data set is another one.
        rows.push((line, if outputs.in_rows() { Ok(record?) } else { record }));
    }
    if outputs.in_rows() {
        rows.iter_mut().for_each(|(_, row)| require_whole(row, outputs, problem));
    }
    Ok(rows)
}

/// The outcome of rows one after the other: all numbers, or the first failure.
fn together(before: &Outcome, next: &Outcome) -> Outcome {
    match (&before.statistics, &next.statistics) {
        (Some(before), Some(next)) => Outcome::ok([before.as_slice(), next].concat()),
        (None, _) => before.clone(),
        _ => next.clone(),
    }
}

/// A simulation with another number of rows than it must have is a failed one.
fn require_whole(row: &mut Result<Record, Error>, outputs: Outputs, problem: &StoredProblem) {
    if let Ok(record) = row
        && let Some(values) = record.outcome.statistics.take()
    {
        record.outcome = Outcome::of(outputs, values, &problem.statistics);
    }
}

/// Where each value stands in a row.
struct Columns {
    index: Option<usize>,
    seed: Option<usize>,
    status: Option<usize>,
    seconds: Option<usize>,
    origin: Option<usize>,
    round: Option<usize>,
    /// None where the index gives them.
    parameters: Option<Vec<usize>>,
    statistics: Vec<usize>,
}

impl Columns {
    fn find(header: &StringRecord, problem: &StoredProblem, numbering: Numbering<'_>) -> Result<Self, Error> {
        let place = |name: &str| header.iter().position(|found| found.trim_start_matches('\u{feff}') == name);
        let needed = |names: &[String]| {
            let missing = |name: &String| Error::Results {
                line: 1,
                fact: format!("there is no column `{name}`"),
                advice: format!("name the columns after parameters and statistics; found: {}", listed(header.iter())),
            };
            names.iter().map(|name| place(name).ok_or_else(|| missing(name))).collect::<Result<Vec<_>, _>>()
        };
        // Not reserved: a parameter or statistic may have such a name.
        let taken = |name: &str| problem.parameters.iter().chain(&problem.statistics).any(|known| known == name);
        let spare = |name: &str| place(name).filter(|_| !taken(name));
        let asked = matches!(numbering, Numbering::Asked(_));
        if asked && place("index").is_none() {
            let advice = format!("keep the index that `kelfi ask` gave; found: {}", listed(header.iter()));
            return Err(Error::Results { line: 1, fact: "there is no column `index`".into(), advice });
        }
        let given = !asked || problem.parameters.iter().any(|name| place(name).is_some());
        Ok(Self {
            parameters: if given { Some(needed(&problem.parameters)?) } else { None },
            statistics: needed(&problem.statistics)?,
            index: place("index"),
            seed: place("seed"),
            status: place("status"),
            seconds: place("seconds"),
            origin: spare("origin"),
            round: spare("round"),
        })
    }

    fn record(
        &self,
        row: &StringRecord,
        problem: &StoredProblem,
        numbering: Numbering<'_>,
        place: u64,
        source: Source,
    ) -> Result<Record, Error> {
        let field = |column: Option<usize>| column.and_then(|at| row.get(at)).filter(|text| !text.is_empty());
        let whole = |column, name: &str| {
            let parse = |text: &str| {
                text.parse::<u64>().map_err(|_| wrong(row, format!("the {name} is \"{}\"", shown(text)), "give a whole number from 0"))
            };
            field(column).map(parse).transpose()
        };
        let index = match (whole(self.index, "index")?, numbering) {
            (Some(index), _) => index,
            (None, Numbering::From(first)) => first + place,
            (None, Numbering::Asked(_)) => return Err(wrong(row, "the index is empty".into(), "keep the index that `kelfi ask` gave")),
        };
        let parameters = match (&self.parameters, numbering) {
            (None, Numbering::Asked(theta)) => theta(index),
            (columns, _) => parameters(row, problem, columns.as_deref().unwrap_or_default())?,
        };
        Ok(Record {
            index,
            seed: whole(self.seed, "seed")?,
            seconds: field(self.seconds).and_then(|text| text.parse().ok()).filter(|seconds: &f64| seconds.is_finite()),
            outcome: self.outcome(row, problem, field(self.status))?,
            origin: self.origin(row, source)?,
            parameters,
            source,
        })
    }

    /// Whether a row belongs to the simulation of the rows before.
    fn continues(&self, row: &StringRecord, last: &Record, next: &Record) -> Result<bool, Error> {
        match self.index {
            None => Ok(last.parameters == next.parameters),
            Some(_) if last.index != next.index => Ok(false),
            Some(_) if last.parameters != next.parameters => {
                let fact = format!("simulation {} has other parameters than in the row before", next.index);
                Err(wrong(row, fact, "all rows of a simulation have the same parameters"))
            }
            Some(_) => Ok(true),
        }
    }

    /// Where the parameters come from, as the row says it.
    fn origin(&self, row: &StringRecord, source: Source) -> Result<Origin, Error> {
        let field = |column: Option<usize>| column.and_then(|at| row.get(at)).filter(|text| !text.is_empty());
        let Some(word) = field(self.origin) else { return Ok(source.usual_origin()) };
        // Arrays have 0 where there is no round.
        let round = field(self.round).filter(|&text| text != "0");
        let known = match round.map(str::parse) {
            None => Origin::of(word, None),
            Some(Ok(round)) => Origin::of(word, Some(round)),
            Some(Err(_)) => None,
        };
        let shown = |text: &str| shown(text).into_owned();
        known.ok_or_else(|| {
            wrong(
                row,
                format!("the origin is \"{}\", the round \"{}\"", shown(word), shown(round.unwrap_or_default())),
                "if in doubt, leave both columns out",
            )
        })
    }

    fn outcome(&self, row: &StringRecord, problem: &StoredProblem, status: Option<&str>) -> Result<Outcome, Error> {
        let known = status.map(|word| {
            word.parse::<Status>().map_err(|error| wrong(row, shown(&error.to_string()).into_owned(), "if in doubt, leave the column out"))
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

fn parameters(row: &StringRecord, problem: &StoredProblem, columns: &[usize]) -> Result<Vec<f64>, Error> {
    let one = |(&at, name): (&usize, &String)| {
        let text = row.get(at).unwrap_or_default();
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
        value.ok_or_else(|| wrong(row, format!("parameter `{name}` is \"{}\"", shown(text)), "every parameter must be a finite number"))
    };
    columns.iter().zip(&problem.parameters).map(one).collect()
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

    fn problem() -> StoredProblem {
        StoredProblem { text: String::new(), parameters: vec!["rate".into()], statistics: vec!["mean".into(), "sd".into()], seed: 1 }
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
    fn rows_of_a_data_set_stand_one_after_the_other() {
        let rows = StoredProblem { text: r#"{"outputs":"rows"}"#.into(), ..problem() };
        let read = |text: &str| read_csv(text.as_bytes(), &rows, 5, Source::Import);
        let found = read("index,rate,mean,sd\n2,1,1,2\n2,1,3,4\n7,1,5,6\n4,2,,\n").unwrap();
        assert_eq!(found.iter().map(|record| record.index).collect::<Vec<_>>(), [2, 7, 4]);
        assert_eq!(found[0].outcome, Outcome::ok(vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!((&found[1].outcome, found[2].outcome.status), (&Outcome::ok(vec![5.0, 6.0]), Status::NonFinite));
        let numbered = read("rate,mean,sd\n1,1,2\n1,3,4\n2,5,6\n").unwrap();
        assert_eq!(numbered.iter().map(|record| record.index).collect::<Vec<_>>(), [5, 6]);
        assert_eq!(read("rate,mean,sd\n1,1,2\n1,NaN,4\n").unwrap()[0].outcome.status, Status::NonFinite);
        assert!(read("index,rate,mean,sd\n2,1,1,2\n3,1,1,2\n2,1,3,4\n").unwrap_err().to_string().contains("appears twice"));
        assert!(
            read("index,rate,mean,sd\n2,1,1,2\n2,3,3,4\n").unwrap_err().to_string().contains("line 3: simulation 2 has other parameters")
        );
        assert!(read("index,rate,mean,sd\n2,1,1,2\n2,1,x,4\n").is_err());
    }

    #[test]
    fn each_row_stands_for_itself_and_the_index_gives_the_parameters() {
        let theta = |index: u64| vec![index as f64];
        let text = "index,mean,sd\n4,1,2\nx,1,2\n5,1\n,1,2\n6,1,2,3\n4,1,2\n7,oops,2\n8,,\n";
        let rows = read_rows(text.as_bytes(), &problem(), Numbering::Asked(&theta), Source::Tell).unwrap();
        let good: Vec<_> =
            rows.iter().filter_map(|(_, row)| row.as_ref().ok()).map(|record| (record.index, record.parameters[0])).collect();
        assert_eq!(good, [(4, 4.0), (8, 8.0)]);
        let bad: Vec<_> = rows.iter().filter(|(_, row)| row.is_err()).map(|(line, _)| *line).collect();
        assert_eq!(bad, [3, 4, 5, 6, 7, 8]);
        let error = read_rows("mean,sd\n1,2\n".as_bytes(), &problem(), Numbering::Asked(&theta), Source::Tell).unwrap_err();
        assert!(error.to_string().starts_with("line 1: there is no column `index`"), "{error}");
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
