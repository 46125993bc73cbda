//! Long work: on threads of our own, with the interpreter free for others meanwhile, and Ctrl-C heard within a twentieth of a second.

use crate::errors::{Failure, InferenceError, InternalError};
use kelfi::learning::Progress;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a caller waits for its result before it looks for a signal.
const TICK: Duration = Duration::from_millis(50);

/// What the caller and the work tell one another: whether to stop, and how far it is.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    stopped: AtomicBool,
    done: AtomicUsize,
    expected: AtomicUsize,
}

impl Stop {
    /// Whether to go on: what a progress callback answers.
    pub fn go_on(&self) -> bool {
        !self.0.stopped.load(Ordering::Relaxed)
    }

    /// The same, and remembers how far the work is.
    pub fn told(&self, progress: &Progress) -> bool {
        self.0.done.store(progress.done, Ordering::Relaxed);
        self.0.expected.store(progress.expected, Ordering::Relaxed);
        self.go_on()
    }

    fn tell(&self, listener: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let (done, expected) = (self.0.done.load(Ordering::Relaxed), self.0.expected.load(Ordering::Relaxed));
        match listener {
            Some(listener) if expected > 0 => listener.call1((done, expected)).map(drop),
            _ => Ok(()),
        }
    }
}

/// Runs `work` in our pool. When a signal handler raises (Ctrl-C), returns at once with what it raised; `work` ends at its next look at
/// [`Stop`], and what it gives is dropped. A panic, which would be our bug, becomes an exception.
pub fn compute<T, E, W>(py: Python<'_>, work: W) -> PyResult<T>
where
    T: Send + 'static,
    E: Into<Failure> + Send + 'static,
    W: FnOnce(&Stop) -> Result<T, E> + Send + 'static,
{
    compute_telling(py, None, work)
}

/// The same; `listener(done, expected)` is called now and then with what the work told [`Stop`].
pub fn compute_telling<T, E, W>(py: Python<'_>, listener: Option<&Bound<'_, PyAny>>, work: W) -> PyResult<T>
where
    T: Send + 'static,
    E: Into<Failure> + Send + 'static,
    W: FnOnce(&Stop) -> Result<T, E> + Send + 'static,
{
    let stop = Stop::default();
    let (sender, mut receiver) = channel();
    let theirs = stop.clone();
    pool()?.spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&theirs)));
        // Nobody listens after Ctrl-C.
        let _ = sender.send(outcome);
    });
    loop {
        let (back, received) = py.detach(move || {
            let received = receiver.recv_timeout(TICK);
            (receiver, received)
        });
        receiver = back;
        match received {
            Ok(Ok(result)) => return result.map_err(|error| error.into().into()),
            Ok(Err(panic)) => return Err(internal(&*panic)),
            Err(RecvTimeoutError::Disconnected) => return Err(internal(&"the computation ended without a result")),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(signal) = py.check_signals().and_then(|()| stop.tell(listener)) {
                    stop.0.stopped.store(true, Ordering::Relaxed);
                    return Err(signal);
                }
            }
        }
    }
}

fn internal(panic: &(dyn Any + Send)) -> PyErr {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned());
    InternalError::new_err(format!(
        "kelfi met an unexpected case: {}\n  this is a bug in kelfi; please report it with the call that caused it",
        said.unwrap_or_else(|| "no message".into())
    ))
}

/// The pool with the process it belongs to: after a fork its threads are gone, and the child needs one of its own.
struct Owned {
    process: u32,
    pool: Arc<ThreadPool>,
}

static POOL: Mutex<Option<Owned>> = Mutex::new(None);

fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut owned = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*owned {
        Some(found) if found.process == std::process::id() => Ok(found.pool.clone()),
        _ => {
            let pool = build(0)?;
            // Dropping the parent's pool would wait for threads that do not exist here.
            std::mem::forget(owned.replace(Owned { process: std::process::id(), pool: pool.clone() }));
            Ok(pool)
        }
    }
}

fn build(threads: usize) -> PyResult<Arc<ThreadPool>> {
    let built = ThreadPoolBuilder::new().num_threads(threads).thread_name(|index| format!("kelfi-{index}")).build();
    built.map(Arc::new).map_err(|error| {
        InferenceError::new_err(format!(
            "the system refuses to start the threads that compute: {error}\n  close other programs, raise the limit on processes, or use kelfi.set_threads(1)"
        ))
    })
}

/// Use this many threads from now on; 0 means one per core, or as RAYON_NUM_THREADS says. Results do not depend on it.
#[pyfunction]
pub fn set_threads(threads: usize) -> PyResult<()> {
    let pool = build(threads)?;
    let mut owned = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let former = owned.replace(Owned { process: std::process::id(), pool });
    if let Some(former) = former
        && former.process != std::process::id()
    {
        std::mem::forget(former);
    }
    Ok(())
}
