//! Calls that start a program for every simulation: protocols `arguments` and `json`.

use crate::process::{NotStarted, Process, Stopwatch, TICK, Tree, failure_of, start};
use crate::{Cancellation, Outcome, Protocol, Session, SimulatorProgram, Status, Task};
use std::time::Duration;

/// First pause before a repeated try; doubled each time.
const PAUSE: Duration = Duration::from_millis(50);

/// One of the parallel jobs; nothing is kept between its calls.
pub(crate) struct Once<'a> {
    simulator: &'a SimulatorProgram,
}

/// An outcome with what it was made from.
pub(crate) struct Seen {
    pub outcome: Outcome,
    /// Everything on stdout.
    pub printed: Vec<u8>,
    /// The last of stderr.
    pub errors: String,
}

impl Seen {
    /// An outcome without a program.
    pub fn nothing(outcome: Outcome) -> Self {
        Self { outcome, printed: Vec::new(), errors: String::new() }
    }
}

impl<'a> Once<'a> {
    /// Calls of this simulator.
    pub fn new(simulator: &'a SimulatorProgram) -> Self {
        Self { simulator }
    }

    /// One try.
    pub fn attempt(&self, task: &Task, cancellation: &Cancellation) -> Seen {
        let simulator = self.simulator;
        let with_input = simulator.protocol == Protocol::Json;
        let mut process = match start(simulator, &simulator.arguments(task), with_input) {
            Ok(process) => process,
            Err(reason) => return Seen::nothing(not_started(reason)),
        };
        if with_input {
            process.send(simulator.json(task).as_bytes());
            process.send(b"\n");
            process.finish_input();
        }
        self.watch(process, cancellation)
    }

    fn watch(&self, mut process: Process, cancellation: &Cancellation) -> Seen {
        let timeout = self.simulator.timeout;
        let mut time = Stopwatch::start();
        let mut late = false;
        loop {
            if cancellation.is_now() {
                process.end();
                return Seen::nothing(Outcome::failed(Status::Interrupted, "interrupted"));
            }
            if process.output().len() > self.simulator.output_limit {
                return seen(process, |process, _| too_much(process, self.simulator.output_limit));
            }
            if let Some(ended) = process.ended() {
                return seen(process, |process, printed| finished(process, self.judge(ended, printed)));
            }
            if process.is_lost() {
                process.end();
                return Seen::nothing(Outcome::failed(Status::Killed, "the process supervising the simulator was killed"));
            }
            if late {
                return seen(process, |process, _| timed_out(process, timeout));
            }
            let left = timeout.saturating_sub(time.running());
            late = left.is_zero();
            // Before it is called late, whatever it did while nobody looked is taken in.
            let moved = if late { process.catch_up() } else { process.step(left.min(TICK)) };
            if let Err(error) = moved {
                return seen(process, |process, _| finished(process, Outcome::failed(Status::Killed, error.to_string())));
            }
            time.waited(left.min(TICK));
        }
    }

    fn judge(&self, ended: std::process::ExitStatus, printed: &[u8]) -> Outcome {
        match failure_of(ended) {
            Some((status, fact)) => Outcome::failed(status, fact),
            None if self.simulator.protocol == Protocol::Json => self.simulator.outcome_of_json(printed),
            None => self.simulator.outcome_of_text(printed),
        }
    }
}

impl Session for Once<'_> {
    fn call(&mut self, task: &Task, cancellation: &Cancellation) -> Outcome {
        with_retries(self.simulator, || self.attempt(task, cancellation).outcome)
    }
}

/// Tries until the outcome is one of the simulator's own, or the machine has failed once more than there are retries.
pub(crate) fn with_retries(simulator: &SimulatorProgram, mut attempt: impl FnMut() -> Outcome) -> Outcome {
    let mut pause = PAUSE;
    for _ in 0..simulator.retries {
        match attempt() {
            outcome if matches!(outcome.status, Status::Shortage | Status::Killed) => std::thread::sleep(pause),
            outcome => return outcome,
        }
        pause = (pause * 2).min(Duration::from_secs(1));
    }
    attempt()
}

/// The outcome of a program that did not start.
pub(crate) fn not_started(reason: NotStarted) -> Outcome {
    match reason {
        NotStarted::ForNow(fact) => Outcome::failed(Status::Shortage, fact),
        NotStarted::ForGood(fact) => Outcome::failed(Status::CouldNotStart, fact),
    }
}

/// Takes what a program printed and judges it.
pub(crate) fn seen(mut process: Process, judge: impl FnOnce(Process, &[u8]) -> Outcome) -> Seen {
    let printed = std::mem::take(process.output());
    let errors = process.errors();
    Seen { outcome: judge(process, &printed), printed, errors }
}

/// The outcome of a program that did not keep to its time.
pub(crate) fn timed_out(process: Process, timeout: Duration) -> Outcome {
    let errors = process.errors();
    let tree = process.terminate();
    explained(Outcome::failed(Status::Timeout, format!("took longer than {} s", timeout.as_secs_f64())), tree, &errors)
}

/// The outcome of a program that prints without end.
pub(crate) fn too_much(process: Process, limit: usize) -> Outcome {
    finished(process, Outcome::failed(Status::TooMuchOutput, format!("printed more than {limit} bytes")))
}

/// Ends whatever is left and adds stderr's tail to a failure.
pub(crate) fn finished(process: Process, outcome: Outcome) -> Outcome {
    let errors = process.errors();
    let tree = process.end();
    explained(outcome, tree, &errors)
}

/// A failure's message: the fact, then anything that would not die, then stderr's tail.
pub(crate) fn explained(mut outcome: Outcome, tree: Tree, errors: &str) -> Outcome {
    if outcome.status.is_ok() {
        return outcome;
    }
    if tree == Tree::Uncertain {
        outcome.message.push_str("; a process it started may still be running");
    }
    if !errors.is_empty() {
        outcome.message.push('\n');
        outcome.message.push_str(errors);
    }
    outcome
}
