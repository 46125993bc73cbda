//! Calls to a long-lived program, one line of JSON each way, so that no line is ever taken for another simulation's answer.
//!
//! An answer that echoes the `index` of its request is matched by it. A worker whose answers do not is believed in batches: they are
//! held back until its stdin has been closed and it has ended having printed exactly one line for each request. Whatever does not go
//! by these rules ends the worker, and what is in doubt is made again by a worker that gets this one request: see [`alone`].

pub(crate) mod alone;
mod batch;
mod line;

use crate::once::{explained, finished, not_started, timed_out, too_much, with_retries};
use crate::process::{Process, Stopwatch, TICK, Tree, failure_of, start};
use crate::task::Settled;
use crate::{Cancellation, Outcome, Session, SimulatorProgram, Status, Task};
use alone::{FAREWELL, RETIREMENT};
use batch::Batch;
use line::Line;
use std::time::{Duration, Instant};

/// How often a worker may fall out of step before every simulation gets a worker of its own.
const STRIKES: u32 = 3;

/// How long a worker that has never answered may stay silent after a banner.
const FIRST_SILENCE: Duration = Duration::from_secs(2);

/// How long a worker that printed text may take beyond its longest call so far until its answer is no longer expected.
const SILENCE: Duration = Duration::from_secs(1);

/// One of the parallel jobs with the worker it keeps.
pub(crate) struct Worker<'a> {
    simulator: &'a SimulatorProgram,
    process: Option<Process>,
    echoes: Option<bool>,
    batch: Batch,
    strikes: u32,
    longest: Duration,
}

/// Why a call in company gave no outcome of its own: it is made again alone.
enum Apart {
    /// A line that was not the answer, or none where one was due.
    OutOfStep,
    /// The worker died; perhaps not because of this task.
    Died,
}

impl<'a> Worker<'a> {
    /// Calls of this simulator; the worker is started by the first.
    pub fn new(simulator: &'a SimulatorProgram) -> Self {
        Self { simulator, process: None, echoes: None, batch: Batch::default(), strikes: 0, longest: Duration::ZERO }
    }

    /// One request to the worker that is kept, or to a new one.
    fn together(&mut self, task: &Task, cancellation: &Cancellation) -> Result<Outcome, Apart> {
        let mut process = match self.ready(task)? {
            Ok(process) => process,
            Err(outcome) => return Ok(outcome),
        };
        process.forget_errors();
        process.send(self.simulator.json(task).as_bytes());
        process.send(b"\n");
        self.batch.sent();
        self.await_answer(process, task.index, cancellation)
    }

    /// The worker of the last call if it still waits for a line, otherwise a new one.
    fn ready(&mut self, task: &Task) -> Result<Result<Process, Outcome>, Apart> {
        if let Some(mut process) = self.process.take() {
            let quiet = process.step(Duration::ZERO).is_ok() && (self.echoes == Some(true) || process.output().trim_ascii().is_empty());
            if quiet && process.ended().is_none() && !process.is_silent() && !process.is_lost() {
                return Ok(Ok(process));
            }
            process.end();
            if self.batch.is_open() {
                return Err(Apart::OutOfStep);
            }
        }
        Ok(start(self.simulator, &self.simulator.arguments(task), true).map_err(not_started))
    }

    fn await_answer(&mut self, mut process: Process, index: u64, cancellation: &Cancellation) -> Result<Outcome, Apart> {
        let timeout = self.simulator.timeout;
        let mut time = Stopwatch::start();
        let (mut silent, mut text, mut late, mut bytes) = (None, None, false, 0);
        loop {
            if cancellation.is_now() {
                process.end();
                return Ok(Outcome::failed(Status::Interrupted, "interrupted"));
            }
            while let Some(line) = next_line(&mut process) {
                bytes += line.len() + 1;
                match self.place(&line, index)? {
                    Place::Answer => return self.answered(process, &line, time.running()),
                    Place::Text => text = Some(time.running()),
                    Place::Nothing => {}
                }
            }
            if bytes + process.output().len() > self.simulator.output_limit {
                self.batch.doubt();
                return Ok(too_much(process, self.simulator.output_limit));
            }
            if let Some(ended) = process.ended() {
                return self.died(process, ended, index);
            }
            if process.is_lost() {
                self.batch.doubt();
                process.end();
                return Ok(Outcome::failed(Status::Killed, "the process supervising the worker was killed"));
            }
            let now = time.running();
            let past = |at: Option<Duration>, limit: Duration| at.is_some_and(|at| now.saturating_sub(at) >= limit);
            if process.is_silent() {
                silent.get_or_insert(now);
            }
            let in_vain = past(text, if self.longest.is_zero() { FIRST_SILENCE } else { SILENCE + 4 * self.longest });
            if past(silent, FAREWELL) || in_vain {
                process.end();
                return Err(Apart::OutOfStep);
            }
            if late {
                self.batch.doubt();
                return Ok(timed_out(process, timeout));
            }
            let left = timeout.saturating_sub(now);
            late = left.is_zero();
            let moved = if late { process.catch_up() } else { process.step(left.min(TICK)) };
            if let Err(error) = moved {
                self.batch.doubt();
                return Ok(finished(process, Outcome::failed(Status::Killed, error.to_string())));
            }
            time.waited(left.min(TICK));
        }
    }

