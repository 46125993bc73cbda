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
        let target = if self.0 { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total), target).with_prefix(what);
        if let Ok(style) = ProgressStyle::with_template("{prefix:>10} [{bar:40}] {pos}/{len} {msg} {elapsed} (left: {eta})") {
            bar.set_style(style.progress_chars("=> "));
        }
        if self.0 {
            // The clock goes on while a long simulation gives nothing to count.
            bar.enable_steady_tick(std::time::Duration::from_millis(500));
        }
        bar
    }
}
