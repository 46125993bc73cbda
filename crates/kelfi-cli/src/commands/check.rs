//! `kelfi check`: one simulation with everything that goes in and comes out. Makes no run directory.

use crate::arguments::Check;
use crate::failure::Failure;
use crate::problem::{ProblemFile, SimulatorSource};
use crate::seeds::{self, Finding};
use crate::{interrupt, show, simulate};
use kelfi::words::{counted, without_controls};
use kelfi_run::{Outcome, Protocol, SeedCheck, Seeds, Simulate, Status};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

pub fn run(typed: &Check) -> Result<(), Failure> {
    let mut problem = ProblemFile::load(&typed.problem)?;
    problem.seed = typed.seed.unwrap_or(problem.seed);
    simulate::check(&problem)?;
    let jobs = simulate::jobs(typed.jobs);
    let seen = match &problem.simulator {
        None => {
            let path = problem.path.display();
            return Err(Failure::input(format!(
                "{path}:1: `simulator`: it is missing\n  add a section [simulator]; without one there is nothing to check"
            )));
        }
        Some(SimulatorSource::Builtin(name)) => Seen::builtin(&problem, name)?,
        Some(SimulatorSource::Program(program)) => Seen::program(&problem, &simulate::as_simulator(&problem, program), jobs),
    };
    match (typed.voice.json, typed.voice.quiet) {
        (true, _) => show::print(&format!("{:#}\n", seen.json(&problem, jobs)))?,
        (_, true) => {}
        _ => show::print(&seen.text(&problem, jobs))?,
    }
    if !typed.voice.quiet {
        seen.remarks.iter().for_each(|remark| show::say(&format!("warning: {remark}")));
    }
    match seen.outcome.status {
        Status::Ok => Ok(()),
        Status::Interrupted => Err(Failure::interrupted("interrupted\n  nothing was recorded")),
        _ => Err(Failure::simulations(format!(
            "the simulation failed: {}\n  fix the simulator and check again; nothing was recorded",
            seen.outcome.message.lines().next().unwrap_or_default()
        ))),
    }
}

/// One simulation in full.
struct Seen {
    command: Vec<String>,
    sent: Option<String>,
    printed: Option<String>,
    errors: String,
    outcome: Outcome,
    time: Duration,
    finding: Finding,
    protocol: Protocol,
    remarks: Vec<String>,
}

impl Seen {
    fn program(problem: &ProblemFile, simulator: &kelfi_run::SimulatorProgram, jobs: usize) -> Self {
        let (task, other) = (seeds::task(problem, Seeds::Short, 0), seeds::task(problem, Seeds::Short, 1));
        let check = interrupt::with_programs(|| SeedCheck::make(simulator, &task, &other, jobs.min(3), interrupt::cancellation()));
        let finding = Finding::new(&check, simulator.protocol);
        let trial = check.trial;
        Self {
            command: trial.command,
            sent: trial.sent,
            printed: Some(String::from_utf8_lossy(&trial.printed).into_owned()),
            errors: trial.errors,
            outcome: trial.outcome,
            time: trial.time,
            finding,
            protocol: simulator.protocol,
            remarks: finding.remarks(simulator),
        }
    }

    /// A built-in simulator prints nothing and takes its randomness from seed and index by construction.
    fn builtin(problem: &ProblemFile, name: &str) -> Result<Self, Failure> {
        let builtin = simulate::Builtin::new(name, problem.seed)?;
        let (task, other) = (seeds::task(problem, Seeds::Wide, 0), seeds::task(problem, Seeds::Wide, 1));
        let call = |index: u64| builtin.session().call(&kelfi_run::Task { index, ..task.clone() }, interrupt::cancellation());
        let began = Instant::now();
        let outcome = call(task.index);
        let time = began.elapsed();
        let both = |other: Outcome| Some(outcome.statistics.as_ref()? == other.statistics.as_ref()?);
        let finding = Finding {
            same_seed_same_output: both(call(task.index)),
            other_seed_other_output: both(call(other.index)).map(|same| !same),
            echoes_index: None,
        };
        let command = vec!["builtin".to_owned(), name.to_owned()];
        let protocol = Protocol::Arguments;
        Ok(Self { command, sent: None, printed: None, errors: String::new(), outcome, time, finding, protocol, remarks: vec![] })
    }