    /// What this line is while the answer to `index` is awaited.
    fn place(&self, line: &[u8], index: u64) -> Result<Place, Apart> {
        match (Line::read(line), self.echoes) {
            (Line::Blank, _) => Ok(Place::Nothing),
            // From a worker that marks its answers, a log; before the first answer, a banner.
            (Line::Text, Some(true)) => Ok(Place::Text),
            (Line::Text, _) if !self.batch.is_open() => Ok(Place::Text),
            (Line::Echo(Some(found)), None | Some(true)) if found == index => Ok(Place::Answer),
            (Line::Answer, None | Some(false)) => Ok(Place::Answer),
            _ => Err(Apart::OutOfStep),
        }
    }

    /// The worker is kept; for one that does not echo, only if the answer was all it said.
    fn answered(&mut self, mut process: Process, line: &[u8], took: Duration) -> Result<Outcome, Apart> {
        let echoes = matches!(Line::read(line), Line::Echo(_));
        if !echoes && !process.output().trim_ascii().is_empty() {
            process.end();
            return Err(Apart::OutOfStep);
        }
        self.echoes = Some(echoes);
        self.longest = self.longest.max(took);
        if echoes {
            self.batch.forget();
        } else {
            self.batch.answered();
        }
        let outcome = self.simulator.outcome_of_json(line);
        let errors = process.errors();
        self.process = Some(process);
        Ok(explained(outcome, Tree::Gone, &errors))
    }

    /// What it means that the worker ended instead of answering with a full line.
    fn died(&mut self, mut process: Process, ended: std::process::ExitStatus, index: u64) -> Result<Outcome, Apart> {
        let last = std::mem::take(process.output());
        // A last answer without a line end.
        if matches!(self.place(&last, index), Ok(Place::Answer)) && self.echoes == Some(true) {
            return Ok(finished(process, self.simulator.outcome_of_json(&last)));
        }
        match failure_of(ended) {
            Some((Status::Killed, fact)) => {
                self.batch.doubt();
                Ok(finished(process, Outcome::failed(Status::Killed, fact)))
            }
            _ => {
                process.end();
                Err(Apart::Died)
            }
        }
    }

    /// Notes that something was not as agreed, and makes the call alone.
    fn apart(&mut self, why: &Apart, task: &Task, cancellation: &Cancellation) -> Outcome {
        self.process = None;
        self.echoes = self.echoes.filter(|&echoes| echoes);
        self.batch.doubt_others();
        self.strikes += u32::from(matches!(why, Apart::OutOfStep));
        let began = Instant::now();
        let seen = alone::attempt(self.simulator, task, cancellation);
        if seen.outcome.status.is_ok() {
            self.echoes = Some(alone::has_echo(&seen.printed));
            self.longest = self.longest.max(began.elapsed());
        }
        seen.outcome
    }
}

/// What a line is to the one who waits.
enum Place {
    Answer,
    Text,
    Nothing,
}

/// Takes the first full line of what was printed.
fn next_line(process: &mut Process) -> Option<Vec<u8>> {
    let end = process.output().iter().position(|&byte| byte == b'\n')?;
    let mut line: Vec<u8> = process.output().drain(..=end).collect();
    line.pop();
    Some(line)
}

impl Session for Worker<'_> {
    fn call(&mut self, task: &Task, cancellation: &Cancellation) -> Outcome {
        with_retries(self.simulator, || {
            if self.strikes >= STRIKES {
                return alone::attempt(self.simulator, task, cancellation).outcome;
            }
            self.together(task, cancellation).unwrap_or_else(|why| self.apart(&why, task, cancellation))
        })
    }

    fn settle(&mut self, last: bool, cancellation: &Cancellation) -> Settled {
        if self.batch.is_doubtful() {
            self.batch.forget();
            self.strikes += 1;
            return Settled::Doubtful;
        }
        if !self.batch.is_open() {
            return Settled::Certain;
        }
        if !last && !self.batch.is_full() {
            return Settled::Pending;
        }
        let certain = self.process.take().is_some_and(|process| batch::ends_in_step(process, self.simulator.timeout, cancellation));
        self.batch.forget();
        self.strikes += u32::from(!certain);
        if certain { Settled::Certain } else { Settled::Doubtful }
    }

    fn call_alone(&mut self, task: &Task, cancellation: &Cancellation) -> Outcome {
        with_retries(self.simulator, || alone::attempt(self.simulator, task, cancellation).outcome)
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            process.retire(RETIREMENT);
        }
    }
}
