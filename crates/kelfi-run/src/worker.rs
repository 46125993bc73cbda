//! Calls to a long-lived program, one line of JSON each way, started anew when it dies or falls out of step.

use crate::once::{explained, finished, timed_out, too_much};
use crate::process::{NotStarted, Process, TICK, Tree, failure_of, start};
use crate::{Cancellation, Outcome, Session, Simulator, Status, Task, output};
use std::time::{Duration, Instant};

/// How long a worker may take to end by itself once its stdin is closed.
const RETIREMENT: Duration = Duration::from_secs(2);

/// How long a worker that closed its stdout may take to say with which code it ends.
const FAREWELL: Duration = Duration::from_millis(200);

/// First pause before a repeated try; doubled each time.
const PAUSE: Duration = Duration::from_millis(50);

/// One of the parallel jobs with the worker it keeps.
pub(crate) struct Worker<'a> {
    simulator: &'a Simulator,
    process: Option<Process>,
}

/// Why a try gave no outcome of its own.
enum Retry {
    /// The machine failed.
    Machine(String),
    /// The worker left between two tasks: it ended with code 0 and without an answer.
    Left,
}

impl<'a> Worker<'a> {
    /// Calls of this simulator; the worker is started by the first.
    pub fn new(simulator: &'a Simulator) -> Self {
        Self { simulator, process: None }
    }

    fn attempt(&mut self, task: &Task, cancellation: &Cancellation) -> Result<Outcome, Retry> {
        let mut process = match self.ready(task) {
            Ok(process) => process,
            Err(NotStarted::ForNow(fact)) => return Err(Retry::Machine(fact)),
            Err(NotStarted::ForGood(fact)) => return Ok(Outcome::failed(Status::CouldNotStart, fact)),
        };
        process.forget_errors();
        process.send(self.simulator.json(task).as_bytes());
        process.send(b"\n");
        self.await_answer(process, cancellation)
    }

    /// The worker of the last call if it still waits for a line, otherwise a new one.
    fn ready(&mut self, task: &Task) -> Result<Process, NotStarted> {
        if let Some(mut process) = self.process.take() {
            // Anything printed since its last answer would be taken for the next one: such a worker is out of step.
            let fit = process.step(Duration::ZERO).is_ok() && process.output().is_empty();
            if fit && process.ended().is_none() && !process.is_silent() && !process.is_lost() {
                return Ok(process);
            }
            process.end();
        }
        start(self.simulator, &self.simulator.arguments(task), true)
    }

    fn await_answer(&mut self, mut process: Process, cancellation: &Cancellation) -> Result<Outcome, Retry> {
        let deadline = Instant::now() + self.simulator.timeout;
        let mut silent_since = None;
        let mut searched = 0;
        loop {
            if cancellation.is_now() {
                process.end();
                return Ok(Outcome::failed(Status::Interrupted, "interrupted"));
            }
            if let Some(at) = process.output()[searched..].iter().position(|&byte| byte == b'\n') {
                return Ok(self.answer(process, searched + at));
            }
            searched = process.output().len();
            if searched > self.simulator.output_limit {
                return Ok(too_much(process, self.simulator.output_limit));
            }
            if let Some(ended) = process.ended() {
                return self.left(process, ended);
            }
            if process.is_lost() {
                process.end();
                return Err(Retry::Machine("the process that watches over the worker was killed".into()));
            }
            if process.is_silent() && silent_since.get_or_insert_with(Instant::now).elapsed() >= FAREWELL {
                return Ok(finished(process, Outcome::failed(Status::BadOutput, "the worker closed its stdout without an answer")));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(timed_out(process, self.simulator.timeout));
            }
            process.step(left.min(TICK)).map_err(|error| Retry::Machine(error.to_string()))?;
        }
    }

    /// The answer that ends at `end`; the worker is kept if that was all it said.
    fn answer(&mut self, mut process: Process, end: usize) -> Outcome {
        let printed = std::mem::take(process.output());
        if !printed[end..].trim_ascii().is_empty() {
            return finished(process, Outcome::failed(Status::BadOutput, "the worker answered with more than one line"));
        }
        let outcome = output::from_json(&printed[..end], &self.simulator.statistics);
        let errors = process.errors();
        self.process = Some(process);
        explained(outcome, Tree::Gone, &errors)
    }

    /// What it means that the worker ended instead of answering with a full line.
    fn left(&mut self, mut process: Process, ended: std::process::ExitStatus) -> Result<Outcome, Retry> {
        let printed = std::mem::take(process.output());
        match failure_of(ended) {
            Some((status, fact)) => Ok(finished(process, Outcome::failed(status, fact))),
            None if printed.trim_ascii().is_empty() => {
                process.end();
                Err(Retry::Left)
            }
            // A last answer without a line end.
            None => Ok(finished(process, output::from_json(&printed, &self.simulator.statistics))),
        }
    }
}

impl Session for Worker<'_> {
    fn call(&mut self, task: &Task, cancellation: &Cancellation) -> Outcome {
        let mut pause = PAUSE;
        let mut tries = 0;
        loop {
            let retry = match self.attempt(task, cancellation) {
                Ok(outcome) => return outcome,
                Err(retry) => retry,
            };
            // Leaving politely after an answer is a race we lose now and then, whatever the number of retries.
            let allowed = if matches!(retry, Retry::Left) { self.simulator.retries.max(1) } else { self.simulator.retries };
            if tries == allowed {
                return match retry {
                    Retry::Machine(fact) => Outcome::failed(Status::CouldNotStart, fact),
                    Retry::Left => Outcome::failed(Status::BadOutput, "the worker ended (exit code 0) without an answer"),
                };
            }
            tries += 1;
            if matches!(retry, Retry::Machine(_)) {
                std::thread::sleep(pause);
                pause *= 2;
            }
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            process.retire(RETIREMENT);
        }
    }
}
