//! The example in R runs as its README says, where R is installed.

use std::process::Command;

mod common;
use common::Bench;

#[test]
fn the_r_example_runs_and_its_result_is_read_into_r() {
    if !Command::new("Rscript").arg("--version").output().is_ok_and(|ran| ran.status.success()) {
        println!("Rscript is not installed: skipped");
        return;
    }
    let bench = Bench::new();
    for name in ["problem.toml", "simulate.R", "read.R"] {
        std::fs::copy(common::root().join("examples/r").join(name), bench.path(name)).unwrap();
    }
    bench.run(&["check", "problem.toml"]).expect(0).says("the same output again");
    let ran = bench.run(&["run", "problem.toml", "-n", "60", "--rounds", "1"]);
    assert!(matches!(ran.code, Some(0 | 6)), "{ran:?}");
    let read = Command::new("Rscript").args(["--vanilla", "read.R", "problem"]).current_dir(bench.path("")).output().unwrap();
    let said = String::from_utf8_lossy(&read.stdout).into_owned();
    assert!(
        read.status.success() && said.contains("97.5%") && said.contains("capacity"),
        "{said}\n{}",
        String::from_utf8_lossy(&read.stderr)
    );
}
