//! ProblemFile files: read, or refused with a fact and advice.
#![no_main]
#![allow(dead_code)]

#[path = "../../crates/kelfi-cli/src/failure.rs"]
mod failure;
#[path = "../../crates/kelfi-cli/src/problem/mod.rs"]
mod problem;
#[path = "../../crates/kelfi-cli/src/reading.rs"]
mod reading;

use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    if let Err(failure) = problem::ProblemFile::parse(Path::new("/nonexistent/p.toml"), text) {
        assert!(failure.message.contains("\n  "), "no advice in {:?}", failure.message);
    }
});
