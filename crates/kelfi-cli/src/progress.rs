//! RunProgress on stderr: a bar on a terminal, elsewhere (a log file, a cluster job) a line now and then.

use crate::show;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Where nobody watches, a line is written this often; short runs stay silent.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

/// Where progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Nowhere.
    Nowhere,
    /// As a bar.
    Bar,
    /// As lines.
    Lines,
}

impl Shown {
    /// A bar on a terminal, lines elsewhere, nothing if asked to be quiet.
    pub fn unless(quiet: bool) -> Self {
        match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Self::Nowhere,
            (_, true) => Self::Bar,
            (_, false) => Self::Lines,
        }
    }

    /// A bar of `total` steps that says what is being done and how long is left.
    pub fn bar(self, what: &'static str, total: u64) -> Bar {
        self.bar_from(what, 0, total)
    }

    /// Something that takes a while and does not count its steps.
    pub fn waiting(self, what: &'static str) -> Bar {
        let bar = self.bar(what, 0);
        if let Ok(style) = ProgressStyle::with_template("{prefix:>10} {spinner} {elapsed}") {
            bar.bar.set_style(style);
        }
        bar
    }

    /// The same where `done` of the steps were taken before: it counts on from there, and the time left is that of the rest.
    pub fn bar_from(self, what: &'static str, done: u64, total: u64) -> Bar {
        let target = if self == Self::Bar { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total), target).with_prefix(what);
        if let Ok(style) = ProgressStyle::with_template("{prefix:>10} [{bar:40}] {pos}/{len} {msg} {elapsed}, about {eta} left") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_position(done);
        bar.reset_eta();
        // The ticker starts a thread and panics where none can be had; a bar without a clock is better.
        if self == Self::Bar && std::thread::Builder::new().spawn(|| ()).is_ok() {
            // The clock goes on while a long simulation gives nothing to count.
            bar.enable_steady_tick(Duration::from_millis(500));
        }
        Bar { bar, shown: self, last: Mutex::new(Instant::now()) }
    }

    /// Says something to whoever watches a terminal.
    pub fn note(self, text: &str) {
        if self == Self::Bar {
            show::say(text);
        }
    }
}

/// RunProgress of one piece of work.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    shown: Shown,
    /// When the last line was written.
    last: Mutex<Instant>,
}

impl Bar {
    /// `done` of `total` steps are taken; `message` is empty or says more.
    pub fn tell(&self, done: u64, total: u64, message: &str) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.bar.set_message(message.to_owned());
        if let (Shown::Lines, Ok(mut last)) = (self.shown, self.last.lock())
            && last.elapsed() >= BETWEEN_LINES
        {
            *last = Instant::now();
            show::say(&self.line());
        }
    }

    /// Takes it away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn line(&self) -> String {
        let (bar, message) = (&self.bar, self.bar.message());
        let more = if message.is_empty() { String::new() } else { format!(" {message}") };
        format!("{} {}/{}{more}, about {} s left", bar.prefix(), bar.position(), bar.length().unwrap_or(0), bar.eta().as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_counts_on_from_what_is_done_and_says_so_in_a_line() {
        let bar = Shown::Nowhere.bar_from("simulate", 140, 300);
        assert_eq!((bar.bar.position(), bar.bar.length()), (140, Some(300)));
        bar.tell(141, 300, "(2 failed)");
        assert!(bar.line().starts_with("simulate 141/300 (2 failed), about "), "{}", bar.line());
    }
}
