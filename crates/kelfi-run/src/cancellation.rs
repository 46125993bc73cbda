//! Stopping a run from outside: once to stop cleanly, twice to stop now.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A flag shared between a run and whoever may stop it. Raising it is a single atomic operation, safe in a signal handler.
#[derive(Debug, Clone, Default)]
pub struct Cancellation {
    requests: Arc<AtomicU8>,
    parent: Option<Arc<AtomicU8>>,
}

impl Cancellation {
    /// A flag nobody has raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag that is raised with this one but can also be raised alone.
    pub(crate) fn child(&self) -> Self {
        Self { requests: Arc::default(), parent: Some(Arc::clone(&self.requests)) }
    }

    /// Asks to stop: the first time nothing new is started and what runs may finish; from the second time on what runs is ended.
    pub fn request(&self) {
        // Three states are enough; saturating there keeps a key held down from wrapping around to "go on".
        let _ = self.requests.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| (count < 2).then_some(count + 1));
    }

    /// Asks to stop now, whatever was asked before.
    pub fn request_now(&self) {
        self.requests.store(2, Ordering::SeqCst);
    }

    /// Whether nothing new should be started.
    pub fn is_requested(&self) -> bool {
        self.level() > 0
    }

    /// Whether what runs should be ended.
    pub fn is_now(&self) -> bool {
        self.level() > 1
    }

    fn level(&self) -> u8 {
        let above = self.parent.as_ref().map_or(0, |parent| parent.load(Ordering::SeqCst));
        self.requests.load(Ordering::SeqCst).max(above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_stops_cleanly_twice_stops_now_and_more_changes_nothing() {
        let flag = Cancellation::new();
        assert!(!flag.is_requested());
        flag.clone().request();
        assert!(flag.is_requested() && !flag.is_now());
        for _ in 0..600 {
            flag.request();
        }
        assert!(flag.is_now());
    }
}
