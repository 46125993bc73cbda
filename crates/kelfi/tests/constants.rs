//! The constants of a model stand in its `constants.rs`, each with its reason.

use std::fs;
use std::path::{Path, PathBuf};

const MODELS: [&str; 3] = ["location_scale", "kernel_means", "summaries"];

/// Numbers that change nothing that is learned: how work is cut, how fine an integral is taken, how often a bar moves, what mathematics says.
const BESIDE_THEIR_LOOPS: [&str; 15] = [
    "EXPECTED",
    "GOLDEN",
    "MEMBERS_PER_TASK",
    "MOST_NODES",
    "NODES_PER_STD",
    "NODES_PER_TASK",
    "PLACES_AT_ONCE",
    "QUERIES_PER_TASK",
    "REACH",
    "ROWS_AT_ONCE",
    "ROWS_PER_TASK",
    "SHARE",
    "SMALL",
    "SQRT_2PI",
    "TOGETHER",
];

fn folder(model: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model").join(model)
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// Name of the constant that a line declares, if its type is a number or made of numbers.
fn number(line: &str) -> Option<&str> {
    let declared = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(super) ").strip_prefix("const ")?;
    let (name, rest) = declared.split_once(": ")?;
    let of = rest.trim_start_matches(['(', '[']);
    ["f64", "usize", "u64", "u32"].iter().any(|kind| of.starts_with(kind)).then_some(name)
}

/// Names of the numbers that the code of a file declares, without its tests.
fn numbers(text: &str) -> Vec<&str> {
    text.split("#[cfg(test)]").next().unwrap_or_default().lines().filter_map(number).collect()
}

/// Names of the numbers that have no comment of their own on the line above.
fn without_reason(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.windows(2).filter(|pair| !pair[0].trim_start().starts_with("///"));
    pairs.filter_map(|pair| number(pair[1])).collect()
}

#[test]
fn every_number_that_a_model_rests_on_stands_in_one_file() {
    let mut astray = vec![];
    for path in MODELS.iter().flat_map(|model| sources(&folder(model))).filter(|path| !path.ends_with("constants.rs")) {
        let text = fs::read_to_string(&path).unwrap();
        let names = numbers(&text).into_iter().filter(|name| !BESIDE_THEIR_LOOPS.contains(name));
        astray.extend(names.map(|name| format!("{}: {name}", path.display())));
    }
    assert!(astray.is_empty(), "move to constants.rs with a reason:\n{}", astray.join("\n"));
}

#[test]
fn every_constant_has_its_reason() {
    for model in MODELS {
        let text = fs::read_to_string(folder(model).join("constants.rs")).unwrap();
        assert!(!numbers(&text).is_empty(), "{model}");
        assert_eq!(without_reason(&text), [""; 0], "{model}");
    }
}

#[test]
fn a_constant_astray_or_without_reason_is_found() {
    assert_eq!(numbers("use x;\nconst MARGIN: f64 = 8.0;\npub const LENGTHS: [f64; 2] = [1.0, 2.0];\n"), ["MARGIN", "LENGTHS"]);
    assert_eq!(numbers("pub const NONE: Self = Self;\n#[cfg(test)]\nconst CLOSE: f64 = 1e-3;"), [""; 0]);
    assert_eq!(without_reason("/// Why.\npub const A: f64 = 1.0;\npub const B: usize = 2;"), ["B"]);
}
