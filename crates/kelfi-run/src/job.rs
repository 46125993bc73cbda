//! One of the parallel jobs of a run: takes work, calls the simulator, hands on what is certain and gives back what the machine spoiled.

use crate::queue::{Queue, Work};
use crate::store::{Origin, Proposal, Record, Source};
use crate::task::{Settled, simulator_seed};
use crate::{Cancellation, Outcome, RunPlan, Session, Status, Task};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

/// First and longest pause of the last job while the machine has nothing to spare.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How long the last job waits for the machine before it gives up.
const PATIENCE: Duration = Duration::from_secs(120);

/// Longest time between two looks at a request to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// One of the parallel jobs.
pub(crate) struct Job<'a, 'b> {
    plan: &'a RunPlan<'b>,
    queue: &'a Queue<'a>,
    stop: Cancellation,
    sender: SyncSender<Record>,
    held: Vec<Call>,
    pause: Duration,
    waited: Duration,
}

/// A call whose outcome may still wait for certainty.
struct Call {
    work: Work,
    task: Task,
    outcome: Outcome,
    took: Duration,
}

/// How a job stands after its last results.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Well,
    /// The machine failed.
    Strained,
    /// Nobody wants more.
    Over,
}

impl<'a, 'b> Job<'a, 'b> {
    /// A job that the queue counts already.
    pub fn new(plan: &'a RunPlan<'b>, queue: &'a Queue<'a>, stop: Cancellation, sender: SyncSender<Record>) -> Self {
        Self { plan, queue, stop, sender, held: Vec::new(), pause: FIRST_PAUSE, waited: Duration::ZERO }
    }

    /// Calls until there is nothing left to do, a stop is asked for, nobody listens, or the machine wants fewer at once.
    pub fn work(mut self) {
        let mut session = self.plan.simulator.session();
        while !self.stop.is_requested() {
            let work = self.queue.take();
            if let Some(work) = work {
                let call = self.call(work, |task, stop| session.call(task, stop));
                self.held.push(call);
            }
            match self.settle(&mut *session, work.is_none()) {
                State::Over => return,
                State::Strained if self.queue.leave() => return,
                State::Strained => self.wait_for_the_machine(),
                State::Well => {}
            }
            // What a doubtful end gave back is still there to be taken.
            if work.is_none() && self.queue.finish() {
                return;
            }
        }
        self.settle(&mut *session, true);
    }

    fn call(&self, work: Work, call: impl FnOnce(&Task, &Cancellation) -> Outcome) -> Call {
        let RunPlan { seed, seeds, .. } = self.plan;
        let Proposal { index, parameters, .. } = self.queue.proposal(work).clone();
        let task = Task { index, seed: seeds.seed(*seed, index), seed64: simulator_seed(*seed, index), parameters };
        let began = Instant::now();
        let outcome = call(&task, &self.stop);
        Call { work, task, outcome, took: began.elapsed() }
    }

    /// Hands on what is certain by now. Nothing is held afterwards unless certainty is still to come.
    fn settle(&mut self, session: &mut dyn Session, last: bool) -> State {
        match session.settle(last, &self.stop) {
            Settled::Pending => State::Well,
            Settled::Certain => self.hand_on_all(|_, call| call),
            // Those who asked to stop do not want to wait for all of it again.
            Settled::Doubtful if self.stop.is_requested() => State::Over,
            Settled::Doubtful => self.hand_on_all(|job, doubtful| job.call(doubtful.work, |task, stop| session.call_alone(task, stop))),
        }
    }

    /// Hands on every call that is held, after `made` has had a look at it.
    fn hand_on_all(&mut self, mut made: impl FnMut(&Self, Call) -> Call) -> State {
        let mut worst = State::Well;
        for call in std::mem::take(&mut self.held) {
            let call = made(self, call);
            match self.hand_on(call) {
                State::Well => {}
                State::Strained => worst = State::Strained,
                State::Over => return State::Over,
            }
        }
        worst
    }

    /// Sends a result to be recorded, or gives back what is none.
    fn hand_on(&mut self, call: Call) -> State {
        let Call { work, task, outcome, took } = call;
        match outcome.status {
            Status::Interrupted => State::Over,
            Status::Shortage => {
                if self.waited >= PATIENCE {
                    self.queue.give_up(outcome.message);
                }
                self.queue.give_back(work);
                State::Strained
            }
            Status::Killed => {
                self.queue.was_killed(work, outcome.message.lines().next().unwrap_or_default());
                State::Strained
            }
            _ => {
                let origin = self.queue.proposal(work).origin;
                (self.pause, self.waited) = (FIRST_PAUSE, Duration::ZERO);
                if self.sender.send(record(task, outcome, took, origin)).is_ok() { State::Well } else { State::Over }
            }
        }
    }

    /// The last job waits a little, longer each time.
    fn wait_for_the_machine(&mut self) {
        let until = Instant::now() + self.pause;
        while Instant::now() < until && !self.stop.is_requested() {
            std::thread::sleep(GLANCE);
        }
        self.waited += self.pause;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }
}

fn record(task: Task, outcome: Outcome, took: Duration, origin: Origin) -> Record {
    let Task { index, seed, parameters, .. } = task;
    Record { index, parameters, outcome, seed: Some(seed), seconds: Some(took.as_secs_f64()), source: Source::Run, origin }
}
