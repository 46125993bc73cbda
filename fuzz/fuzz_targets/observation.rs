//! Observations in a CSV beside the problem file.
#![no_main]
#![allow(dead_code)]

#[path = "../../crates/kelfi-cli/src/failure.rs"]
mod failure;
#[path = "../../crates/kelfi-cli/src/problem/mod.rs"]
mod problem;
#[path = "../../crates/kelfi-cli/src/reading.rs"]
mod reading;

use libfuzzer_sys::fuzz_target;

const PROBLEM: &str = "[[parameter]]\nname = \"rate\"\nprior = { normal = { mean = 0, std = 1 } }\n[observation]\nfile = \"y.csv\"\n";

fuzz_target!(|bytes: &[u8]| {
    let directory = tempfile::tempdir().expect("a directory for the observation");
    std::fs::write(directory.path().join("y.csv"), bytes).expect("room for the observation");
    if let Ok(problem) = problem::ProblemFile::parse(&directory.path().join("p.toml"), PROBLEM) {
        assert!(problem.observation.iter().all(|value| value.is_finite()));
    }
});
