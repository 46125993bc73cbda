//! What is left to do, and how many may do it at once: a machine that runs short gets fewer jobs, never failed simulations.

use crate::Proposal;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often a simulation that was killed is made again.
const KILLED_TRIES: u32 = 3;

/// So many simulations that were killed every time are reason enough to stop.
const TOO_MANY_KILLED: usize = 20;

/// One simulation to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    /// Its place among the proposals.
    at: usize,
    /// How often it was killed.
    killed: u32,
}

/// The proposals to be simulated, shared by the jobs.
pub(crate) struct Queue<'a> {
    proposals: &'a [Proposal],
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: usize,
    returned: Vec<Work>,
    jobs: usize,
    killed: usize,
    complaint: Option<String>,
    over: bool,
}

impl<'a> Queue<'a> {
    /// Nothing is taken and nobody works yet.
    pub fn new(proposals: &'a [Proposal]) -> Self {
        Self { proposals, state: Mutex::default() }
    }

    /// Counts one more job, before it starts.
    pub fn join(&self) {
        self.lock().jobs += 1;
    }

    /// The next simulation.
    pub fn take(&self) -> Option<Work> {
        let mut state = self.lock();
        if !self.has_work(&state) {
            return None;
        }
        Some(state.returned.pop().unwrap_or_else(|| {
            state.next += 1;
            Work { at: state.next - 1, killed: 0 }
        }))
    }

    /// What is to be simulated.
    pub fn proposal(&self, work: Work) -> &'a Proposal {
        &self.proposals[work.at]
    }

    /// Ends the calling job, unless there is work again.
    pub fn finish(&self) -> bool {
        let mut state = self.lock();
        let finished = !self.has_work(&state);
        state.jobs -= usize::from(finished);
        finished
    }

    /// Takes back a simulation for which the machine had no room.
    pub fn give_back(&self, work: Work) {
        self.lock().returned.push(work);
    }

    /// Takes back a simulation that was killed; after several times it is set aside, to be made by another run.
    pub fn was_killed(&self, work: Work, message: &str) {
        let mut state = self.lock();
        let killed = work.killed + 1;
        if killed < KILLED_TRIES {
            state.returned.push(Work { killed, ..work });
            return;
        }
        state.killed += 1;
        state.over |= state.killed >= TOO_MANY_KILLED;
        state.complaint = Some(format!("simulation {} was {message}", self.proposal(work).index));
    }

    /// Ends the calling job if another goes on: fewer at once. The last one has to stay.
    pub fn leave(&self) -> bool {
        let mut state = self.lock();
        let others = state.jobs > 1;
        state.jobs -= usize::from(others);
        others
    }

    /// Nothing more is to be taken, for this reason of the machine's.
    pub fn give_up(&self, reason: String) {
        let mut state = self.lock();
        state.over = true;
        state.complaint = Some(reason);
    }

    /// Why simulations were left undone, if the machine is the reason.
    pub fn complaint(&self) -> Option<String> {
        self.lock().complaint.clone()
    }

    fn has_work(&self, state: &State) -> bool {
        !state.over && (!state.returned.is_empty() || state.next < self.proposals.len())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is a single assignment or push, so a job that panicked leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many jobs that need `each` file descriptors this process may have open, at least one.
pub(crate) fn affordable(jobs: usize, each: usize) -> usize {
    /// For the store, the terminal, and the pipes of a start under way.
    const SPARE: u64 = 32;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: fills the value given.
    if each == 0 || unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return jobs;
    }
    #[allow(clippy::unnecessary_cast, reason = "its type differs between systems")]
    let limit = limit.rlim_cur as u64;
    // SAFETY: asks about descriptors by number; none is touched.
    let open = (0..limit.min(1024)).filter(|&descriptor| unsafe { libc::fcntl(descriptor as i32, libc::F_GETFD) } >= 0).count() as u64;
    let room = limit.saturating_sub(open).saturating_sub(SPARE) / each as u64;
    jobs.min(usize::try_from(room).unwrap_or(usize::MAX)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Origin;

    fn proposals() -> Vec<Proposal> {
        [4, 5].map(|index| Proposal { index, parameters: vec![], origin: Origin::Prior }).to_vec()
    }

    #[test]
    fn what_is_given_back_is_taken_again_and_the_last_job_cannot_leave() {
        let proposals = proposals();
        let queue = Queue::new(&proposals);
        queue.join();
        queue.join();
        let work = queue.take().unwrap();
        queue.give_back(work);
        assert!(queue.leave() && !queue.leave());
        assert_eq!([queue.take().unwrap(), queue.take().unwrap()].map(|work| queue.proposal(work).index), [4, 5]);
        assert_eq!(queue.take(), None);
        assert!(queue.finish());
    }

    #[test]
    fn a_simulation_that_is_always_killed_is_set_aside_with_a_complaint() {
        let proposals = proposals();
        let queue = Queue::new(&proposals);
        queue.join();
        for _ in 0..KILLED_TRIES {
            let work = queue.take().unwrap();
            assert_eq!(queue.proposal(work).index, 4);
            queue.was_killed(work, "killed");
        }
        assert_eq!(queue.proposal(queue.take().unwrap()).index, 5);
        assert_eq!(queue.complaint().unwrap(), "simulation 4 was killed");
    }
}
