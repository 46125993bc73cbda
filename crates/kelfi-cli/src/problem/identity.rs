//! What makes a problem the same problem: what its simulations depend on, and what only inference depends on.

use super::{Problem, Simulator};
use kelfi::Prior;
use kelfi_run::{Seeds, seed, store};
use serde_json::{Map, Value, json};

/// The key under which everything stands that leaves simulations valid when it changes.
const INFERENCE_ONLY: &str = "observation";

impl Problem {
    /// The problem as a store with these seeds keeps it.
    pub fn identity(&self, seeds: Seeds) -> store::Problem {
        let observation: Map<String, Value> =
            self.statistics.iter().cloned().zip(self.observation.iter().map(|&value| json!(value))).collect();
        let mut text = json!({ "parameter": self.priors(), "simulator": self.simulator_identity(), INFERENCE_ONLY: observation });
        // Built-in simulators have streams of their own, and stores without the key have seeds of 64 bits.
        if seeds == Seeds::Short && !matches!(self.simulator, Some(Simulator::Builtin(_))) {
            text[seed::KEY] = json!(31);
        }
        store::Problem {
            text: text.to_string(),
            parameters: self.prior.names().to_vec(),
            statistics: self.statistics.clone(),
            seed: self.seed,
        }
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
            Some(Simulator::Builtin(name)) => json!({ "builtin": name }),
            Some(Simulator::Program(program)) => json!({ "command": program.command, "protocol": program.protocol }),
        }
    }
}

/// The differences that make recorded simulations useless, and whether there are others.
pub fn differences(now: &store::Problem, stored: &store::Problem) -> (Vec<String>, bool) {
    let harmless = |line: &String| line.starts_with(&format!("{INFERENCE_ONLY}."));
    let (other, grave): (Vec<String>, Vec<String>) = now.differences_from(stored).into_iter().partition(harmless);
    (grave, !other.is_empty())
}
