//! Calls that start a program for every simulation: protocols `arguments` and `json`.

use crate::process::{NotStarted, Process, TICK, Tree, failure_of, start};
use crate::{Cancellation, Outcome, Protocol, Session, Simulator, Status, Task, output};
use std::time::{Duration, Instant};

/// First pause before a repeated try; doubled each time.
const PAUSE: Duration = Duration::from_millis(50);

/// One of the parallel jobs; nothing is kept between its calls.
pub(crate) struct Once<'a> {
    simulator: &'a Simulator,
}

impl<'a> Once<'a> {
    /// Calls of this simulator.
    pub fn new(simulator: &'a Simulator) -> Self {
        Self { simulator }
    }

    /// One try: an outcome, or the machine's failure, which is worth another try.
    fn attempt(&self, task: &Task, cancellation: &Cancellation) -> Result<Outcome, String> {
        let simulator = self.simulator;
        let with_input = simulator.protocol == Protocol::Json;
        let mut process = match start(simulator, &simulator.arguments(task), with_input) {
            Ok(process) => process,
            Err(NotStarted::ForNow(fact)) => return Err(fact),
            Err(NotStarted::ForGood(fact)) => return Ok(Outcome::failed(Status::CouldNotStart, fact)),
        };
        if with_input {
            process.send(simulator.json(task).as_bytes());
            process.send(b"\n");
            process.finish_input();
        }
        self.watch(process, cancellation)
    }

    fn watch(&self, mut process: Process, cancellation: &Cancellation) -> Result<Outcome, String> {
        let deadline = Instant::now() + self.simulator.timeout;
        loop {
            if cancellation.is_now() {
                process.end();
                return Ok(Outcome::failed(Status::Interrupted, "interrupted"));
            }
            if process.output().len() > self.simulator.output_limit {
                return Ok(too_much(process, self.simulator.output_limit));
            }
            if let Some(ended) = process.ended() {
                return Ok(self.judge(process, ended));
            }
            if process.is_lost() {
                process.end();
                return Err("the process that watches over the program was killed".into());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(timed_out(process, self.simulator.timeout));
            }
            process.step(left.min(TICK)).map_err(|error| error.to_string())?;
        }
    }

    fn judge(&self, mut process: Process, ended: std::process::ExitStatus) -> Outcome {
        let printed = std::mem::take(process.output());
        let names = &self.simulator.statistics;
        let outcome = match failure_of(ended) {
            Some((status, fact)) => Outcome::failed(status, fact),
            None if self.simulator.protocol == Protocol::Json => output::from_json(&printed, names),
            None => output::from_text(&printed, names),
        };
        finished(process, outcome)
    }
}

impl Session for Once<'_> {
    fn call(&mut self, task: &Task, cancellation: &Cancellation) -> Outcome {
        let mut pause = PAUSE;
        for _ in 0..self.simulator.retries {
            match self.attempt(task, cancellation) {
                Ok(outcome) => return outcome,
                Err(_) => std::thread::sleep(pause),
            }
            pause *= 2;
        }
        self.attempt(task, cancellation).unwrap_or_else(|fact| Outcome::failed(Status::CouldNotStart, fact))
    }
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
