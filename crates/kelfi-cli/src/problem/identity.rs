//! What makes a problem the same problem: what its simulations depend on, and what only inference depends on.

use super::{ProblemFile, SimulatorSource};
use kelfi::Prior;
use kelfi_run::checksum::Checksum;
use kelfi_run::{Seeds, seed, store};
use serde_json::{Map, Value, json};

/// The key under which everything stands that leaves simulations valid when it changes.
const INFERENCE_ONLY: &str = "observation";

impl ProblemFile {
    /// The problem as a store with these seeds keeps it.
    pub fn identity(&self, seeds: Seeds) -> store::StoredProblem {
        let observation = self.observation_identity();
        let mut text = json!({ "parameter": self.priors(), "simulator": self.simulator_identity(), INFERENCE_ONLY: observation });
        // Built-in simulators have streams of their own, and stores without the key have seeds of 64 bits.
        if seeds == Seeds::Short && !matches!(self.simulator, Some(SimulatorSource::Builtin(_))) {
            text[seed::KEY] = json!(31);
        }
        // That statistics are repeats is for inference alone to know.
        if self.outputs.in_rows() {
            text[store::OUTPUTS] = json!(self.outputs);
        }
        store::StoredProblem {
            text: text.to_string(),
            parameters: self.prior.names().to_vec(),
            statistics: self.statistics.clone(),
            seed: self.seed,
        }
    }

    /// Each observed statistic; of rows, how many there are and their fingerprint.
    fn observation_identity(&self) -> Map<String, Value> {
        if self.outputs.in_rows() {
            let bytes: Vec<u8> = self.observation.iter().flat_map(|value| value.to_le_bytes()).collect();
            return Map::from_iter([
                ("rows".to_owned(), json!(self.observed_rows())),
                ("checksum".to_owned(), json!(Checksum::of(&bytes).hex())),
            ]);
        }
        self.statistics.iter().cloned().zip(self.observation.iter().map(|&value| json!(value))).collect()
    }

    fn priors(&self) -> Value {
        match &self.prior {
            Prior::Independent(prior) => {
                self.prior.names().iter().cloned().zip(prior.marginals().iter().map(|marginal| json!(marginal))).collect()
            }
            other => json!(other),
        }
    }

    fn simulator_identity(&self) -> Value {
        match &self.simulator {
            None => Value::Null,
            Some(SimulatorSource::Builtin(name)) => json!({ "builtin": name }),
            Some(SimulatorSource::Program(program)) => json!({ "command": program.command, "protocol": program.protocol }),
        }
    }
}

/// The differences that make recorded simulations useless, and whether there are others.
pub fn differences(now: &store::StoredProblem, stored: &store::StoredProblem) -> (Vec<String>, bool) {
    let harmless = |line: &String| line.starts_with(&format!("{INFERENCE_ONLY}."));
    let (other, grave): (Vec<String>, Vec<String>) = now.differences_from(stored).into_iter().partition(harmless);
    (grave, !other.is_empty())
}
