//! Simulations and results as CSV.
#![no_main]

use kelfi_run::store::StoredProblem;
use kelfi_run::{Source, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let problem = StoredProblem { text: "{}".into(), parameters: vec!["r".into()], statistics: vec!["a".into(), "b".into()], seed: 1 };
    if let Ok(records) = import::read_csv(bytes, &problem, 0, Source::Import) {
        assert!(records.iter().all(|record| record.parameters.iter().all(|value| value.is_finite())));
    }
});
