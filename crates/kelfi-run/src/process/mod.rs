//! A started program: its pipes are moved in small steps, it is never waited for without a limit, and it ends with all it started.

mod ending;
mod start;
mod stopwatch;
mod supervisor;
mod tail;

pub(crate) use ending::failure_of;
pub(crate) use start::{NotStarted, start};
pub(crate) use stopwatch::Stopwatch;

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::time::{Duration, Instant};
use tail::Tail;

/// Longest time between two looks at a cancellation flag.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// How long a program may take to end by itself after SIGTERM.
const TERMINATION_GRACE: Duration = Duration::from_secs(1);

/// How long output may still come from a descendant after the program itself has ended.
const STRAGGLER_GRACE: Duration = Duration::from_millis(200);

/// Chunks taken before a program is called late, and of stderr once it has ended: twice what a pipe holds.
const CATCHING_UP: usize = 16;

/// Bytes moved at once: few, because after a fork every page touched here is first copied.
const CHUNK: usize = 1 << 13;

/// A program under its supervisor. Dropping it ends everything the program started.
pub(crate) struct Process {
    supervisor: Child,
    orders: Option<PipeWriter>,
    reports: Option<PipeReader>,
    stdin: Option<ChildStdin>,
    unsent: Vec<u8>,
    close_when_sent: bool,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    output: Vec<u8>,
    errors: Tail,
    ended: Option<(ExitStatus, Instant)>,
}

impl Process {
    /// Puts `bytes` in line for the program's stdin.
    pub fn send(&mut self, bytes: &[u8]) {
        self.unsent.extend_from_slice(bytes);
    }

    /// Closes stdin once everything is sent.
    pub fn finish_input(&mut self) {
        self.close_when_sent = true;
        if self.unsent.is_empty() {
            self.stdin = None;
        }
    }

    /// What the program printed and nobody took yet.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// The last of what it wrote to stderr, since [`Self::forget_errors`].
    pub fn errors(&self) -> String {
        self.errors.text()
    }

    /// Starts stderr's tail anew.
    pub fn forget_errors(&mut self) {
        self.errors.clear();
    }

    /// How the program ended, if it did and no more output can come.
    pub fn ended(&self) -> Option<ExitStatus> {
        let (status, at) = self.ended?;
        (self.stdout.is_none() || at.elapsed() >= STRAGGLER_GRACE).then_some(status)
    }

    /// Whether the program has given up its stdout.
    pub fn is_silent(&self) -> bool {
        self.stdout.is_none()
    }

    /// Whether the supervisor died without reporting: the machine's failure, not the program's.
    pub fn is_lost(&self) -> bool {
        self.reports.is_none() && self.ended.is_none()
    }

    /// Moves whatever can be moved, waiting at most `wait` for something to do.
    pub fn step(&mut self, wait: Duration) -> io::Result<()> {
        // A program that ended while a descendant holds stdout is looked at again when the grace is over.
        let wait = self.ended.map_or(wait, |(_, at)| wait.min(STRAGGLER_GRACE.saturating_sub(at.elapsed())));
        let [input, output, errors, reports] = self.poll(wait)?;
        if input {
            self.push_input();
        }
        if output {
            read_chunk(&mut self.stdout, |bytes| self.output.extend_from_slice(bytes));
        }
        if errors {
            read_chunk(&mut self.stderr, |bytes| self.errors.push(bytes));
        }
        if reports {
            self.read_report();
        }
        Ok(())
    }

    /// Moves everything that has arrived already.
    pub fn catch_up(&mut self) -> io::Result<()> {
        // Each step moves one chunk of each pipe; what a program printed while nobody looked is seldom more than these.
        (0..CATCHING_UP).try_for_each(|_| self.step(Duration::ZERO))
    }

    /// Asks the program to end, gives it a moment for its own cleaning up, then ends everything.
    pub fn terminate(mut self) -> Tree {
        if let Some(orders) = &mut self.orders {
            let _ = orders.write_all(&[supervisor::TERMINATE]);
        }
        self.drain(TERMINATION_GRACE);
        self.end()
    }

    /// Closes stdin as a sign that no more is wanted, gives the program up to `patience`, then ends everything.
    pub fn retire(mut self, patience: Duration) -> Tree {
        self.unsent.clear();
        self.finish_input();
        self.drain(patience);
        self.end()
    }

