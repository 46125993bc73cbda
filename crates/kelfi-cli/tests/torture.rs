//! A run that is killed, starved of disk and damaged again and again: `./test --slow`.

mod common;

use common::{Bench, Ran};
use kelfi::random::{Purpose, stream};
use rand::RngExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

const KILLS: usize = 500;
const FLIPS: usize = 1_000;
const FULL_DISKS: usize = 30;

/// The exit codes of a run that can be continued or that says what is wrong; a panic would be 101.
const CODES: [i32; 8] = [0, 1, 2, 3, 4, 5, 6, 130];

/// How often something is done: as usual, or the share in percent that KELFI_TORTURE says.
fn times(usual: usize) -> usize {
    let share = std::env::var("KELFI_TORTURE").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    (usual * share).div_ceil(100)
}

/// What a finished run answers: the simulations by value, the learned model without its seconds, and the samples.
fn answer(bench: &Bench, directory: &str) -> (String, String, String) {
    let mut model: serde_json::Value = serde_json::from_str(&bench.read(&format!("{directory}/model.json"))).unwrap();
    model.as_object_mut().unwrap().remove("seconds");
    let simulations: Vec<String> =
        bench.export(directory).lines().map(|line| line.split(',').take(4).collect::<Vec<_>>().join(",")).collect();
    (simulations.join("\n"), model["hyperparameters"].to_string(), bench.read(&format!("{directory}/samples.csv")))
}

#[test]
#[ignore = "takes minutes"]
fn five_hundred_kills_at_random_moments_continue_to_the_same_bits() {
    let bench = Bench::new();
    let mut rng = stream(1, Purpose::Experiment, 1);
    bench.run(&["run", "p.toml", "-n", "200", "-o", "undisturbed"]).expect(0);
    let whole = answer(&bench, "undisturbed");
    let (mut kills, mut runs) = (0, 0);
    while kills < times(KILLS) {
        runs += 1;
        let directory = format!("run{runs}");
        let arguments = ["run", "p.toml", "-n", "200", "-o", &directory];
        loop {
            let mut child = bench.command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            std::thread::sleep(Duration::from_micros(rng.random_range(0..400_000)));
            let ended = child.try_wait().unwrap();
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            match ended.and_then(|status| status.code()) {
                Some(0) => break,
                Some(code) => panic!("code {code}: {}", String::from_utf8_lossy(&output.stderr)),
                None => kills += 1,
            }
        }
        bench.run(&arguments).expect(0);
        assert!(answer(&bench, &directory) == whole, "{directory}, after {kills} kills");
        std::fs::remove_dir_all(bench.path(&directory)).unwrap();
    }
    println!("{kills} kills in {runs} runs");
}

/// Every file of a run directory that an answer is made of.
fn files(directory: &Path) -> Vec<PathBuf> {
    ["store.sqlite", "model.json", "problem.toml", "samples.csv", "summary.json"].iter().map(|name| directory.join(name)).collect()
}

fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A flipped bit is told by `inspect --verify`, or `run` gives the same answer as before (having mended what it told, or because the bit meant
/// nothing). An answer that changes without a word is the failure.
#[test]
#[ignore = "takes minutes"]
fn a_thousand_flipped_bits_never_change_the_answer_in_silence() {
    let bench = Bench::new();
    let mut rng = stream(2, Purpose::Experiment, 2);
    bench.run(&["run", "p.toml", "-n", "60", "--samples", "50", "-o", "whole"]).expect(0);
    let whole = answer(&bench, "whole");
    let (mut told, mut same, mut silent) = (0, 0, vec![]);
    for flip in 0..times(FLIPS) {
        copy(&bench.path("whole"), &bench.path("flipped"));
        let all = files(&bench.path("flipped"));
        let path = &all[flip % all.len()];
        let mut bytes = std::fs::read(path).unwrap();
        let at = rng.random_range(0..bytes.len());
        let bit = rng.random_range(0..8);
        bytes[at] ^= 1 << bit;
        std::fs::write(path, &bytes).unwrap();
        let verified = bench.run(&["inspect", "flipped", "--verify"]);
        let again = bench.run(&["run", "p.toml", "-n", "60", "--samples", "50", "-o", "flipped"]);
        for ran in [&verified, &again] {
            assert!(CODES.contains(&ran.code.unwrap()) && !ran.err.contains("panicked"), "{}", ran.err);
        }
        if verified.code != Some(0) || !verified.err.is_empty() || again.code != Some(0) || !again.err.is_empty() {
            told += 1;
        } else if answer(&bench, "flipped") == whole {
            same += 1;
        } else {
            silent.push(format!("{} byte {at} bit {bit}", path.display()));
        }
    }
    println!("{told} told, {same} without consequence, {} silent", silent.len());
    assert!(silent.is_empty(), "{silent:#?}");
}

/// `ulimit -f` ends every file at so many blocks of 512 bytes, as a full disk does.
#[test]
#[ignore = "takes minutes"]
fn a_disk_that_is_full_at_thirty_places_is_told_and_the_run_continues_to_the_same_bits() {
    let bench = Bench::new();
    bench.run(&["run", "p.toml", "-n", "100", "-o", "undisturbed"]).expect(0);
    let whole = answer(&bench, "undisturbed");
    let largest = std::fs::metadata(bench.path("undisturbed/report.html")).unwrap().len() / 512 + 2;
    let (mut told, places) = (0, times(FULL_DISKS));
    for place in 0..places {
        let blocks = 1 + largest * place as u64 / places as u64;
        let directory = format!("full{place}");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$KELFI\" run p.toml -n 100 -o {directory}");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script]).current_dir(bench.path(".")).env("KELFI", env!("CARGO_BIN_EXE_kelfi"));
        let ran = Ran::new(shell.output().unwrap());
        assert!(ran.code.is_some_and(|code| CODES.contains(&code)) && !ran.err.contains("panicked"), "{:?}: {}", ran.code, ran.err);
        if ran.code != Some(0) {
            told += 1;
            assert!(ran.err.starts_with("error: ") || ran.err.contains("\nerror: "), "{}", ran.err);
        }
        bench.run(&["run", "p.toml", "-n", "100", "-o", &directory]).expect(0);
        assert!(answer(&bench, &directory) == whole, "full at {blocks} blocks");
        std::fs::remove_dir_all(bench.path(&directory)).unwrap();
    }
    println!("{told} of {places} runs met a full disk");
    assert!(told > places / 3, "only {told} runs met a full disk");
}
