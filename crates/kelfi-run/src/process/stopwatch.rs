//! Time that passed while this process was running: neither Ctrl-Z nor a suspended machine makes a simulation late.

use std::time::{Duration, Instant};

/// A wait that takes so much longer than asked was one in which this process stood still.
const STANDSTILL: Duration = Duration::from_millis(400);

/// Counts running time in small steps.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    running: Duration,
    last: Instant,
}

impl Stopwatch {
    /// Begins at zero.
    pub fn start() -> Self {
        Self { running: Duration::ZERO, last: Instant::now() }
    }

    /// Counts the time since the last call, which waited for at most `asked`.
    pub fn waited(&mut self, asked: Duration) {
        let now = Instant::now();
        self.count(now.duration_since(self.last), asked);
        self.last = now;
    }

    /// The running time so far.
    pub fn running(&self) -> Duration {
        self.running
    }

    fn count(&mut self, took: Duration, asked: Duration) {
        self.running += if took > asked + STANDSTILL { asked } else { took };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_steps_count_in_full_and_a_standstill_counts_as_the_wait_it_interrupted() {
        let mut watch = Stopwatch::start();
        let tick = Duration::from_millis(50);
        watch.count(Duration::from_millis(60), tick);
        watch.count(Duration::from_millis(3), tick);
        watch.count(Duration::from_secs(3600), tick);
        assert_eq!(watch.running(), Duration::from_millis(113));
    }
}