    fn text(&self, problem: &ProblemFile, jobs: usize) -> String {
        let mut text = String::new();
        let mut row = |name: &str, value: &str| {
            for (at, line) in value.trim_end().lines().enumerate() {
                let _ = writeln!(text, "{:<12} {}", if at == 0 { name } else { "" }, without_controls(line));
            }
        };
        row("parameters", &named(problem.prior.names(), &problem.theta(0)));
        row("command", &self.command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
        row("sent", self.sent.as_deref().unwrap_or_default());
        row("printed", self.printed.as_deref().map_or("", |printed| if printed.trim().is_empty() { "nothing" } else { printed }));
        row("stderr", &self.errors);
        match &self.outcome.statistics {
            Some(values) => row("understood", &understood(problem, values)),
            None => row("failed", &format!("{}: {}", self.outcome.status, self.outcome.message.lines().next().unwrap_or_default())),
        }
        row("time", &format!("{} s", show::number(self.time.as_secs_f64())));
        let answer =
            |found: Option<bool>, yes: &str, no: &str| found.map(|found| if found { yes } else { no }.to_owned()).unwrap_or_default();
        row("same seed", &answer(self.finding.same_seed_same_output, "the same output again", "another output"));
        row("other seed", &answer(self.finding.other_seed_other_output, "another output", "the same output"));
        let most = if self.protocol == Protocol::Worker { " at most" } else { "" };
        let whole = duration(self.whole(problem, jobs));
        row("whole run", &format!("about {whole}{most} for {}, {jobs} at once", counted(problem.simulations, "simulation")));
        text
    }

    fn json(&self, problem: &ProblemFile, jobs: usize) -> Value {
        let object = |names: &[String], values: &[f64]| -> Map<String, Value> {
            names.iter().cloned().zip(values.iter().map(|&value| json!(value))).collect()
        };
        let values = self.outcome.statistics.as_ref();
        let one_row = values.filter(|_| !problem.outputs.in_rows());
        let rows =
            values.filter(|_| problem.outputs.in_rows()).map(|values| values.chunks(problem.statistics.len().max(1)).collect::<Vec<_>>());
        json!({
            "command": self.command,
            "sent": self.sent,
            "printed": self.printed,
            "stderr": self.errors,
            "status": self.outcome.status,
            "message": self.outcome.message,
            "parameters": object(problem.prior.names(), &problem.theta(0)),
            "statistics": one_row.map(|values| object(&problem.statistics, values)),
            "rows": rows,
            "seconds": self.time.as_secs_f64(),
            "same_seed_same_output": self.finding.same_seed_same_output,
            "other_seed_other_output": self.finding.other_seed_other_output,
            "echoes_index": self.finding.echoes_index,
            "simulations": problem.simulations,
            "jobs": jobs,
            "whole_run_seconds": self.whole(problem, jobs),
            "warnings": self.remarks,
        })
    }

    /// Seconds for all simulations. A worker starts once for many, so for it this is a bound.
    fn whole(&self, problem: &ProblemFile, jobs: usize) -> f64 {
        self.time.as_secs_f64() * (problem.simulations as f64 / jobs as f64).ceil()
    }
}

fn named(names: &[String], values: &[f64]) -> String {
    names.iter().zip(values).map(|(name, value)| format!("{name} = {value:?}")).collect::<Vec<_>>().join("\n")
}

/// Values by name; of rows how many there are, and the first of them.
fn understood(problem: &ProblemFile, values: &[f64]) -> String {
    const SHOWN: usize = 3;
    if !problem.outputs.in_rows() {
        return named(&problem.statistics, values);
    }
    let rows = values.chunks(problem.statistics.len().max(1));
    let (count, more) = (rows.len(), if rows.len() > SHOWN { "\n…" } else { "" });
    let row = |row: &[f64]| named(&problem.statistics, row).replace('\n', ", ");
    let first: Vec<String> = rows.take(SHOWN).map(row).collect();
    format!("{count} {}\n{}{more}", if count == 1 { "row" } else { "rows" }, first.join("\n"))
}

/// An argument as a shell would need it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "a second".into(),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} minutes", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} hours", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}
