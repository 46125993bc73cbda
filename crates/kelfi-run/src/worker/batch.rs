//! Answers of a worker that does not echo the index: believed together once it has ended in step, or not at all.

use super::line::Line;
use crate::Cancellation;
use crate::process::{Process, TICK};
use std::time::{Duration, Instant};

/// A batch lasts so many times as long as its first answer took, so that starting a worker again costs a twentieth at most.
const TIMES: u32 = 20;
/// Shortest and longest duration of a batch.
const SHORTEST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(600);
/// Most answers held back.
const MOST: u64 = 10_000;

/// How long a worker may take to end once its stdin is closed.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was sent to the present worker and answered without an index.
#[derive(Debug, Default)]
pub(super) struct Batch {
    began: Option<Instant>,
    first: Duration,
    sent: u64,
    answered: u64,
    doubtful: bool,
}

impl Batch {
    /// A request is on its way.
    pub fn sent(&mut self) {
        self.began.get_or_insert_with(Instant::now);
        self.sent += 1;
    }

    /// Its answer came, without an index.
    pub fn answered(&mut self) {
        if self.answered == 0 {
            self.first = self.began.map_or(Duration::ZERO, |began| began.elapsed());
        }
        self.answered += 1;
    }

    /// Whether answers are held back.
    pub fn is_open(&self) -> bool {
        self.answered > 0
    }

    /// Whether it is time to see if they can be believed.
    pub fn is_full(&self) -> bool {
        let limit = (self.first * TIMES).clamp(SHORTEST, LONGEST);
        self.answered >= MOST || self.began.is_some_and(|began| began.elapsed() >= limit)
    }

    /// The worker did not end as agreed with a request under way: whose fault that was is certain only if it was its first.
    pub fn doubt(&mut self) {
        self.doubtful = self.sent > 1 && self.answered > 0;
        if !self.doubtful {
            self.forget();
        }
    }

    /// As [`Self::doubt`], where the request under way is made again at once.
    pub fn doubt_others(&mut self) {
        self.doubtful = self.answered > 0;
        if !self.doubtful {
            self.forget();
        }
    }

    /// Whether answers held back cannot be believed.
    pub fn is_doubtful(&self) -> bool {
        self.doubtful
    }

    /// Begins anew.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}

/// Closes stdin and waits for the end: in step if the worker ends by itself, with success and without another line. A line too many
/// anywhere in the batch is left over here, however late it came.
pub(super) fn ends_in_step(mut process: Process, timeout: Duration, cancellation: &Cancellation) -> bool {
    process.finish_input();
    let deadline = Instant::now() + PATIENCE.min(timeout);
    let in_step = loop {
        if let Some(ended) = process.ended() {
            break ended.success() && process.output().split(|&byte| byte == b'\n').all(|line| Line::read(line) == Line::Blank);
        }
        if cancellation.is_now() || process.is_lost() || Instant::now() >= deadline || process.step(TICK).is_err() {
            break false;
        }
    };
    process.end();
    in_step
}
