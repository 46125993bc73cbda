//! `kelfi methods` and `kelfi compare`: tables, pages, files, and what is refused.

mod common;

use common::{Bench, Ran};
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;

fn without_seconds(mut value: Value) -> Value {
    for list in ["summary", "runs"] {
        for row in value[list].as_array_mut().unwrap() {
            row.as_object_mut().unwrap().remove("seconds");
        }
    }
    value
}

#[test]
fn methods_are_listed() {
    let bench = Bench::new();
    bench
        .run(&["methods"])
        .expect(0)
        .says("kernel-means-mkml")
        .says("location-scale")
        .says("rejection-regression")
        .says("prior")
        .says("Beaumont");
    let listed = bench.run(&["methods", "--json"]).expect(0).json();
    let told = |m: &Value| m["name"].is_string() && ["description", "reference"].iter().all(|key| m[key].as_str().unwrap().len() > 10);
    assert!(listed.as_array().unwrap().len() > 30 && listed.as_array().unwrap().iter().all(told));
}

#[test]
fn a_comparison_gives_table_page_json_and_csv_and_threads_change_nothing() {
    let bench = Bench::new();
    let base = ["compare", "exponential-gamma", "--methods", "kelfi,rejection,prior", "--budget", "40,80", "--repeats", "3"];
    let ran =
        bench.run(&[&base[..], &["--figures", "figures"]].concat()).expect(0).says("exponential_gamma: 3 repeats").says("compare.html");
    assert!(ran.err.is_empty(), "no progress where stderr is no terminal: {}", ran.err);
    assert_eq!(ran.out.lines().filter(|line| line.trim_start().starts_with("rejection ")).count(), 2, "{}", ran.out);

    let kept: Value = serde_json::from_str(&bench.read("compare-exponential_gamma/compare.json")).unwrap();
    assert_eq!(
        (kept["repeats"].as_u64(), kept["runs"].as_array().unwrap().len()),
        (Some(3), 3 * 2 * (3 + 1)),
        "three methods and the exact posterior"
    );
    let row = |method: &str, budget: u64| {
        let found = |row: &&Value| row["method"] == method && row["budget"] == budget;
        kept["summary"].as_array().unwrap().iter().find(found).unwrap().clone()
    };
    for key in ["error", "covered_50", "covered_95", "gain", "c2st", "width", "seconds"] {
        assert!(row("kelfi", 80)[key]["mean"].is_f64() && row("kelfi", 80)[key]["standard_error"].is_f64(), "{key}");
    }
    assert_eq!(row("prior", 40)["gain"]["mean"], 0.0);
    assert!(row("kelfi", 80)["c2st"]["mean"].as_f64() < row("prior", 80)["c2st"]["mean"].as_f64());
    assert_eq!(row("rejection", 80)["failed"], 0);
    assert!(row("exact", 80)["error"]["mean"].is_f64() && row("exact", 80)["seconds"].is_null());

    let csv = bench.read("compare-exponential_gamma/compare.csv");
    assert!(csv.starts_with("method,simulations,repeat,calls,seconds,error,") && csv.lines().count() == 25, "{csv}");
    assert!(csv.lines().any(|line| line.starts_with("kelfi,80,2,80,")) && csv.lines().any(|line| line.starts_with("prior,80,2,0,")));
    let page = bench.read("compare-exponential_gamma/compare.html");
    assert!(page.contains("Which method answers best?") && page.contains("What do more simulations buy?"));
    for kind in ["svg", "png", "csv"] {
        assert!(bench.has(&format!("figures/error.{kind}")) && bench.has(&format!("figures/c2st-by-simulations.{kind}")), "{kind}");
    }
    assert!(std::fs::read(bench.path("figures/error.png")).unwrap().starts_with(b"\x89PNG"));

    let again = bench.run(&[&base[..], &["--json", "--threads", "1", "-o", "again"]].concat()).expect(0).json();
    assert_eq!(without_seconds(again), without_seconds(kept));
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_is_written() {
    let bench = Bench::new();
    bench.run(&["compare", "bananna"]).expect(2).says("\"bananna\"").says("did you mean `banana`");
    bench.run(&["compare", "banana", "--methods", "kelfi,rejektion"]).expect(2).says("\"rejektion\"").says("did you mean `rejection`");
    bench.run(&["compare", "p.toml"]).expect(2).says("kelfi problems");
    bench.run(&["compare", "banana", "--budget", "0"]).expect(2).says("--budget");
    bench.run(&["compare", "banana", "--budget", "100,many"]).expect(2).says("many");
    bench.run(&["compare", "banana", "--repeats", "0"]).expect(2).says("--repeats");
    bench.write("occupied", "");
    bench.run(&["compare", "banana", "-o", "occupied/here"]).expect(2).says("occupied/here").says("--out");
    assert!(!bench.has("compare-banana"));
}

#[test]
fn a_method_without_an_answer_is_named_with_its_reason() {
    let bench = Bench::new();
    let base = ["compare", "exponential_gamma", "--budget", "5", "--repeats", "2", "--methods"];
    let ran = bench.run(&[&base[..], &["location-scale,prior"]].concat()).expect(0);
    ran.says("location-scale gave no answer in 2 of 2 repeats").says("at least 10");
    assert!(bench.read("compare-exponential_gamma/compare.html").contains("Where was there no answer?"));
    bench.run(&[&base[..], &["location-scale"]].concat()).expect(5).says("no method gave an answer").says("at least 10");
}

#[test]
fn real_data_is_judged_by_simulations_at_the_answer() {
    let bench = Bench::new();
    let base =
        ["compare", "blowfly", "--observations", "own", "--methods", "rejection,prior", "--budget", "100", "--repeats", "2", "--json"];
    let found = bench.run(&base).expect(0).json();
    let row = &found["summary"][0];
    assert!(row["nmse"]["mean"].as_f64().unwrap() > 0.0);
    assert!(row["error"].is_null() && row["gain"].is_null() && row["c2st"].is_null(), "nobody knows the truth: {row}");
}

#[test]
fn an_interrupted_comparison_keeps_the_repeats_it_finished() {
    let bench = Bench::new();
    let arguments = ["compare", "exponential_gamma", "--methods", "rejection,prior", "--budget", "50", "--repeats", "100000", "-o", "out"];
    let child = bench.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(3));
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    Ran::new(child.wait_with_output().unwrap()).expect(130).says("of 100000 repeats to go").says("out");
    let kept: Value = serde_json::from_str(&bench.read("out/compare.json")).unwrap();
    let (done, planned) = (kept["repeats"].as_u64().unwrap(), kept["planned"].as_u64().unwrap());
    assert!(done > 0 && planned == 100_000 && kept["runs"].as_array().unwrap().len() as u64 == 3 * done);
    assert!(bench.read("out/compare.html").contains("Stopped early"));
}
