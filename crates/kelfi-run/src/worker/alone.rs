//! One request to a worker of its own: whatever that prints can belong to no other simulation.

use super::line::{Line, only_answer};
use crate::once::{Seen, explained, finished, not_started, seen, timed_out, too_much};
use crate::process::{Process, Stopwatch, TICK, Tree, failure_of, start};
use crate::{Cancellation, Outcome, SimulatorProgram, Status, Task};
use std::process::ExitStatus;
use std::time::Duration;

/// How long a worker may take to end by itself once its stdin is closed.
pub(super) const RETIREMENT: Duration = Duration::from_secs(2);

/// How long a worker that closed its stdout may take to say with which code it ends.
pub(super) const FAREWELL: Duration = Duration::from_millis(200);

/// How long a worker that printed only text may stay silent before its stdin is closed, to see whether that was all.
const SILENCE: Duration = Duration::from_secs(1);

/// Starts a worker, sends it the task and nothing else, and takes its only answer.
pub(crate) fn attempt(simulator: &SimulatorProgram, task: &Task, cancellation: &Cancellation) -> Seen {
    let mut process = match start(simulator, &simulator.arguments(task), true) {
        Ok(process) => process,
        Err(reason) => return Seen::nothing(not_started(reason)),
    };
    process.send(simulator.json(task).as_bytes());
    process.send(b"\n");
    Alone { simulator, index: task.index, time: Stopwatch::start(), state: State::default() }.watch(process, cancellation)
}

struct Alone<'a> {
    simulator: &'a SimulatorProgram,
    index: u64,
    time: Stopwatch,
    state: State,
}

/// What has happened so far, with the running time at which it did.
#[derive(Default)]
struct State {
    examined: usize,
    answered: bool,
    echoed: bool,
    last_line: Option<Duration>,
    closed: Option<Duration>,
    silent: Option<Duration>,
}

impl Alone<'_> {
    fn watch(mut self, mut process: Process, cancellation: &Cancellation) -> Seen {
        let mut late = false;
        loop {
            if cancellation.is_now() {
                process.end();
                return Seen::nothing(Outcome::failed(Status::Interrupted, "interrupted"));
            }
            if process.output().len() > self.simulator.output_limit {
                return seen(process, |process, _| too_much(process, self.simulator.output_limit));
            }
            self.examine(&mut process);
            if let Some(ended) = self.over(&process) {
                return seen(process, |process, printed| self.judge(process, ended, printed));
            }
            if process.is_lost() {
                process.end();
                return Seen::nothing(Outcome::failed(Status::Killed, "the process supervising the worker was killed"));
            }
            if late && !self.state.echoed {
                return seen(process, |process, _| timed_out(process, self.simulator.timeout));
            }
            let left = self.simulator.timeout.saturating_sub(self.time.running());
            late = left.is_zero();
            let wait = if late { TICK } else { left.min(TICK) };
            let moved = if late && !self.state.echoed { process.catch_up() } else { process.step(wait) };
            if let Err(error) = moved {
                return seen(process, |process, _| finished(process, Outcome::failed(Status::Killed, error.to_string())));
            }
            self.time.waited(wait);
        }
    }

    /// Looks at the lines that are new, and closes stdin when the answer is there or does not come.
    fn examine(&mut self, process: &mut Process) {
        let now = self.time.running();
        let state = &mut self.state;
        while let Some(length) = process.output()[state.examined..].iter().position(|&byte| byte == b'\n') {
            let line = Line::read(&process.output()[state.examined..state.examined + length]);
            state.answered |= matches!(line, Line::Answer | Line::Echo(_));
            state.echoed |= matches!(line, Line::Echo(_));
            state.last_line = Some(now);
            state.examined += length + 1;
        }
        let in_vain = state.last_line.is_some_and(|at| now.saturating_sub(at) > SILENCE);
        if state.closed.is_none() && (state.answered || in_vain) {
            process.finish_input();
            state.closed = Some(now);
        }
        if process.is_silent() {
            state.silent.get_or_insert(now);
        }
    }

    /// Whether nothing more is to be waited for, and how the worker ended if it did.
    fn over(&self, process: &Process) -> Option<Option<ExitStatus>> {
        let since = |at: Option<Duration>, limit| at.is_some_and(|at| self.time.running().saturating_sub(at) >= limit);
        if let Some(ended) = process.ended() {
            return Some(Some(ended));
        }
        // Without an index, what looks like an answer may be a banner: only the end shows that it was all.
        let sure = self.state.echoed || !self.state.answered;
        let done = since(self.state.silent, FAREWELL) || (self.state.answered && since(self.state.closed, RETIREMENT));
        (sure && done).then_some(None)
    }

    fn judge(&self, process: Process, ended: Option<ExitStatus>, printed: &[u8]) -> Outcome {
        match only_answer(printed, self.index) {
            // The end of a worker that died at the task is no answer, whatever it had printed before.
            Ok(line) if !self.state.echoed && Line::read(line) == Line::Answer && ended.is_some_and(|ended| !ended.success()) => {
                let (status, fact) = ended.and_then(failure_of).unwrap_or((Status::BadOutput, "it failed".into()));
                let fact = format!("{fact}, after an answer without \"index\"; include it, or exit with code 0 when stdin ends");
                finished(process, Outcome::failed(status, fact))
            }
            // How a worker ends after an answer that is certain is its own business.
            Ok(line) => {
                let outcome = self.simulator.outcome_of_json(line);
                let errors = process.errors();
                process.end();
                explained(outcome, Tree::Gone, &errors)
            }
            Err(fact) => {
                let (status, fact) = ended.and_then(failure_of).unwrap_or((Status::BadOutput, fact));
                finished(process, Outcome::failed(status, fact))
            }
        }
    }
}

/// Whether any line of what a worker printed carries an index.
pub(crate) fn has_echo(printed: &[u8]) -> bool {
    printed.split(|&byte| byte == b'\n').any(|line| matches!(Line::read(line), Line::Echo(_)))
}
