//! A problem file as something that methods can be compared on: its simulator is called for real, every call once.

use super::calls::CallLog;
use crate::failure::Failure;
use crate::problem::{ProblemFile as File, SimulatorSource as Made};
use crate::{interrupt, simulate};
use kelfi::random::{Purpose, stream};
use kelfi::words::{counted, shown};
use kelfi_problems::{BenchmarkProblem, Facts, Reference, SimulationFailure};
use kelfi_run::{Outcome, Session, Settled, Simulate, SimulatorProgram, Status, Task};
use rand::Rng;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// How the answers to a user-defined problem are judged.
const JUDGED: &str = "methods are judged by left-out simulations, by simulations at their posterior samples, and against each other";
/// Tries of a call that the machine could not make.
const TRIES: usize = 5;
/// Lines shown of what a failed call said.
const MOST_LINES: usize = 8;

/// A problem file with its simulator.
pub struct OwnProblem {
    facts: Facts,
    calls: Calls,
    /// Positions of the statistics that are used.
    used: Vec<usize>,
    log: CallLog,
    failures: Arc<Failures>,
}

/// Calls that failed, and what the first of them said.
#[derive(Default)]
pub struct Failures {
    count: AtomicU64,
    first: OnceLock<String>,
}

impl Failures {
    fn note(&self, message: &str) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.first.get_or_init(|| message.to_owned());
    }

    /// How many calls failed, and below it, indented, the last lines that the first of them said; `None` if none did.
    pub fn told(&self) -> Option<String> {
        let lines: Vec<&str> = self.first.get()?.lines().collect();
        let shown: String = lines[lines.len().saturating_sub(MOST_LINES)..].iter().map(|line| format!("\n    {}", shown(line))).collect();
        let count = counted(self.count.load(Ordering::Relaxed), "call");
        Some(format!("{count} of the simulator failed; the first said:{shown}"))
    }
}

enum Calls {
    Builtin(Box<dyn BenchmarkProblem>),
    Program(Sessions),
}

/// A program and its sessions that wait for a call: a worker is started once, not for every call.
struct Sessions {
    simulator: &'static SimulatorProgram,
    waiting: Mutex<Vec<Box<dyn Session + Send>>>,
}

impl Sessions {
    fn new(simulator: SimulatorProgram) -> Self {
        // Once for the whole command, like the name.
        Self { simulator: Box::leak(Box::new(simulator)), waiting: Mutex::new(vec![]) }
    }

    /// One call whose outcome is certain, tried again where the machine ran short.
    fn outcome(&self, task: &Task) -> Outcome {
        let waiting = || self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut session = waiting().pop().unwrap_or_else(|| self.simulator.session());
        let mut outcome = call(&mut *session, task);
        for _ in 1..TRIES {
            if outcome.status != Status::Shortage {
                break;
            }
            std::thread::sleep(Duration::from_millis(200));
            outcome = call(&mut *session, task);
        }
        waiting().push(session);
        outcome
    }
}

/// Made again alone where the answer may be that of another call.
fn call(session: &mut dyn Session, task: &Task) -> Outcome {
    let outcome = session.call(task, interrupt::cancellation());
    match session.settle(true, interrupt::cancellation()) {
        Settled::Certain => outcome,
        Settled::Pending | Settled::Doubtful => session.call_alone(task, interrupt::cancellation()),
    }
}

impl OwnProblem {
    /// From a problem file that was read; calls are written into `log`.
    pub fn new(file: &File, log: CallLog, failures: Arc<Failures>) -> Result<Self, Failure> {
        if file.outputs.in_rows() {
            let fact = format!("{}: the outputs are {}", file.path.display(), file.outputs.title());
            return Err(Failure::input(format!("{fact}\n  methods are compared on statistics; give statistics instead")));
        }
        let calls = match &file.simulator {
            Some(Made::Builtin(name)) => Calls::Builtin(kelfi_problems::by_name(name).map_err(|error| Failure::input(error.to_string()))?),
            Some(Made::Program(program)) => Calls::Program(Sessions::new(simulate::as_simulator(file, program))),
            None => {
                let fact = format!("{} has no simulator", file.path.display());
                return Err(Failure::input(format!("{fact}\n  methods that choose where to simulate need one: give it in [simulator]")));
            }
        };
        let used: Vec<usize> = (0..file.statistics.len()).filter(|&k| !file.ignored.contains(&file.statistics[k])).collect();
        let facts = Facts {
            // Once for the whole command: the catalogue's names live as long.
            name: String::leak(file.name.clone()),
            description: "a user-defined problem",
            prior: file.prior.clone(),
            statistic_names: used.iter().map(|&k| file.statistics[k].clone()).collect(),
            observation: used.iter().map(|&k| file.observation[k]).collect(),
            truth: None,
        };
        Ok(Self { facts, calls, used, log, failures })
    }

    fn called(&self, theta: &[f64], seed: u64) -> Result<Option<Vec<f64>>, SimulationFailure> {
        match &self.calls {
            Calls::Builtin(problem) => Ok(problem.simulate(theta, &mut stream(seed, Purpose::Simulator, 0)).ok()),
            Calls::Program(sessions) => {
                // The index tells this call from others under way; it may depend on the seed alone, as the result does.
                let task = Task { index: short(seed), seed: short(seed), seed64: seed, parameters: theta.to_vec() };
                let outcome = sessions.outcome(&task);
                match outcome.status {
                    // Nothing about the simulator: not to be remembered.
                    Status::Interrupted | Status::Shortage => Err(SimulationFailure::NotFinite { index: 0, value: f64::NAN }),
                    Status::Ok => Ok(outcome.statistics),
                    _ => {
                        self.failures.note(&outcome.message);
                        Ok(None)
                    }
                }
            }
        }
    }
}

/// A seed that every generator takes: from 1 to 2³¹ − 1.
fn short(seed: u64) -> u64 {
    1 + seed % ((1 << 31) - 1)
}

impl BenchmarkProblem for OwnProblem {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        let seed = rng.next_u64();
        let statistics = match self.log.known(seed, theta) {
            Some(known) => known,
            None => {
                let found = self.called(theta, seed)?;
                self.log.add(seed, theta, found.as_deref());
                found
            }
        };
        match statistics {
            Some(x) => Ok(self.used.iter().map(|&k| x[k]).collect()),
            None => Err(SimulationFailure::NotFinite { index: 0, value: f64::NAN }),
        }
    }

    fn reference(&self) -> Reference {
        Reference::Unknown(JUDGED)
    }
}
