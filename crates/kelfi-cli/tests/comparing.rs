//! `kelfi methods` and `kelfi compare`: tables, pages, files, and what is refused.

mod common;

use common::{Bench, Ran};
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;

/// A mean of four noisy values, by awk.
const OWN: &str = r#"
name = "own problem"

[simulator]
command = ["awk", "BEGIN { srand({seed}); for (i = 0; i < 4; i++) s += {mu} + rand() - 0.5; print s / 4, {spread} * rand() }"]

[[parameter]]
name = "mu"
prior = { normal = { mean = 0.0, std = 1.0 } }

[[parameter]]
name = "spread"
prior = { uniform = { low = 0.5, high = 2.0 } }

[observation]
values = { mean = 0.3, noise = 0.4 }
"#;

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
    assert!(
        ran.err.lines().all(|line| line.ends_with(" left")),
        "no bar where stderr is not a terminal, a line every 30 s at most: {}",
        ran.err
    );
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
    assert!(page.contains("Which method is best?") && page.contains("How do results improve with more simulations?"));
    for kind in ["svg", "png", "csv"] {
        assert!(bench.has(&format!("figures/error.{kind}")) && bench.has(&format!("figures/c2st-by-simulations.{kind}")), "{kind}");
    }
    assert!(std::fs::read(bench.path("figures/error.png")).unwrap().starts_with(b"\x89PNG"));

    let again = bench.run(&[&base[..], &["--json", "--threads", "1", "-o", "again"]].concat()).expect(0).json();
    assert_eq!(without_seconds(again), without_seconds(kept));
}

/// The same as a worker that notes when it is started.
const WORKER: &str = r#"
echo started >> starts.txt
while read -r line; do
  number() { echo "$line" | sed "s/.*\"$1\": *\([-0-9.e]*\).*/\1/"; }
  awk -v i="$(number index)" -v s="$(number seed)" -v m="$(number mu)" \
    'BEGIN { srand(s); printf "{\"index\": %s, \"statistics\": {\"mean\": %f, \"noise\": %f}}\n", i, m + rand() - 0.5, rand() }'
done
"#;

#[test]
fn a_worker_is_started_once_for_each_thread_and_not_for_every_call() {
    let bench = Bench::new();
    bench.write("worker.sh", WORKER);
    let from = OWN.find("command").unwrap();
    let to = from + OWN[from..].find('\n').unwrap();
    bench.write("own.toml", &OWN.replace(&OWN[from..to], "command = [\"sh\", \"worker.sh\"]\nprotocol = \"worker\""));
    let compare = ["compare", "own.toml", "--methods", "rejection,mcmc-abc", "--budget", "30", "--repeats", "1", "--threads", "2"];
    bench.run(&compare).expect(0).says("mcmc-abc");
    let calls = bench.read("compare-own/calls.txt").lines().count();
    let starts = bench.read("starts.txt").lines().count();
    assert!(calls >= 45 && starts <= 4, "{starts} workers for {calls} calls");
}

