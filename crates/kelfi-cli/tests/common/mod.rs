//! What the tests of the command share: a directory of their own and the command in it.
#![allow(dead_code)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Prints the parameter and a number that depends on the seed; leaves a mark that it was started.
pub const SIMULATOR: &str =
    "#!/bin/sh\necho \"$*\" >>started\nawk -v r=\"$1\" -v s=\"$2\" 'BEGIN { srand(s % 2147483647); print r + rand(), r * r + rand() }'\n";

/// A problem for [`SIMULATOR`].
pub const PROBLEM: &str = r#"name = "small"
seed = 1
simulations = 30

[simulator]
command = ["./sim.sh", "{rate}", "{seed}"]

[[parameter]]
name = "rate"
prior = { uniform = { low = 0.0, high = 2.0 } }

[observation]
values = { a = 1.5, b = 1.5 }
"#;

/// A directory with scripts and problems, removed in the end.
pub struct Bench(tempfile::TempDir);

impl Bench {
    /// With [`SIMULATOR`] as sim.sh and [`PROBLEM`] as p.toml.
    pub fn new() -> Self {
        let bench = Self(tempfile::tempdir().unwrap());
        bench.script("sim.sh", SIMULATOR);
        bench.write("p.toml", PROBLEM);
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn script(&self, name: &str, text: &str) {
        self.write(name, text);
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The command with these arguments, in this directory.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kelfi"));
        command.current_dir(self.0.path()).args(arguments).env("COLUMNS", "100");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::new(self.command(arguments).output().unwrap())
    }

    /// The store of a run directory as ordered CSV.
    pub fn export(&self, directory: &str) -> String {
        let mut bytes = Vec::new();
        kelfi_run::Store::read(&self.path(directory).join("store.sqlite")).unwrap().export_csv(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// How often the simulator was started.
    pub fn calls(&self) -> usize {
        std::fs::read_to_string(self.path("started")).map_or(0, |text| text.lines().count())
    }
}

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn new(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// The output, if the exit code is this one.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub fn says(self, word: &str) -> Self {
        assert!(self.err.contains(word) || self.out.contains(word), "no {word:?} in\n{}\n{}", self.out, self.err);
        self
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
