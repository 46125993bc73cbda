//! Whether a simulator's seeds do what they should: asked before a long run, told, and kept in seeds.json.

use crate::failure::Failure;
use crate::interrupt;
use crate::problem::ProblemFile;
use crate::show;
use kelfi_run::seed::simulator_seed;
use kelfi_run::{Protocol, SeedCheck, Seeds, SimulatorProgram, Status, Store, Task, files};
use serde::{Deserialize, Serialize};

/// Runs of at least so many simulations are worth three calls more.
const LONG: usize = 100;

/// How many parameters are tried until a simulation succeeds there.
const TRIES: usize = 3;

/// The file of a run directory that keeps what was found.
const NAME: &str = "seeds.json";

/// What was found; absent where a simulation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The same seed gave the same output.
    pub same_seed_same_output: Option<bool>,
    /// Another seed gave another output.
    pub other_seed_other_output: Option<bool>,
    /// A worker's answers have the index of their request.
    pub echoes_index: Option<bool>,
}

impl Finding {
    /// What three calls found.
    pub fn new(check: &SeedCheck, protocol: Protocol) -> Self {
        let echoes = (protocol == Protocol::Worker && check.trial.outcome.status.is_ok()).then(|| check.trial.echoes_index());
        Self { same_seed_same_output: check.repeats, other_seed_other_output: check.varies, echoes_index: echoes }
    }

    /// What the user should know, each with advice.
    pub fn remarks(&self, simulator: &SimulatorProgram) -> Vec<String> {
        let seed = if simulator.protocol == Protocol::Arguments { "{seed}" } else { "the \"seed\" it is sent" };
        let mut remarks = Vec::new();
        if !simulator.is_given_a_seed() {
            remarks.push(
                "the command has no {seed}\n  a simulator that seeds itself is not reproducible; pass \"{seed}\" if it draws random numbers"
                    .into(),
            );
        }
        if self.same_seed_same_output == Some(false) {
            remarks.push(format!(
                "the same seed gave different outputs, so the run is not reproducible\n  let the simulator take all its randomness from {seed}"
            ));
        } else if self.other_seed_other_output == Some(false) {
            remarks.push(format!(
                "another seed gave the same output at the same parameters\n  if the simulator draws random numbers, it ignores {seed}; if it is deterministic, this is expected"
            ));
        }
        if self.echoes_index == Some(false) {
            remarks.push(
                "the worker's answers have no \"index\"\n  they are saved in batches, when the worker has ended without error; add the \"index\" of the request to save each at once"
                    .into(),
            );
        }
        remarks
    }
}

/// The task of simulation `index`.
pub fn task(problem: &ProblemFile, seeds: Seeds, index: u64) -> Task {
    Task { index, seed: seeds.seed(problem.seed, index), seed64: simulator_seed(problem.seed, index), parameters: problem.theta(index) }
}

/// Before the first simulations of a long run: whether seeds do what they should. Its calls are not recorded and change nothing.
pub fn examine(
    problem: &ProblemFile,
    simulator: &SimulatorProgram,
    store: &Store,
    indices: &[u64],
    jobs: usize,
    quiet: bool,
) -> Result<(), Failure> {
    let path = store.path().with_file_name(NAME);
    let known = std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Finding>(&bytes).ok());
    let nothing = Finding { same_seed_same_output: None, other_seed_other_output: None, echoes_index: None };
    let finding = match known {
        Some(finding) => finding,
        None if (problem.simulations as usize) < LONG || store.counts()?.all() > 0 => nothing,
        None => match interrupt::with_programs(|| found(problem, simulator, Seeds::of(store.problem()), indices, jobs)) {
            Some(finding) => {
                let text = serde_json::to_vec_pretty(&finding).map_err(|error| Failure::unexpected(error.to_string()))?;
                files::write_bytes_atomically(&path, &text)?;
                finding
            }
            None => nothing,
        },
    };
    if !quiet {
        finding.remarks(simulator).iter().for_each(|remark| show::say(&format!("warning: {remark}")));
    }
    Ok(())
}

/// Three calls at the first parameters where the simulator succeeds. Nothing if it does not, or was interrupted.
fn found(problem: &ProblemFile, simulator: &SimulatorProgram, seeds: Seeds, indices: &[u64], jobs: usize) -> Option<Finding> {
    for &index in indices.iter().take(TRIES) {
        let (task, other) = (task(problem, seeds, index), task(problem, seeds, index + 1));
        let check = SeedCheck::make(simulator, &task, &other, jobs, interrupt::cancellation());
        match check.trial.outcome.status {
            Status::Ok => return Some(Finding::new(&check, simulator.protocol)),
            // A second time-out would be a long wait for a small thing.
            Status::Timeout | Status::Interrupted | Status::Shortage | Status::Killed => return None,
            _ => {}
        }
    }
    None
}
