//! `kelfi tell`: results of what `kelfi ask` gave. Each row stands for itself: a bad one does not refuse the others.

use crate::arguments::Tell;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::problem::ProblemFile;
use crate::reading;
use crate::show;
use crate::summary::Simulations;
use kelfi::words::counted;
use kelfi_run::import::{self, Numbering};
use kelfi_run::store::Told;
use kelfi_run::{Error, Record, Source, Store};
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// Parameters may come back rounded by a program between; more than this is another simulation.
const ROUNDING: f64 = 1e-6;

/// Refused rows that are listed one by one on the terminal.
const LISTED: usize = 20;

/// What became of the rows of a file.
#[derive(Default)]
struct Taken {
    new: usize,
    repaired: usize,
    known: usize,
    /// Line and reason of each refused row.
    refused: Vec<(u64, String)>,
}

/// What was handed out.
struct Asked<'a> {
    problem: &'a ProblemFile,
    /// Everything that may be told: outstanding, or recorded and perhaps to be repaired.
    indices: HashSet<u64>,
    proposals: HashMap<u64, Vec<f64>>,
}

impl<'a> Asked<'a> {
    fn read(problem: &'a ProblemFile, store: &Store) -> Result<Self, Failure> {
        let indices = store.outstanding()?.into_iter().chain(store.records()?.into_iter().map(|record| record.index)).collect();
        let proposals = store.proposals()?.into_iter().map(|proposal| (proposal.index, proposal.parameters)).collect();
        Ok(Self { problem, indices, proposals })
    }

    /// The parameters of this index; stores of older versions kept none, and handed out draws of the prior.
    fn theta(&self, index: u64) -> Vec<f64> {
        self.proposals.get(&index).cloned().unwrap_or_else(|| self.problem.theta(index))
    }
}

pub fn run(typed: &Tell) -> Result<(), Failure> {
    let directory = Directory::at(&typed.directory);
    let problem = directory.problem()?;
    let bytes = reading::bytes(&typed.results, reading::MADE_BY_PROGRAMS)?;
    let mut store = directory.open(&problem)?;
    let of_file = |error: Error| Failure::input(format!("{}: {error}", typed.results.display()));
    let asked = Asked::read(&problem, &store)?;
    let theta = |index| asked.theta(index);
    let rows = import::read_rows(&bytes[..], &store.problem().clone(), Numbering::Asked(&theta), Source::Tell).map_err(of_file)?;
    let taken = take(&asked, &mut store, rows)?;
    say(&taken, &store, &directory, typed)?;
    if taken.refused.is_empty() { Ok(()) } else { Err(Failure::input(refusal(&taken, &typed.results.display().to_string()))) }
}

/// Records every row that can be, all at once, and says what became of each.
fn take(asked: &Asked<'_>, store: &mut Store, rows: import::Rows) -> Result<Taken, Failure> {
    let (mut taken, mut lines, mut records) = (Taken::default(), Vec::new(), Vec::new());
    for (line, row) in rows {
        match row.map_err(|error| reason(&error)).and_then(|record| as_asked(asked, record)) {
            Ok(record) => {
                lines.push(line);
                records.push(record);
            }
            Err(reason) => taken.refused.push((line, reason)),
        }
    }
    for (line, told) in lines.into_iter().zip(store.tell(&records)?) {
        match told {
            Told::New => taken.new += 1,
            Told::Repaired => taken.repaired += 1,
            Told::Known => taken.known += 1,
            Told::Refused(error) => taken.refused.push((line, reason(&error))),
        }
    }
    taken.refused.sort();
    Ok(taken)
}

/// The fact of an error without its line, which is told beside it.
fn reason(error: &Error) -> String {
    match error {
        Error::Results { fact, .. } => fact.clone(),
        other => other.to_string().lines().next().unwrap_or_default().to_owned(),
    }
}

/// Refuses what was never asked for and parameters that are not those of the index; puts the exact ones in place of rounded ones.
fn as_asked(asked: &Asked<'_>, mut record: Record) -> Result<Record, String> {
    let index = record.index;
    if !asked.indices.contains(&index) {
        return Err(format!("simulation {index} was never asked for"));
    }
    let theta = asked.theta(index);
    for (name, (&told, &own)) in asked.problem.prior.names().iter().zip(record.parameters.iter().zip(&theta)) {
        if (told - own).abs() > ROUNDING * own.abs() {
            return Err(format!("simulation {index} has {name} = {told:?}, but {own:?} was asked for"));
        }
    }
    record.parameters = theta;
    Ok(record)
}

fn say(taken: &Taken, store: &Store, directory: &Directory, typed: &Tell) -> Result<(), Failure> {
    let counts = Simulations::from(&store.counts()?);
    if typed.voice.json {
        let refused: Vec<_> = taken.refused.iter().map(|(line, reason)| json!({ "line": line, "reason": reason })).collect();
        let object = json!({
            "directory": directory.path(), "simulations": counts, "new": taken.new, "repaired": taken.repaired, "known": taken.known,
            "refused": refused,
        });
        return show::print(&format!("{object:#}\n"));
    }
    if typed.voice.quiet {
        return Ok(());
    }
    let repaired = if taken.repaired > 0 { format!("{} repaired; ", taken.repaired) } else { String::new() };
    let place = directory.path().display();
    show::print(&format!(
        "{} new; {repaired}{} succeeded, {} failed, in {place}\n",
        taken.new,
        counted(counts.ok, "simulation"),
        counts.failed
    ))
}

fn refusal(taken: &Taken, file: &str) -> String {
    let (refused, all) = (taken.refused.len(), taken.refused.len() + taken.new + taken.repaired + taken.known);
    let stored = if refused == all { "nothing was stored" } else { "the others were stored" };
    let mut text = format!("{file}: {refused} of {all} rows {} refused; {stored}", if refused == 1 { "was" } else { "were" });
    for (line, reason) in taken.refused.iter().take(LISTED) {
        text.push_str(&format!("\n  line {line}: {reason}"));
    }
    if refused > LISTED {
        text.push_str(&format!("\n  and {} more; --json lists all", refused - LISTED));
    }
    text + "\n  correct these rows and tell them again; use `kelfi import` for results at other parameters"
}