#[test]
fn a_simulator_that_always_fails_is_quoted_and_asked_again_when_it_can_be_called() {
    let bench = Bench::new();
    let from = OWN.find("command").unwrap();
    let to = from + OWN[from..].find('\n').unwrap();
    let of = |command: &str| OWN.replace(&OWN[from..to], command);
    bench.write(
        "own.toml",
        &of("command = [\"sh\", \"-c\", \"test -e library || { echo no such library >&2; exit 1; }; echo {mu} {spread} # {seed}\"]"),
    );
    let compare = ["compare", "own.toml", "--methods", "rejection,mcmc-abc", "--budget", "20", "--repeats", "1"];
    bench
        .run(&compare)
        .expect(5)
        .says("all 20 simulations failed")
        .says("of the simulator failed; the first said:")
        .says("no such library");
    // What was wrong was not the simulator's own: the same command goes on.
    bench.write("library", "");
    bench.run(&compare).expect(0).says("mcmc-abc");
    // A program that does not exist is refused before anything is written.
    bench.write("absent.toml", &of("command = [\"no-such-program\", \"{mu}\", \"{spread}\", \"{seed}\"]"));
    bench.run(&["compare", "absent.toml"]).expect(2).says("no-such-program");
    assert!(!bench.path("compare-absent").exists());
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_is_written() {
    let bench = Bench::new();
    bench.run(&["compare", "bananna"]).expect(2).says("\"bananna\"").says("did you mean `banana`");
    bench.run(&["compare", "banana", "--methods", "kelfi,rejektion"]).expect(2).says("\"rejektion\"").says("did you mean `rejection`");
    bench.run(&["compare", "banana", "--methods", "all,rejektion"]).expect(2).says("did you mean `rejection`");
    bench.run(&["compare", "absent.toml"]).expect(2).says("absent.toml");
    bench.write("without.toml", &OWN[OWN.find("[[parameter]]").unwrap()..]);
    bench.run(&["compare", "without.toml", "-o", "nothing"]).expect(2).says("no simulator");
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
    assert!(bench.read("compare-exponential_gamma/compare.html").contains("Which runs gave no answer?"));
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

#[test]
fn a_problem_of_ones_own_is_judged_without_the_truth_and_no_call_is_made_twice() {
    let bench = Bench::new();
    bench.write("own.toml", OWN);
    let base = ["compare", "own.toml", "--methods", "rejection,rejection-regression,mcmc-abc,prior", "--budget", "40", "--repeats", "2"];
    let ran = bench.run(&base).expect(0).says("own problem: 2 repeats").says("predictive:").says("left out:").says("apart:");
    assert!(!ran.out.contains("gain:"), "nobody knows the truth: {}", ran.out);
    let read = || serde_json::from_str::<Value>(&bench.read("compare-own/compare.json")).unwrap();
    let found = read();
    let row = |method: &str| found["summary"].as_array().unwrap().iter().find(|row| row["method"] == method).unwrap().clone();
    assert!(row("rejection")["left_out"]["mean"].as_f64().unwrap() > 0.0, "it knows more than the prior: {}", row("rejection"));
    assert!(row("mcmc-abc")["left_out"].is_null(), "it asks for its simulations, which would cost its calls again");
    assert!(row("mcmc-abc")["calls"]["mean"] == 40.0 && row("prior")["calls"]["mean"] == 0.0);
    assert!(row("rejection")["predictive"]["mean"].as_f64() < row("prior")["predictive"]["mean"].as_f64());
    assert!(row("rejection")["apart"]["mean"].is_f64() && row("rejection")["error"].is_null() && row("rejection")["c2st"].is_null());
    assert!(bench.read("compare-own/compare.html").contains("Distance of simulations at posterior samples"));

    // Everything is kept: not a call, not a run is made again, and the seconds are those of before.
    let calls = bench.read("compare-own/calls.txt");
    bench.run(&base).expect(0);
    assert_eq!((read(), bench.read("compare-own/calls.txt")), (found.clone(), calls.clone()));
    // A run that was lost is made again from the calls that are known.
    std::fs::remove_file(bench.path("compare-own/runs/mcmc-abc-40-1.json")).unwrap();
    bench.run(&base).expect(0);
    assert_eq!((without_seconds(read()), bench.read("compare-own/calls.txt")), (without_seconds(found.clone()), calls.clone()));
    // Another simulator begins anew.
    bench.write("own.toml", &OWN.replace("- 0.5", "- 0.6"));
    bench.run(&base).expect(0);
    assert!(without_seconds(read()) != without_seconds(found) && bench.read("compare-own/calls.txt") != calls);
}

#[test]
fn a_comparison_goes_on_where_it_was_left() {
    let bench = Bench::new();
    let compare = |repeats: &str, out: &str| {
        bench
            .run(&["compare", "banana", "--methods", "rejection,smc-abc", "--budget", "60", "--repeats", repeats, "-o", out, "--json"])
            .expect(0)
            .json()
    };
    let all = compare("3", "at-once");
    compare("2", "in-two");
    let seconds = |value: &Value, run: usize| value["runs"][run]["seconds"].clone();
    let first: Value = serde_json::from_str(&bench.read("in-two/compare.json")).unwrap();
    let continued = compare("3", "in-two");
    assert_eq!(seconds(&continued, 0), seconds(&first, 0), "it was not made again");
    assert_eq!(without_seconds(continued), without_seconds(all));
    bench.write("in-two/runs/rejection-60-0.json", "{torn");
    assert_eq!(without_seconds(compare("3", "in-two")), without_seconds(compare("3", "at-once")));
}
