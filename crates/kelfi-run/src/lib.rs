//! Simulators as programs, and the store that keeps what they give.
//!
//! The modules stand in the order of a run: a [`SimulatorProgram`] is checked, [`run()`] calls it in parallel for every index that the
//! [`Store`] does not hold yet, each result is durable before it counts, and inference reads them back in the order of their index.
//! Only Unix is supported: ending a whole tree of processes needs sessions, process groups and (on Linux) subreapers.

#[cfg(not(unix))]
compile_error!("kelfi-run needs a Unix system: it ends whole process trees by means of sessions and process groups");

/// Checksums that tell rot and edits.
pub mod checksum;
/// What can go wrong with settings, stores and files.
pub mod error;
/// Files that appear whole or not at all.
pub mod files;
/// How one call of a simulator ended: a closed set.
pub mod status;

/// Calls that start a program for every simulation (protocols `arguments` and `json`).
mod once;
/// Numbers from what a program printed.
pub mod output;
/// Started programs, watched and ended with everything they started.
mod process;
/// The seeds a simulator is given.
pub mod seed;
/// A program as a simulator: command, protocol, limits.
pub mod simulator;
/// One call: index, parameters and seed, the same however often it is made.
pub mod task;
/// One call shown in full, and whether seeds do what they should.
pub mod trial;
/// Calls to a long-lived program, one line of JSON each way (protocol `worker`).
mod worker;

/// Stopping a run from outside, cleanly or at once.
pub mod cancellation;
/// Results made elsewhere, from CSV.
pub mod import;
/// One of the parallel jobs of a run.
mod job;
/// What is left to do, and how many at once the machine allows.
mod queue;
/// Many calls in parallel, recorded as they finish.
pub mod run;
/// The durable table of simulations.
pub mod store;

pub use cancellation::Cancellation;
pub use error::Error;
pub use run::{Ended, RunPlan, RunProgress, Summary, run};
pub use seed::Seeds;
pub use simulator::{Protocol, SimulatorProgram};
pub use status::Status;
pub use store::{Origin, Proposal, Record, Source, Store};
pub use task::{Function, Outcome, Session, Settled, Simulate, Task};
pub use trial::{SeedCheck, Trial};
