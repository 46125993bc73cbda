//! Progress on stderr, where it is a terminal; silence elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// Whether to show anything.
#[derive(Debug, Clone, Copy)]
pub struct Shown(bool);

impl Shown {
    /// On a terminal, unless asked to be quiet.
    pub fn unless(quiet: bool) -> Self {
        Self(!quiet && std::io::stderr().is_terminal())
    }

    /// A bar of `total` steps that says what is being done and how long is left.
    pub fn bar(self, what: &'static str, total: u64) -> ProgressBar {
        self.bar_from(what, 0, total)
    }

    /// The same where `done` of the steps were taken before: it counts on from there, and the time left is that of the rest.
    pub fn bar_from(self, what: &'static str, done: u64, total: u64) -> ProgressBar {
        let target = if self.0 { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total), target).with_prefix(what);
        if let Ok(style) = ProgressStyle::with_template("{prefix:>10} [{bar:40}] {pos}/{len} {msg} {elapsed} (left: {eta})") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_position(done);
        bar.reset_eta();
        // The ticker starts a thread and panics where none can be had; a bar without a clock is better.
        if self.0 && std::thread::Builder::new().spawn(|| ()).is_ok() {
            // The clock goes on while a long simulation gives nothing to count.
            bar.enable_steady_tick(std::time::Duration::from_millis(500));
        }
        bar
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_counts_on_from_what_is_done() {
        let bar = Shown(false).bar_from("simulate", 140, 300);
        assert_eq!((bar.position(), bar.length()), (140, Some(300)));
        bar.set_position(141);
        assert_eq!(bar.position(), 141);
    }
}
