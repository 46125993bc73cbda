//! Ctrl-C (and a polite TERM): once to stop cleanly, twice to stop now.

use crate::failure::{Exit, Failure};
use kelfi_run::Cancellation;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether programs run that must be ended before this process may end.
static PROGRAMS_RUN: AtomicBool = AtomicBool::new(false);

/// The flag that the signal raises.
pub fn cancellation() -> &'static Cancellation {
    static FLAG: OnceLock<Cancellation> = OnceLock::new();
    FLAG.get_or_init(Cancellation::new)
}

/// Begins to listen.
pub fn listen() -> Result<(), Failure> {
    ctrlc::set_handler(on_signal).map_err(|error| Failure::unexpected(format!("signals cannot be received: {error}")))
}

/// Runs `work` with the promise that it ends its programs by itself when asked to stop now.
pub fn with_programs<T>(work: impl FnOnce() -> T) -> T {
    PROGRAMS_RUN.store(true, Ordering::SeqCst);
    let result = work();
    PROGRAMS_RUN.store(false, Ordering::SeqCst);
    result
}

fn on_signal() {
    let again = cancellation().is_requested();
    cancellation().request();
    if !again {
        crate::show::say("\nstopping when the running simulations have finished; press Ctrl-C again to stop now");
    } else if !PROGRAMS_RUN.load(Ordering::SeqCst) {
        // Files appear whole or not at all, so a computation may be left at any moment.
        std::process::exit(i32::from(Exit::Interrupted.code()));
    }
}
