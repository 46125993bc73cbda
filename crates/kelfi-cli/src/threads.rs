//! The threads that compute: as many as asked for, or as the system allows. The answer does not depend on them.

use crate::failure::Failure;
use crate::show;
use kelfi::words::counted;
use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use std::time::Duration;

/// How long the system may count a thread that has ended.
const SETTLING: Duration = Duration::from_millis(30);

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
        std::thread::sleep(SETTLING);
        count = count.div_ceil(2);
    }
    if count < wanted {
        std::thread::sleep(SETTLING);
        show::say(&format!("note: the system refuses {wanted} threads; using {count}"));
    }
    ThreadPoolBuilder::new().num_threads(count).build_global().map_err(|error| refused(count, &error))
}

/// Whether so many can be started; they have ended when this returns.
fn try_out(count: usize) -> Result<(), ThreadPoolBuildError> {
    let mut started = vec![];
    let start = |thread: rayon::ThreadBuilder| {
        started.push(std::thread::Builder::new().spawn(|| thread.run())?);
        Ok(())
    };
    let built = ThreadPoolBuilder::new().num_threads(count).spawn_handler(start).build().map(drop);
    started.into_iter().for_each(|thread| drop(thread.join()));
    built
}

fn refused(count: usize, error: &dyn std::error::Error) -> Failure {
    let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let threads = counted(count as u64, "thread");
    Failure::unexpected(format!(
        "the system refuses to start {threads}: {reason}\n  close other programs, or raise the limit on processes (`ulimit -u`) or memory (`ulimit -v`)"
    ))
}
