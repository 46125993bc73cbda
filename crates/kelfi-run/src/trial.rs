//! One call shown in full, and whether seeds do what they should.

use crate::once::{Once, Seen};
use crate::worker::alone;
use crate::{Cancellation, Outcome, Protocol, SimulatorProgram, Status, Task};
use std::time::{Duration, Instant};

/// How often a trial waits for a machine that has nothing to spare.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

/// One call with everything that went in and came out.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Program and arguments as started.
    pub command: Vec<String>,
    /// The JSON sent to its stdin, for the protocols that send one.
    pub sent: Option<String>,
    /// What it printed.
    pub printed: Vec<u8>,
    /// The last of what it wrote to stderr.
    pub errors: String,
    /// What was understood.
    pub outcome: Outcome,
    /// How long it took.
    pub time: Duration,
}

impl Trial {
    /// Makes one call by a program of its own. Nothing is recorded.
    pub fn make(simulator: &SimulatorProgram, task: &Task, cancellation: &Cancellation) -> Self {
        let mut tries = 0;
        let (Seen { outcome, printed, errors }, time) = loop {
            let began = Instant::now();
            let seen = match simulator.protocol {
                Protocol::Worker => alone::attempt(simulator, task, cancellation),
                Protocol::Arguments | Protocol::Json => Once::new(simulator).attempt(task, cancellation),
            };
            tries += 1;
            if seen.outcome.status != Status::Shortage || tries == TRIES || cancellation.is_requested() {
                break (seen, began.elapsed());
            }
            std::thread::sleep(PAUSE);
        };
        let sent = (simulator.protocol != Protocol::Arguments).then(|| simulator.json(task));
        Self { command: simulator.arguments(task), sent, printed, errors, outcome, time }
    }

    /// Whether the answer of a worker carries the index of its request.
    pub fn echoes_index(&self) -> bool {
        alone::has_echo(&self.printed)
    }
}

/// Whether the same seed gives the same output, and another seed another one.
#[derive(Debug, Clone)]
pub struct SeedCheck {
    /// The call that the other two are compared with.
    pub trial: Trial,
    /// The same call again gave the same bits.
    pub repeats: Option<bool>,
    /// Another seed for the same parameters gave other values.
    pub varies: Option<bool>,
}

impl SeedCheck {
    /// Three calls at the parameters of `task`, at once where `jobs` allow it: as it is, again, and with the seeds of `other`.
    /// A comparison is absent where one of its calls failed.
    pub fn make(simulator: &SimulatorProgram, task: &Task, other: &Task, jobs: usize, cancellation: &Cancellation) -> Self {
        let changed = Task { seed: other.seed, seed64: other.seed64, ..task.clone() };
        let call = |task: &Task| Trial::make(simulator, task, cancellation);
        let (first, again, elsewhere) = std::thread::scope(|scope| {
            let beside = |task: &'_ Task| match jobs {
                0 | 1 => None,
                _ => {
                    let task = task.clone();
                    std::thread::Builder::new().spawn_scoped(scope, move || call(&task)).ok()
                }
            };
            let (second, third) = (beside(task), if jobs > 2 { beside(&changed) } else { None });
            let first = call(task);
            let joined = |started: Option<std::thread::ScopedJoinHandle<'_, Trial>>, task: &Task| {
                started.and_then(|thread| thread.join().ok()).unwrap_or_else(|| call(task))
            };
            (first, joined(second, task), joined(third, &changed))
        });
        let same = |other: &Trial| {
            let values =
                |trial: &Trial| trial.outcome.statistics.as_ref().map(|values| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>());
            Some(values(&first)? == values(other)?)
        };
        Self { repeats: same(&again), varies: same(&elsewhere).map(|same| !same), trial: first }
    }
}
