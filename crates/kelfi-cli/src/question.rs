//! Another question to the same simulations: the problem with another observation, another prior, or without some statistics.

use crate::failure::Failure;
use crate::problem::{self, Column, ProblemFile};
use crate::reading;
use kelfi::words::{counted, did_you_mean, shown};
use std::path::Path;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

/// Observed values by name: one of each statistic, or one for every row.
pub type Values = Vec<Column>;

/// What is to be changed in a problem.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Every statistic that is not ignored; others are left alone.
    pub observation: Option<Values>,
    /// The sections `[[parameter]]` of another file.
    pub prior: Option<ArrayOfTables>,
    /// Statistics that are not used.
    pub ignored: Vec<String>,
}

impl Changes {
    /// The problem with what is asked in place of what it says.
    pub fn of(&self, problem: &ProblemFile) -> Result<ProblemFile, Failure> {
        let ignored = self.ignored(problem)?;
        let mut document: DocumentMut =
            problem.text.parse().map_err(|error| Failure::unexpected(format!("the problem cannot be read again: {error}")))?;
        if let Some(tables) = &self.prior {
            document["parameter"] = Item::ArrayOfTables(tables.clone());
        }
        if self.observation.is_some() || !ignored.is_empty() {
            let mut section = Table::new();
            section["values"] = value(problem::values_of(problem.outputs, &self.observed(problem, &ignored)?));
            if !ignored.is_empty() {
                section["ignore"] = value(ignored.iter().collect::<Array>());
            }
            document["observation"] = Item::Table(section);
        }
        let mut asked = ProblemFile::parse(&problem.path, &document.to_string())?;
        (asked.name, asked.seed, asked.simulations) = (problem.name.clone(), problem.seed, problem.simulations);
        Ok(asked)
    }

    /// What is ignored now: what the problem ignores, and what was named.
    fn ignored(&self, problem: &ProblemFile) -> Result<Vec<String>, Failure> {
        for name in &self.ignored {
            known(problem, name)?;
        }
        let all = problem.statistics.iter().filter(|name| problem.ignored.contains(name) || self.ignored.contains(name));
        let all: Vec<String> = all.cloned().collect();
        if all.len() == problem.statistics.len() {
            return Err(Failure::input("no statistic is left\n  ignore fewer"));
        }
        Ok(all)
    }

    /// A value for each statistic of the problem.
    fn observed(&self, problem: &ProblemFile, ignored: &[String]) -> Result<Values, Failure> {
        let columns = problem.observed_columns();
        let Some(values) = &self.observation else { return Ok(columns) };
        let one = |old: Column| match values.iter().find(|(given, _)| *given == old.0) {
            Some(given) => Ok(given.clone()),
            None if ignored.contains(&old.0) && !problem.outputs.in_rows() => Ok(old),
            None => Err(Failure::input(format!(
                "the observation has no `{}`\n  give every statistic, or leave it out with --ignore {0}",
                shown(&old.0)
            ))),
        };
        columns.into_iter().map(one).collect()
    }
}

/// Refuses a name that is no statistic.
fn known(problem: &ProblemFile, name: &str) -> Result<(), Failure> {
    if problem.statistics.iter().any(|known| known == name) {
        return Ok(());
    }
    let advice = did_you_mean(name, problem.statistics.iter().map(String::as_str), "the statistics are");
    Err(Failure::input(format!("there is no statistic `{}`\n  {advice}", shown(name))))
}

/// `name=value,…`, or a CSV file with one row; of a data set, a CSV file with a line for each row.
pub fn observation(typed: &str, problem: &ProblemFile) -> Result<Values, Failure> {
    if !typed.contains('=') || Path::new(typed).is_file() {
        let (names, rows) = table(Path::new(typed))?;
        if problem.outputs.in_rows() {
            return data_set(Path::new(typed), &names, &rows, problem);
        }
        let [row] = &rows[..] else {
            return Err(Failure::input(format!(
                "{typed} has {}\n  give one for --observation; --observations answers for each row",
                counted(rows.len() as u64, "row")
            )));
        };
        return values(Path::new(typed), 2, &names, row, problem);
    }
    if problem.outputs.in_rows() {
        let fact = format!("`{}` gives one value, and the outputs are data sets", shown(typed));
        return Err(Failure::input(format!("{fact}\n  give a CSV file with a line for each observed row")));
    }
    let pair = |text: &str| {
        let (name, number) = text.split_once('=').ok_or_else(|| {
            Failure::input(format!("`{}` in --observation has no value\n  write name=value, separated by commas", shown(text)))
        })?;
        known(problem, name.trim())?;
        Ok((name.trim().to_owned(), vec![finite(number).ok_or_else(|| not_a_number(name, number))?]))
    };
    typed.split(',').map(pair).collect()
}

