//! Outputs that are independent repeats of the same statistics, from the problem file to the report.

mod common;

use common::{Bench, Ran};

/// Three times a level with noise and twice the level with more noise.
const SIMULATOR: &str = r#"#!/bin/sh
awk -v m="$1" -v s="$2" '
function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
BEGIN { srand(s); for (i = 0; i < 3; i++) print m + normal(), 2 * m + 3 * normal() }'
"#;

const PROBLEM: &str = r#"name = "trials"
seed = 1
simulations = 100

[simulator]
command = ["./trials.sh", "{level}", "{seed}"]

[outputs]
repeats = 3

[[parameter]]
name = "level"
prior = { normal = { mean = 0.0, std = 2.0 } }

[observation]
values = { a1 = 1.4, b1 = 0.9, a2 = 0.2, b2 = 5.0, a3 = 1.1, b3 = 1.6 }
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.script("trials.sh", SIMULATOR);
    bench.write("r.toml", PROBLEM);
    bench
}

fn summary(bench: &Bench, place: &str) -> serde_json::Value {
    serde_json::from_str(&bench.read(&format!("{place}/summary.json"))).unwrap()
}

/// A small run may end with 6: a check may have failed.
fn done(ran: &Ran) {
    assert!([Some(0), Some(6)].contains(&ran.code), "{}\n{}", ran.out, ran.err);
}

#[test]
fn repeats_are_told_from_the_problem_file_to_the_report_and_do_not_change_simulations() {
    let bench = bench();
    bench.write("untold.toml", &PROBLEM.replace("repeats = 3", ""));
    done(&bench.run(&["run", "untold.toml", "-o", "d", "-q", "--rounds", "1", "--model", "location-scale"]));
    let untold = bench.read("d/samples.csv");
    // The section is added to a run that is there: nothing is simulated again, everything is learned again.
    done(&bench.run(&["run", "r.toml", "-o", "d", "-q", "--rounds", "1", "--model", "location-scale"]));
    assert_ne!(bench.read("d/samples.csv"), untold);
    let level = &summary(&bench, "d")["parameters"]["level"];
    // Precision 1/4 + 3 (1 + 4/9): the posterior is normal.
    let (precision, pull) = (0.25 + 3.0 * (1.0 + 4.0 / 9.0), (1.4 + 0.2 + 1.1) + (0.9 + 5.0 + 1.6) * 2.0 / 9.0);
    assert!((level["mean"].as_f64().unwrap() - pull / precision).abs() < 0.4 / precision.sqrt(), "{level}");
    assert!((level["sd"].as_f64().unwrap() * precision.sqrt() - 1.0).abs() < 0.2, "{level}");
    let report = bench.read("d/report.html");
    assert!(report.contains("3 independent repeats of 2 statistics") && report.contains("3 repeats of 2 statistics"));
    let model: serde_json::Value = serde_json::from_str(&bench.read("d/model.json")).unwrap();
    assert_eq!((&model["format"], &model["recorded"]["Statistics"]["repeats"]), (&5.into(), &3.into()));
    // Tables hold six statistics, and an answer to another observation knows the repeats.
    for format in ["csv", "npz"] {
        let file = format!("data.{format}");
        bench.run(&["export", "d", "-o", &file]).expect(0).says("100 simulations in");
        bench.run(&["import", "r.toml", &file, "-o", format]).expect(0).says("100 new");
        done(&bench.run(&["run", format, "-q", "-n", "100", "--rounds", "1", "--model", "location-scale"]));
        assert_eq!(bench.read(&format!("{format}/samples.csv")), bench.read("d/samples.csv"), "{format}");
    }
    let asked = ["infer", "d", "--name", "other", "--observation", "a1=2,b1=4,a2=3,b2=3,a3=2,b3=5", "-q", "--model", "location-scale"];
    done(&bench.run(&asked));
    let other = summary(&bench, "d/answers/other")["parameters"]["level"]["mean"].as_f64().unwrap();
    assert!((other - (7.0 + 12.0 * 2.0 / 9.0) / precision).abs() < 0.5 / precision.sqrt(), "{other}");
    done(&bench.run(&["infer", "d", "--name", "less", "--ignore", "b1,b2,b3", "-q"]));
    bench
        .run(&["infer", "d", "--name", "bad", "--ignore", "b2", "-q"])
        .expect(2)
        .says("`b2` is ignored and `b1`, another repeat of it, is not");
    // The kernel means model takes them as statistics, and says so.
    done(&bench.run(&["infer", "d", "--name", "kernel", "--model", "kernel-means", "-q"]));
    let checks = summary(&bench, "d/answers/kernel")["checks"].clone();
    let check = checks.as_array().unwrap().iter().find(|check| check["name"] == "repeats").unwrap().clone();
    assert_eq!(check["status"], "warn");
    assert!(check["message"].as_str().unwrap().contains("3 independent repeats of an output as 6 different statistics"), "{check}");
}

#[test]
fn rounds_are_made_with_repeats_and_go_on_where_they_were() {
    let bench = bench();
    done(&bench.run(&["run", "r.toml", "-q", "-n", "150", "--rounds", "2", "--model", "location-scale"]));
    let found = summary(&bench, "r");
    assert_eq!(found["rounds"]["rounds"].as_array().unwrap().len(), 2);
    let precision = 0.25 + 3.0 * (1.0 + 4.0 / 9.0);
    let pull: f64 = 2.7 + 7.5 * 2.0 / 9.0;
    assert!((found["parameters"]["level"]["mean"].as_f64().unwrap() - pull / precision).abs() < 0.4 / precision.sqrt());
    let samples = bench.read("r/samples.csv");
    std::fs::remove_file(bench.path("r/model.json")).unwrap();
    done(&bench.run(&["run", "r.toml", "-q", "-n", "150", "--rounds", "2", "--model", "location-scale"]));
    assert_eq!(bench.read("r/samples.csv"), samples);
}

#[test]
fn what_cannot_be_repeats_is_refused_by_line() {
    let bench = bench();
    let says = |problem: &str, word: &str| {
        bench.write("bad.toml", problem);
        bench.run(&["run", "bad.toml"]).expect(2).says(word);
    };
    says(&PROBLEM.replace("repeats = 3", "repeats = 4"), "bad.toml:9: `outputs.repeats`: 6 statistics are not 4 repeats of the same ones");
    says(&PROBLEM.replace("repeats = 3", "repeats = 0"), "give a whole number from 1");
    says(&PROBLEM.replace("repeats = 3", "repeats = \"3\""), "a whole number");
    says(&PROBLEM.replace("repeats = 3", "repeat = 3"), "did you mean `repeats`?");
    says(&PROBLEM.replace("repeats = 3", "repeats = 3\nrows = true"), "rows are repeats already");
}
