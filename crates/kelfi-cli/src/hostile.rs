//! ProblemFile files, observations and arrays of strangers: refused with a sentence or read, never a panic, never without end.

use crate::commands::npz;
use crate::problem::ProblemFile;
use kelfi::testing::Mutations;
use std::io::{Cursor, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;

const PROBLEM: &str = r#"name = "small"
seed = 1
simulations = 30
[simulator]
command = ["sh", "-c", "echo {rate} {delay} {seed}"]
timeout = "60s"
retries = 1
on_failure = "zero"
[[parameter]]
name = "rate"
prior = { log_uniform = { low = 0.01, high = 10.0 } }
[[parameter]]
name = "delay"
prior = { truncated_normal = { mean = 2.0, std = 0.5, low = 0.0 } }
[observation]
values = { a = 1.5, "b c" = -1.5e-3 }
"#;

/// A message people can read: a fact, and advice on a line of its own.
#[track_caller]
fn is_a_sentence(message: &str) {
    assert!(message.contains("\n  "), "no advice in {message:?}");
    assert!(message.chars().all(|c| c == '\n' || !c.is_control()), "{message:?}");
}

#[test]
fn damaged_problem_files_are_refused_with_a_sentence_or_read() {
    let (mut read, mut refused) = (0, 0);
    for bytes in Mutations::of(PROBLEM.as_bytes(), 1).take(3_000) {
        let Ok(text) = String::from_utf8(bytes) else { continue };
        match ProblemFile::parse(Path::new("p.toml"), &text) {
            Ok(problem) => {
                read += 1;
                assert!(problem.theta(0).iter().all(|value| value.is_finite()), "{text}");
            }
            Err(failure) => {
                refused += 1;
                is_a_sentence(&failure.message);
            }
        }
    }
    assert!(read > 20 && refused > 500, "{read} read, {refused} refused");
}

#[test]
fn nesting_without_end_is_refused() {
    for nested in [format!("a = {}", "[".repeat(100_000)), format!("a = {}", "{ a = ".repeat(100_000)), "a.".repeat(100_000)] {
        is_a_sentence(&ProblemFile::parse(Path::new("p.toml"), &nested).unwrap_err().message);
    }
}

#[test]
fn damaged_observations_are_refused_with_a_sentence_or_read() {
    let directory = tempfile::tempdir().unwrap();
    let problem = PROBLEM.split("[observation]").next().unwrap().to_owned() + "[observation]\nfile = \"y.csv\"\n";
    let path = directory.path().join("p.toml");
    let (mut read, mut refused) = (0, 0);
    for bytes in Mutations::of(b"a,b c\n1.5,-1.5e-3\n", 2).take(1_500) {
        std::fs::write(directory.path().join("y.csv"), bytes).unwrap();
        match ProblemFile::parse(&path, &problem) {
            Ok(problem) => {
                read += 1;
                assert!(problem.observation.iter().all(|value| value.is_finite()));
            }
            Err(failure) => {
                refused += 1;
                is_a_sentence(&failure.message);
            }
        }
    }
    assert!(read > 50 && refused > 300, "{read} read, {refused} refused");
}

fn array(header: &str, numbers: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(numbers);
    bytes
}

fn archive(arrays: &[(&str, Vec<u8>)], method: zip::CompressionMethod) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn numbers(count: usize) -> Vec<u8> {
    (0..count).flat_map(|k| (k as f64).to_le_bytes()).collect()
}

const HEADER: &str = "{'descr': '<f8', 'fortran_order': False, 'shape': (20,), }";

#[test]
fn damaged_arrays_are_refused_with_a_sentence_or_read() {
    let names = ["rate".to_owned(), "a".to_owned()];
    let names: Vec<&String> = names.iter().collect();
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        let good = archive(&[("rate.npy", array(HEADER, &numbers(20))), ("a.npy", array(HEADER, &numbers(20)))], method);
        assert_eq!(npz::as_csv(&good, &names).unwrap().iter().filter(|&&byte| byte == b'\n').count(), 21);
        for bytes in Mutations::of(&good, 4).take(3_000) {
            if let Err(message) = npz::as_csv(&bytes, &names) {
                is_a_sentence(&message);
            }
        }
    }
    // Damage to the header itself, which the checksum of an archive would hide.
    for header in Mutations::of(HEADER.as_bytes(), 6).take(3_000) {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header);
        bytes.extend(numbers(20));
        let file = archive(&[("rate.npy", bytes.clone()), ("a.npy", bytes)], zip::CompressionMethod::Stored);
        if let Err(message) = npz::as_csv(&file, &names) {
            is_a_sentence(&message);
        }
    }
}

#[test]
fn a_bomb_is_not_unpacked() {
    let names = ["rate".to_owned()];
    let names: Vec<&String> = names.iter().collect();
    let began = std::time::Instant::now();
    // 200 MB behind a header that announces twenty numbers, and a header that announces more than any problem has.
    let mut long = array(HEADER, &numbers(20));
    long.resize(200_000_000, 0);
    let bomb = archive(&[("rate.npy", long)], zip::CompressionMethod::Deflated);
    assert!(bomb.len() < 1_000_000);
    let packed = began.elapsed();
    let message = npz::as_csv(&bomb, &names).unwrap_err();
    assert!(message.contains("more than the 20"), "{message}");
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }";
    let message = npz::as_csv(&archive(&[("rate.npy", array(header, &[]))], zip::CompressionMethod::Stored), &names).unwrap_err();
    assert!(message.contains("at most 10000000 simulations"), "{message}");
    assert!(began.elapsed() - packed < std::time::Duration::from_secs(1));
}