    /// Ends everything now.
    pub fn end(mut self) -> Tree {
        self.finish()
    }

    /// Discards output until the program ends or the time is up.
    fn drain(&mut self, patience: Duration) {
        let deadline = Instant::now() + patience;
        while self.ended.is_none() && !self.is_lost() && Instant::now() < deadline {
            if self.step(deadline.saturating_duration_since(Instant::now()).min(TICK)).is_err() {
                break;
            }
            self.output.clear();
        }
    }

    fn finish(&mut self) -> Tree {
        self.orders = None;
        match self.supervisor.wait() {
            Ok(status) if status.code() == Some(0) => Tree::Gone,
            _ => Tree::Uncertain,
        }
    }

    fn push_input(&mut self) {
        let Some(pipe) = &mut self.stdin else { return };
        match pipe.write(&self.unsent) {
            Ok(count) => drop(self.unsent.drain(..count)),
            Err(error) if would_wait(&error) => return,
            // The program does not read: its business, and its end or answer tells how it went.
            Err(_) => self.unsent.clear(),
        }
        if self.unsent.is_empty() && self.close_when_sent {
            self.stdin = None;
        }
    }

    fn read_report(&mut self) {
        let mut status = [0; size_of::<i32>()];
        match self.reports.as_mut().map(|pipe| pipe.read(&mut status)) {
            Some(Ok(count)) if count == status.len() => {
                self.ended = Some((ExitStatus::from_raw(i32::from_ne_bytes(status)), Instant::now()));
                self.reports = None;
                // Its last words are in the pipe, perhaps behind much else: the end may be known before they are read.
                (0..CATCHING_UP).for_each(|_| read_chunk(&mut self.stderr, |bytes| self.errors.push(bytes)));
            }
            Some(Err(error)) if would_wait(&error) => {}
            _ => self.reports = None,
        }
    }

    /// Which of stdin, stdout, stderr and reports can be moved.
    fn poll(&self, wait: Duration) -> io::Result<[bool; 4]> {
        let descriptor = |pipe: Option<i32>| pipe.unwrap_or(-1);
        let input = self.stdin.as_ref().filter(|_| !self.unsent.is_empty()).map(AsRawFd::as_raw_fd);
        let entry = |fd, events| libc::pollfd { fd, events, revents: 0 };
        let mut entries = [
            entry(descriptor(input), libc::POLLOUT),
            entry(descriptor(self.stdout.as_ref().map(AsRawFd::as_raw_fd)), libc::POLLIN),
            entry(descriptor(self.stderr.as_ref().map(AsRawFd::as_raw_fd)), libc::POLLIN),
            entry(descriptor(self.reports.as_ref().map(AsRawFd::as_raw_fd)), libc::POLLIN),
        ];
        // Rounded up, so that a wait of less than a millisecond does not spin.
        let milliseconds = i32::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        // SAFETY: `entries` outlives the call and its length is given; negative descriptors are ignored by poll.
        let count = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, milliseconds) };
        if count < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted { Ok([false; 4]) } else { Err(error) };
        }
        Ok(entries.map(|entry| entry.revents != 0))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // After `end` this finds the supervisor reaped and returns at once.
        self.finish();
    }
}

/// What is left of a program's processes after its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tree {
    /// Nothing.
    Gone,
    /// Something may be: it would not die, or the supervisor itself was killed.
    Uncertain,
}

/// One chunk from a pipe, handed to `keep`. The pipe is gone afterwards if it was closed at the other end.
fn read_chunk(pipe: &mut Option<impl Read>, keep: impl FnOnce(&[u8])) {
    let mut chunk = [0; CHUNK];
    match pipe.as_mut().map(|pipe| pipe.read(&mut chunk)) {
        Some(Ok(count)) if count > 0 => keep(&chunk[..count]),
        Some(Err(error)) if would_wait(&error) => {}
        _ => *pipe = None,
    }
}

fn would_wait(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Makes reads and writes return instead of waiting.
fn without_waiting(pipe: impl AsFd) -> io::Result<()> {
    let descriptor = pipe.as_fd().as_raw_fd();
    // SAFETY: the descriptor is borrowed from an open pipe for the duration of both calls.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    // SAFETY: as above.
    if flags < 0 || unsafe { libc::fcntl(descriptor, libc::F_SETFL, flags | libc::O_NONBLOCK) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
