//! Many calls in parallel, recorded as they finish: nothing counts before it is durable.

use crate::job::Job;
use crate::queue::{Queue, affordable};
use crate::store::Record;
use crate::{Cancellation, Error, Outcome, Seeds, Simulate, Status, Store};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

/// Results that may wait for the disk before the jobs do. Bounds what a kill can make to be done again for simulators faster than
/// the disk; a slower one never has more than its running calls in flight.
const BACKLOG: usize = 64;

/// Most results written in one transaction.
const BATCH: usize = 256;

/// What to run and how.
pub struct RunPlan<'a> {
    /// The simulator.
    pub simulator: &'a dyn Simulate,
    /// θ_j for index j where nothing was proposed; must depend on nothing else.
    pub theta: &'a (dyn Fn(u64) -> Vec<f64> + Sync),
    /// Seed of the run.
    pub seed: u64,
    /// What the simulator's seeds are; [`Seeds::of`] the store's problem.
    pub seeds: Seeds,
    /// Calls at once, at least 1; fewer where the machine runs short.
    pub jobs: usize,
    /// Give up when this many first calls all fail with the same status and the store holds no success; 0 never gives up.
    pub stop_after_alike: usize,
    /// Stop at the first failure.
    pub abort_on_failure: bool,
}

/// How far a run is, counting only what is durable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunProgress {
    /// Simulations asked for in this run.
    pub total: usize,
    /// Of them, recorded as successes.
    pub ok: usize,
    /// Of them, recorded as failures.
    pub failed: usize,
    /// Time since the start.
    pub elapsed: Duration,
}

impl RunProgress {
    /// Time left at the pace so far.
    pub fn remaining(&self) -> Option<Duration> {
        let done = self.ok + self.failed;
        (done > 0).then(|| self.elapsed.mul_f64((self.total - done) as f64 / done as f64))
    }
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// Every simulation asked for is recorded.
    Completed,
    /// Stopped from outside; running again continues.
    Interrupted,
    /// The machine could not make them all, which says nothing about the simulator; running again continues.
    Unfinished {
        /// What happened.
        reason: String,
    },
    /// The first calls all failed alike.
    AllAlike {
        /// With this status.
        status: Status,
        /// So many of them.
        count: usize,
        /// The message of the last.
        message: String,
    },
    /// A failure where none was to be accepted.
    Failure {
        /// Of this simulation.
        index: u64,
        /// With this status.
        status: Status,
        /// And this message.
        message: String,
    },
}

/// What a run did.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Why it ended.
    pub ended: Ended,
    /// What it recorded.
    pub progress: RunProgress,
}

/// Simulates every index of `indices` (see [`Store::missing`]) and records each as it finishes. Their parameters are those proposed
/// in the store; what is not proposed yet is, before the first call. `progress` is told after every
/// durable write. An error of the store ends what runs and is returned; everything acknowledged before is kept.
pub fn run(
    plan: &RunPlan<'_>,
    indices: &[u64],
    store: &mut Store,
    cancellation: &Cancellation,
    progress: &mut dyn FnMut(&RunProgress),
) -> Result<Summary, Error> {
    if plan.simulator.statistics() != store.problem().statistics {
        return Err(Error::setting("the simulator's statistics differ from those in the store", "open the store of this problem"));
    }
    let began = Instant::now();
    let promising = store.counts()?.ok() > 0;
    let proposals = store.hand_out(indices, plan.theta)?;
    let mut ledger = Ledger {
        plan,
        store,
        promising,
        first: None,
        progress: RunProgress { total: indices.len(), ok: 0, failed: 0, elapsed: Duration::ZERO },
    };
    let stop = cancellation.child();
    let queue = Queue::new(&proposals);
    let (sender, receiver) = sync_channel(BACKLOG);
    let early = std::thread::scope(|scope| {
        for started in 0..affordable(plan.jobs, plan.simulator.descriptors()).clamp(1, indices.len().max(1)) {
            queue.join();
            let (sender, stop, queue) = (sender.clone(), stop.clone(), &queue);
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || Job::new(plan, queue, stop, sender).work());
            match thread {
                Ok(_) => {}
                // Fewer at once; those that started do everything.
                Err(_) if started > 0 && queue.leave() => break,
                Err(error) => {
                    return Err(Error::setting(
                        format!("no thread can be started: {error}"),
                        "close other programs or raise the process limit (`ulimit -u`), then run again; nothing done so far is lost",
                    ));
                }
            }
        }
        drop(sender);
        let early = ledger.collect(&receiver, began, progress);
        // Whatever still runs is not wanted any more; when all jobs have ended by themselves this does nothing.
        stop.request_now();
        drop(receiver);
        early
    })?;
    let summary = ledger.progress;
    let complete = summary.ok + summary.failed == summary.total;
    let ended = early.unwrap_or_else(|| match queue.complaint() {
        _ if complete => Ended::Completed,
        Some(reason) => Ended::Unfinished { reason },
        None => Ended::Interrupted,
    });
    Ok(Summary { ended, progress: summary })
}

/// The side that writes: takes results in any order, in groups as large as have gathered while the disk was busy.
struct Ledger<'a, 'b> {
    plan: &'a RunPlan<'b>,
    store: &'a mut Store,
    /// A success, or failures that differ: reason enough to go on.
    promising: bool,
    first: Option<Status>,
    progress: RunProgress,
}

impl Ledger<'_, '_> {
    /// Records until no job is left or there is a reason to stop early.
    fn collect(
        &mut self,
        receiver: &Receiver<Record>,
        began: Instant,
        progress: &mut dyn FnMut(&RunProgress),
    ) -> Result<Option<Ended>, Error> {
        while let Ok(first) = receiver.recv() {
            let batch: Vec<Record> = std::iter::once(first).chain(receiver.try_iter().take(BATCH - 1)).collect();
            self.store.record(&batch)?;
            // Every record of the batch is durable, so every one is counted, also after a reason to stop.
            let reasons: Vec<Ended> = batch.iter().filter_map(|record| self.count(record)).collect();
            let early = reasons.into_iter().next();
            self.progress.elapsed = began.elapsed();
            progress(&self.progress);
            if early.is_some() {
                return Ok(early);
            }
        }
        Ok(None)
    }

    /// Counts a durable record; gives the reason to stop, if it is one.
    fn count(&mut self, record: &Record) -> Option<Ended> {
        let Outcome { status, message, .. } = &record.outcome;
        if status.is_ok() {
            self.progress.ok += 1;
            self.promising = true;
            return None;
        }
        self.progress.failed += 1;
        if self.plan.abort_on_failure {
            return Some(Ended::Failure { index: record.index, status: *status, message: message.clone() });
        }
        // One different failure is enough to go on: the simulator does different things for different parameters.
        let alike = *self.first.get_or_insert(*status) == *status;
        self.promising |= !alike;
        let count = self.progress.failed;
        let give_up = !self.promising && self.plan.stop_after_alike > 0 && count >= self.plan.stop_after_alike;
        give_up.then(|| Ended::AllAlike { status: *status, count, message: message.clone() })
    }
}