fn finite(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|value| value.is_finite())
}

fn not_a_number(name: &str, text: &str) -> Failure {
    Failure::input(format!("the statistic `{}` is \"{}\"\n  give a finite number", shown(name), shown(text)))
}

/// Header and rows of a CSV file.
pub fn table(path: &Path) -> Result<(Vec<String>, Vec<Vec<String>>), Failure> {
    let bytes = reading::bytes(path, reading::MADE_BY_PROGRAMS)?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(&bytes[..]);
    let unreadable = |error: csv::Error| {
        let advice = "give a CSV with the statistics' names in the first line";
        Failure::input(format!("{}: {}\n  {advice}", path.display(), shown(&error.to_string())))
    };
    let names = reader.headers().map_err(unreadable)?.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect();
    let rows = reader.records().map(|row| row.map(|row| row.iter().map(str::to_owned).collect())).collect::<Result<_, _>>();
    Ok((names, rows.map_err(unreadable)?))
}

/// The statistics in a row of a table; other columns are left alone.
pub fn values(path: &Path, line: usize, names: &[String], row: &[String], problem: &ProblemFile) -> Result<Values, Failure> {
    let statistics = names.iter().zip(row).filter(|(name, _)| problem.statistics.contains(name));
    let one = |(name, text): (&String, &String)| match finite(text) {
        Some(value) => Ok((name.clone(), vec![value])),
        None => {
            let Failure { exit, message } = not_a_number(name, text);
            Err(Failure { exit, message: format!("{}: line {line}: {message}", path.display()) })
        }
    };
    statistics.map(one).collect()
}

/// The columns of a data set.
fn data_set(path: &Path, names: &[String], rows: &[Vec<String>], problem: &ProblemFile) -> Result<Values, Failure> {
    let mut columns: Values = names.iter().filter(|name| problem.statistics.contains(name)).map(|name| (name.clone(), vec![])).collect();
    for (at, row) in rows.iter().enumerate() {
        for ((_, column), (_, value)) in columns.iter_mut().zip(values(path, at + 2, names, row, problem)?) {
            column.extend(value);
        }
    }
    Ok(columns)
}

/// The prior of a file with sections `[[parameter]]`, which may be a whole problem file.
pub fn prior(path: &Path, problem: &ProblemFile) -> Result<ArrayOfTables, Failure> {
    let text = reading::text(path, reading::WRITTEN_BY_HAND)?;
    let found = problem::parameter_names(path, &text)?;
    let names = problem.prior.names();
    if let Some(name) = found.iter().find(|name| !names.contains(name)) {
        let advice = did_you_mean(name, names.iter().map(String::as_str), "the parameters are");
        return Err(Failure::input(format!("{}: there is no parameter `{}`\n  {advice}", path.display(), shown(name))));
    }
    if let Some(missing) = names.iter().find(|name| !found.contains(name)) {
        let fact = format!("{}: the parameter `{}` is missing", path.display(), shown(missing));
        return Err(Failure::input(format!("{fact}\n  give a section [[parameter]] with name and prior for each of {}", names.join(", "))));
    }
    let document: DocumentMut = text.parse().map_err(|error| Failure::unexpected(format!("{}: {error}", path.display())))?;
    let sections = tables(&document["parameter"]);
    // In the order of the problem, whatever that of the file.
    let of = |name: &String| sections.iter().find(|table| table.get("name").and_then(Item::as_str) == Some(name)).cloned();
    Ok(names.iter().filter_map(of).collect())
}

/// The tables of `[[parameter]]`, or of a list of `{ .. }`.
fn tables(item: &Item) -> Vec<Table> {
    match (item.as_array_of_tables(), item.as_array()) {
        (Some(tables), _) => tables.iter().cloned().collect(),
        (_, Some(list)) => list.iter().filter_map(|value| Some(value.as_inline_table()?.clone().into_table())).collect(),
        _ => vec![],
    }
}
