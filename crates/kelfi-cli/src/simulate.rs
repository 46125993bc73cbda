//! The stage from a problem to simulations in the store.

use crate::arguments::Simulating;
use crate::failure::Failure;
use crate::problem::{OnFailure, ProblemFile, Program, SimulatorSource};
use crate::progress::Shown;
use crate::{fingerprint, interrupt, seeds};
use kelfi::random::{Purpose, stream};
use kelfi::words::counted;
use kelfi_problems::SimulationFailure;
use kelfi_run::store::Files;
use kelfi_run::{Cancellation, Ended, Outcome, RunPlan, Seeds, Session, Simulate, Status, Store, Task};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Give up when so many first calls all fail alike.
const ALIKE: usize = 20;

/// Checks, before anything is made, that the simulator can be started.
pub fn check(problem: &ProblemFile) -> Result<(), Failure> {
    let Some(SimulatorSource::Program(program)) = &problem.simulator else { return Ok(()) };
    as_simulator(problem, program).check()?;
    let at = |key: &str, fact: String, advice: &str| {
        Failure::input(format!("{}:{}: `simulator.{key}`: {fact}\n  {advice}", problem.path.display(), program.line))
    };
    if !program.directory.is_dir() {
        let fact = format!("{} is not a directory", program.directory.display());
        return Err(at("directory", fact, "give the folder the program runs in"));
    }
    let name = &program.command[0];
    let executable = |path: &Path| path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0);
    let found = if name.contains('/') {
        executable(&program.directory.join(name))
    } else {
        std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| executable(&folder.join(name))))
    };
    if found || name.contains('{') {
        return Ok(());
    }
    let place = if name.contains('/') { format!("in {}", program.directory.display()) } else { "in PATH".to_owned() };
    let advice = if !name.contains('/') && program.directory.join(name).is_file() {
        format!("write \"./{name}\" for the one next to the problem file")
    } else {
        "check its name, and that it is executable".to_owned()
    };
    Err(at("command", format!("there is no program {name:?} {place} that can be run"), &advice))
}

/// What changed in the store.
#[derive(Debug, Default)]
pub struct New {
    /// Whether failures were forgotten, to be made again.
    pub forgotten: bool,
    /// The simulations that were made.
    pub indices: Vec<u64>,
}

/// Which simulations are to be there.
pub enum Wanted {
    /// The first ones of the run.
    UpTo(u64),
    /// Those of these indices, which were proposed.
    These(Vec<u64>),
}

/// Makes every simulation that is missing. An error if the run was stopped or there is reason not to go on.
pub fn simulate(problem: &ProblemFile, store: &mut Store, how: &Simulating, wanted: &Wanted, quiet: bool) -> Result<New, Failure> {
    let Some(simulator) = &problem.simulator else { return Ok(New::default()) };
    let files = fingerprint::of(simulator);
    refuse_mixing(problem, store, how, &files)?;
    let forgotten = forget(problem, store, how)?;
    let indices = indices(store, wanted, quiet)?;
    if indices.is_empty() {
        return Ok(New { forgotten, indices });
    }
    store.made_by(&files)?;
    let jobs = jobs(how.jobs);
    if let SimulatorSource::Program(program) = simulator {
        seeds::examine(problem, &as_simulator(problem, program), store, &indices, jobs, quiet)?;
    }
    let theta = |index| problem.theta(index);
    let made: Box<dyn Simulate> = match simulator {
        SimulatorSource::Builtin(name) => Box::new(Builtin::new(name, problem.seed)?),
        SimulatorSource::Program(program) => Box::new(as_simulator(problem, program)),
    };
    let plan = RunPlan {
        simulator: &*made,
        theta: &theta,
        seed: problem.seed,
        seeds: Seeds::of(store.problem()),
        jobs,
        stop_after_alike: ALIKE.min(indices.len()),
        abort_on_failure: problem.on_failure == OnFailure::Abort,
    };
    let done = store.counts()?.all();
    // Of rounds, the whole budget is shown: how long all of them will take is what one wants to know.
    let total = (done + indices.len() as u64).max(problem.simulations);
    let bar = Shown::unless(quiet).bar_from("simulate", done, total);
    let mut tell = |progress: &kelfi_run::RunProgress| {
        let message = if progress.failed > 0 { format!("({} failed)", progress.failed) } else { String::new() };
        bar.tell(done + (progress.ok + progress.failed) as u64, total, &message);
    };
    let summary = interrupt::with_programs(|| kelfi_run::run(&plan, &indices, store, interrupt::cancellation(), &mut tell))?;
    bar.finish();
    verdict(&summary.ended, indices.len() - summary.progress.ok - summary.progress.failed)?;
    Ok(New { forgotten, indices })
}

/// Refuses to add simulations to those of another version of the simulator, unless that is accepted. Files that made the last
/// simulations have been accepted then; a store without a success has nothing to mix with.
fn refuse_mixing(problem: &ProblemFile, store: &Store, how: &Simulating, files: &Files) -> Result<(), Failure> {
    let counts = store.counts()?;
    let changed = store.makers()?.last().is_some_and(|last| last.files != *files);
    if counts.ok() == 0 || !changed {
        return Ok(());
    }
    let Some(mixture) = fingerprint::not_by(store, files)? else { return Ok(()) };
    let again = counts.failed() > 0 && (how.retry_failed || problem.on_failure == OnFailure::Abort);
    if !again && store.missing(problem.simulations)?.is_empty() {
        eprintln!("warning: {mixture}; to simulate afresh, use another directory with `--out`");
        return Ok(());
    }
    if how.accept_changed_simulator {
        eprintln!("warning: {mixture}; they are kept along with the new ones, as requested");
        return Ok(());
    }
    Err(Failure::input(format!(
        "{mixture}\n  start afresh in another directory with `--out`, or restore the old version; \
         if the change does not affect results, continue with --accept-changed-simulator"
    )))
}

