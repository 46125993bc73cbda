//! The threads that compute: as many as asked for, or as the system allows. The answer does not depend on them.

use crate::failure::Failure;
use crate::show;
use kelfi::words::counted;
use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Milliseconds that threads may take to end.
const PATIENCE: usize = 100;

/// Uses so many threads from here on, or one for each processor. Where the system refuses so many (`ulimit -u`), fewer do.
pub fn use_threads(threads: Option<u16>) -> Result<(), Failure> {
    let said = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok()).filter(|&count| count > 0);
    let usual = || said.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let wanted = threads.map_or_else(usual, usize::from);
    let mut count = wanted;
    // The common pool can be made only once: what the system allows is found out with others.
    while let Err(error) = try_out(count) {
        if count == 1 {
            return Err(refused(1, &error));
        }
        count = count.div_ceil(2);
    }
    if count < wanted {
        show::say(&format!("note: the system refuses {wanted} threads; using {count}"));
    }
    ThreadPoolBuilder::new().num_threads(count).build_global().map_err(|error| refused(count, &error))
}

/// Whether so many can be started; they have ended when this returns.
fn try_out(count: usize) -> Result<(), ThreadPoolBuildError> {
    let ended = Arc::new(AtomicUsize::new(0));
    let counter = ended.clone();
    let on_exit = move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
    };
    let built = ThreadPoolBuilder::new().num_threads(count).exit_handler(on_exit).build().map(drop);
    for _ in 0..PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
        if ended.load(Ordering::SeqCst) >= count {
            break;
        }
    }
    built
}

fn refused(count: usize, error: &dyn std::error::Error) -> Failure {
    let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let threads = counted(count as u64, "thread");
    Failure::unexpected(format!(
        "the system refuses to start {threads}: {reason}\n  close other programs, or raise the limit on processes (`ulimit -u`) or memory (`ulimit -v`)"
    ))
}
