//! Outputs that are data sets, from the problem file to the report.

mod common;

use common::{Bench, Ran};

/// About thirty pairs around (mean, -mean), one a line; every tenth seed fails.
const SIMULATOR: &str = r#"#!/bin/sh
case $2 in *7) exit 3;; esac
awk -v m="$1" -v s="$2" '
function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
BEGIN { srand(s); n = 25 + int(10 * rand()); for (i = 0; i < n; i++) print m + normal(), 1000 * (normal() - m) }'
"#;

const PROBLEM: &str = r#"name = "pairs"
seed = 1
simulations = 80

[simulator]
command = ["./pairs.sh", "{mean}", "{seed}"]

[outputs]
rows = true

[[parameter]]
name = "mean"
prior = { normal = { mean = 0.0, std = 2.0 } }

[observation]
file = "observed.csv"
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.script("pairs.sh", SIMULATOR);
    bench.write("d.toml", PROBLEM);
    bench.write("observed.csv", &observed(&bench, "1.0"));
    bench
}

/// The rows of a simulation with this mean as a table.
fn observed(bench: &Bench, mean: &str) -> String {
    let made = std::process::Command::new(bench.path("pairs.sh")).args([mean, "12345"]).output().unwrap();
    let rows = String::from_utf8(made.stdout).unwrap().replace(' ', ",");
    format!("a,b\n{rows}")
}

fn summary(bench: &Bench, place: &str) -> serde_json::Value {
    serde_json::from_str(&bench.read(&format!("{place}/summary.json"))).unwrap()
}

/// A run with few rounds' worth of checks may end with 6.
fn done(ran: &Ran) {
    assert!([Some(0), Some(6)].contains(&ran.code), "{}\n{}", ran.out, ran.err);
}

#[test]
fn rows_are_simulated_learned_from_exported_imported_and_asked_again() {
    let bench = bench();
    done(&bench.run(&["run", "d.toml", "-q", "--rounds", "1"]));
    let found = summary(&bench, "d");
    let mean = &found["parameters"]["mean"];
    assert!((mean["mean"].as_f64().unwrap() - 1.0).abs() < 0.5 && mean["sd"].as_f64().unwrap() < 0.7, "{mean}");
    assert_eq!(
        (&found["hyperparameters"]["model"], found["hyperparameters"]["epsilon"].as_array().unwrap().len()),
        (&"kernel-means".into(), 1)
    );
    assert!(found["comparison"]["reason"].as_str().unwrap().contains("raw data sets"));
    assert!(found["simulations"]["failed"].as_u64().unwrap() > 0);
    let scales = &found["data"]["length_scales"];
    assert!(scales["b"].as_f64().unwrap() > 300.0 * scales["a"].as_f64().unwrap(), "each column has its own unit: {scales}");
    assert!(bench.read("d/report.html").contains("maximum mean discrepancy"));
    // Tables have a line for each row.
    for format in ["csv", "npz"] {
        let file = format!("data.{format}");
        bench.run(&["export", "d", "-o", &file]).expect(0).says("80 simulations in");
        bench.run(&["import", "d.toml", &file, "-o", format]).expect(0).says("80 new");
        done(&bench.run(&["run", format, "-q", "-n", "80", "--rounds", "1"]));
        assert_eq!(bench.read(&format!("{format}/samples.csv")), bench.read("d/samples.csv"), "{format}");
    }
    assert!(bench.read("data.csv").lines().count() > 1000);
    // The run directory stands for itself, and another data set can be asked about.
    std::fs::remove_file(bench.path("observed.csv")).unwrap();
    bench.run(&["report", "d", "-q"]).expect(0);
    bench.write("other.csv", &observed(&bench, "-1.5"));
    done(&bench.run(&["infer", "d", "--name", "other", "--observation", "other.csv", "-q"]));
    let moved = summary(&bench, "d/answers/other")["parameters"]["mean"]["mean"].as_f64().unwrap();
    assert!((moved + 1.5).abs() < 0.7, "{moved}");
    bench.run(&["infer", "d", "--name", "x", "--observation", "a=1,b=2"]).expect(2).says("give a CSV file");
    bench.run(&["infer", "d", "--observations", "other.csv"]).expect(2).says("data sets of many rows");
    bench.run(&["run", "d", "--model", "location-scale"]).expect(2).says("the location-scale model of raw data sets");
    bench.run(&["compare", "d/problem.toml"]).expect(2).says("methods are compared on statistics");
}

