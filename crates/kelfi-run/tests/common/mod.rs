//! What the tests of runs share: scripts in a directory of their own, and proof that nothing is left behind.
#![allow(dead_code)]

use kelfi_run::store::StoredProblem;
use kelfi_run::{SimulatorProgram, Store};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A directory with scripts, and a mark in the environment of everything started from it.
pub struct Bench {
    pub directory: tempfile::TempDir,
    mark: String,
}

impl Bench {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mark = directory.path().file_name().unwrap().to_str().unwrap().to_owned();
        std::fs::create_dir(directory.path().join("work")).unwrap();
        Self { directory, mark }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A simulator with parameter `rate` and statistics `a`, `b`, run in the directory `work`.
    pub fn simulator(&self, program: &Path) -> SimulatorProgram {
        let mut simulator = SimulatorProgram::new([program.to_str().unwrap(), "{rate}", "{seed}", "{index}"], &["rate"], &["a", "b"]);
        simulator.timeout = Duration::from_millis(500);
        simulator.directory = Some(self.path().join("work"));
        simulator.environment = vec![("KELFI_TEST_MARK".into(), self.mark.clone().into())];
        simulator
    }

    pub fn problem(&self) -> StoredProblem {
        StoredProblem {
            text: "{\"name\":\"test\"}".into(),
            parameters: vec!["rate".into()],
            statistics: vec!["a".into(), "b".into()],
            seed: 1,
        }
    }

    pub fn store(&self) -> Store {
        Store::open_or_create(&self.path().join("store.sqlite"), &self.problem()).unwrap()
    }

    /// Processes that carry the mark, as (number, command line).
    pub fn left_behind(&self) -> Vec<(u32, String)> {
        let needle = format!("KELFI_TEST_MARK={}\0", self.mark);
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment.windows(needle.len()).any(|window| window == needle.as_bytes()) {
                found.push((
                    pid,
                    String::from_utf8_lossy(&std::fs::read(entry.path().join("cmdline")).unwrap_or_default()).replace('\0', " "),
                ));
            }
        }
        found
    }

    /// Names of the files in the directory, store and scripts included.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Resident memory of this process at its highest, in bytes.
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// Whether a python3 can be found; tests that need one say so when it is missing.
pub const PYTHON: &str = "/usr/bin/env python3";
