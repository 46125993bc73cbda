//! Runs of a comparison as files, each whole or not at all.

use crate::directory::Directory;
use kelfi::Error;
use kelfi_baselines::comparison::{Ledger, Run};
use serde::{Deserialize, Serialize};

/// One file for every run, in the folder `runs`.
pub struct Runs<'a> {
    directory: &'a Directory,
    /// Everything that a run depends on apart from its method, budget and repeat.
    plan: String,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    plan: String,
    run: Run,
}

impl<'a> Runs<'a> {
    /// The runs of this plan; those of another one are made again.
    pub fn new(directory: &'a Directory, plan: String) -> Self {
        Self { directory, plan }
    }
}

fn name(method: &str, budget: usize, repeat: usize) -> String {
    format!("runs/{method}-{budget}-{repeat}.json")
}

impl Ledger for Runs<'_> {
    fn kept(&self, method: &str, budget: usize, repeat: usize) -> Option<Run> {
        let text = std::fs::read(self.directory.file(&name(method, budget, repeat))).ok()?;
        let kept: Kept = serde_json::from_slice(&text).ok()?;
        let is_it = kept.plan == self.plan && (kept.run.method == method, kept.run.budget, kept.run.repeat) == (true, budget, repeat);
        // What gave no answer is asked again: perhaps the simulator can be called now.
        (is_it && kept.run.failure.is_none()).then_some(kept.run)
    }

    fn keep(&self, run: &Run) -> Result<(), Error> {
        let kept = Kept { plan: self.plan.clone(), run: run.clone() };
        let text = serde_json::to_vec(&kept).map_err(|error| Error::Format { reason: format!("a run cannot be written: {error}") })?;
        self.directory.write(&name(&run.method, run.budget, run.repeat), &text).map_err(|failure| Error::Format { reason: failure.message })
    }
}