/// How many at once: as many as asked for, or as there are processors.
pub fn jobs(asked: Option<u16>) -> usize {
    asked.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
}

/// Failures that are to be made again: those asked for, those of a run that did not accept any, and those of a store without a
/// single success, where the simulator has been mended since. Says whether there were any.
fn forget(problem: &ProblemFile, store: &mut Store, how: &Simulating) -> Result<bool, Failure> {
    let counts = store.counts()?;
    let again = counts.failed() > 0 && (how.retry_failed || counts.ok() == 0 || problem.on_failure == OnFailure::Abort);
    let forgotten = again && store.forget_failures()? > 0;
    if how.withdraw {
        store.withdraw()?;
    }
    Ok(forgotten)
}

/// What is missing and not handed out.
fn indices(store: &Store, wanted: &Wanted, quiet: bool) -> Result<Vec<u64>, Failure> {
    let asked: std::collections::HashSet<u64> = store.outstanding()?.into_iter().collect();
    let missing = match wanted {
        Wanted::UpTo(count) => store.missing(*count)?,
        Wanted::These(indices) => {
            let there: std::collections::HashSet<u64> = store.records_at(indices)?.iter().map(|record| record.index).collect();
            indices.iter().copied().filter(|index| !there.contains(index)).collect()
        }
    };
    let (elsewhere, here): (Vec<u64>, Vec<u64>) = missing.into_iter().partition(|index| asked.contains(index));
    if !elsewhere.is_empty() && !quiet {
        crate::show::say(&format!(
            "note: {} handed out by `kelfi ask` and not made here; --withdraw makes them",
            counted(elsewhere.len() as u64, "simulation")
        ));
    }
    Ok(here)
}

fn verdict(ended: &Ended, left: usize) -> Result<(), Failure> {
    match ended {
        Ended::Completed => Ok(()),
        Ended::Interrupted => Err(Failure::interrupted(format!(
            "interrupted with {} to go\n  run again to continue; finished simulations are kept",
            counted(left as u64, "simulation")
        ))),
        Ended::Unfinished { reason } => Err(Failure::simulations(format!(
            "{left} of the simulations could not be started: {reason}\n  nothing was recorded for them; run again with fewer at once (`-j`), or with more memory, processes or open files"
        ))),
        Ended::AllAlike { count, message, .. } => Err(Failure::simulations(format!(
            "{} failed in the same way: {}\n  fix the simulator and run again; `kelfi inspect` shows the messages",
            if *count == 1 { "the first simulation".into() } else { format!("the first {count} simulations all") },
            message.trim_end()
        ))),
        Ended::Failure { index, message, .. } => Err(Failure::simulations(format!(
            "simulation {index} failed, and on_failure is \"abort\": {}\n  fix the simulator and run again, or accept failures with on_failure = \"zero\"",
            message.trim_end()
        ))),
    }
}

/// The program as something to be called.
pub fn as_simulator(problem: &ProblemFile, program: &Program) -> kelfi_run::SimulatorProgram {
    let mut simulator = kelfi_run::SimulatorProgram::new(program.command.iter().cloned(), &[], &[]);
    simulator.protocol = program.protocol;
    simulator.parameters = problem.prior.names().to_vec();
    simulator.statistics = problem.statistics.clone();
    simulator.outputs = problem.outputs;
    simulator.timeout = program.timeout;
    simulator.retries = program.retries;
    simulator.directory = Some(program.directory.clone());
    simulator
}

/// A problem of the catalogue as a simulator; simulation j is that of `kelfi_problems::simulate_many`.
pub struct Builtin {
    problem: Box<dyn kelfi_problems::BenchmarkProblem>,
    seed: u64,
}

impl Builtin {
    /// The problem of this name, in the run with this seed.
    pub fn new(name: &str, seed: u64) -> Result<Self, Failure> {
        let problem = kelfi_problems::by_name(name).map_err(|error| Failure::input(error.to_string()))?;
        Ok(Self { problem, seed })
    }
}

impl Simulate for Builtin {
    fn statistics(&self) -> &[String] {
        self.problem.statistic_names()
    }

    fn session(&self) -> Box<dyn Session + Send + '_> {
        Box::new(self)
    }
}

impl Session for &Builtin {
    fn call(&mut self, task: &Task, _: &Cancellation) -> Outcome {
        match self.problem.simulate(&task.parameters, &mut stream(self.seed, Purpose::Simulator, task.index)) {
            Ok(values) => Outcome::from_values(values, self.problem.statistic_names()),
            Err(failure @ SimulationFailure::TooLong { .. }) => Outcome::failed(Status::Timeout, failure.to_string()),
            Err(failure) => Outcome::failed(Status::NonFinite, failure.to_string()),
        }
    }
}