#[test]
fn a_low_rank_solver_takes_data_sets_and_a_saved_model_keeps_it() {
    let bench = bench();
    let of = |solver: &str| {
        done(&bench.run(&["run", "d.toml", "-q", "--rounds", "1", "--solver", solver, "-o", solver]));
        summary(&bench, solver)
    };
    let (exact, low) = (of("exact"), of("low-rank"));
    let reached = &low["hyperparameters"]["low_rank"];
    assert!(reached["rank"].as_u64().unwrap() < 80 && reached["error"].as_f64().unwrap() <= 1e-6, "{reached}");
    assert!(exact["hyperparameters"]["low_rank"].is_null());
    // A search may end one step of its rounding apart: a thousandth of the posterior's width.
    let number = |found: &serde_json::Value, name: &str| found["parameters"]["mean"][name].as_f64().unwrap();
    let sd = number(&exact, "sd");
    for name in ["mean", "sd"] {
        assert!((number(&exact, name) - number(&low, name)).abs() < 1e-3 * sd, "{name}: {exact} {low}");
    }
    // The saved model is the low-rank one, to the bit.
    let samples = bench.read("low-rank/samples.csv");
    bench.run(&["sample", "low-rank", "-q", "--samples", "2000"]).expect(0);
    assert_eq!(bench.read("low-rank/samples.csv"), samples);
    assert!(bench.read("low-rank/model.json").contains("\"low-rank\""));
    bench.write("other.csv", &observed(&bench, "-1.5"));
    done(&bench.run(&["infer", "low-rank", "--name", "other", "--observation", "other.csv", "-q", "--solver", "low-rank"]));
    let other = summary(&bench, "low-rank/answers/other");
    assert!(other["hyperparameters"]["low_rank"]["rank"].is_u64(), "{other}");
    assert!((number(&other, "mean") + 1.5).abs() < 0.7, "{other}");
}

#[test]
fn rounds_go_on_with_data_sets() {
    let bench = bench();
    done(&bench.run(&["run", "d.toml", "-q", "-n", "120", "--rounds", "2"]));
    let found = summary(&bench, "d");
    assert_eq!(found["rounds"]["rounds"].as_array().unwrap().len(), 2);
    assert!((found["parameters"]["mean"]["mean"].as_f64().unwrap() - 1.0).abs() < 0.5);
    let samples = bench.read("d/samples.csv");
    bench.run(&["learn", "d", "-q"]);
    done(&bench.run(&["sample", "d", "-q", "-n", "1000"]));
    assert!(!samples.is_empty());
}

#[test]
fn ask_and_tell_take_a_line_for_each_row() {
    let bench = bench();
    bench.write("d.toml", &PROBLEM.replace("[simulator]\ncommand = [\"./pairs.sh\", \"{mean}\", \"{seed}\"]\n", ""));
    let asked = bench.run(&["ask", "d.toml", "-n", "3", "-o", "d"]);
    assert_eq!(asked.code, Some(0), "{}{}", asked.out, asked.err);
    bench.write("told.csv", "index,a,b\n0,1,2\n0,3,4\n2,5,6\n1,,\n");
    bench.run(&["tell", "d", "told.csv"]).expect(0).says("3 new");
    let table = bench.export("d");
    let of = |index: &str| table.lines().filter(|line| line.starts_with(&format!("{index},"))).count();
    assert_eq!((of("0"), of("1"), of("2")), (2, 1, 1), "{table}");
    bench.write("bad.csv", "index,a,b\n0,1,x\n0,3,4\n");
    bench.run(&["tell", "d", "bad.csv"]).expect(2).says("line 2");
}

#[test]
fn check_shows_the_first_rows() {
    let bench = bench();
    let seen = bench.run(&["check", "d.toml", "--seed", "3"]);
    assert!(seen.out.contains(" rows\n") && seen.out.contains("a = ") && seen.out.contains(", b = "), "{}{}", seen.out, seen.err);
    let json = bench.run(&["check", "d.toml", "--seed", "3", "--json"]).json();
    assert!(json["rows"].as_array().unwrap().len() >= 25 && json["statistics"].is_null());
}

#[test]
fn what_cannot_be_rows_is_refused_by_line() {
    let bench = bench();
    let says = |problem: &str, word: &str| {
        bench.write("bad.toml", problem);
        bench.run(&["run", "bad.toml"]).expect(2).says(word);
    };
    says(&PROBLEM.replace("rows = true", "rows = 1"), "expected true or false");
    says(&PROBLEM.replace("rows = true", "series = true"), "there is no such key");
    says(&PROBLEM.replace("rows = true", ""), "rows = true");
    says(&PROBLEM.replace("file = \"observed.csv\"", "values = { a = [1.0, 2.0], b = [1.0] }"), "`b` has 1 value and `a` has 2");
    says(&PROBLEM.replace("file = \"observed.csv\"", "values = { a = 1.0 }"), "expected a list of numbers");
    bench.write("observed.csv", "a,b\n1,2\n3,x\n");
    says(PROBLEM, "is \"x\" in line 3");
    bench.write("observed.csv", "a,b\n");
    says(PROBLEM, "there is no row");
    says("[simulator]\nbuiltin = \"blowfly\"\n[outputs]\nrows = true\n", "blowfly gives statistics");
}
