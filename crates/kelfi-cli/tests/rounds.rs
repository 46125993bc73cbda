//! Rounds from the command line: the same simulations and the same answer however they are made.

mod common;

use common::Bench;

/// θ and its square, each with a little noise that depends on the seed.
const SHARP: &str = "#!/bin/sh\necho \"$*\" >>started\nawk -v r=\"$1\" -v s=\"$2\" 'BEGIN { srand(s % 2147483647); print r + 0.05 * rand(), r * r + 0.05 * rand() }'\n";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.script("sim.sh", SHARP);
    bench.write("p.toml", &problem());
    bench
}

/// The usual problem with an observation that this simulator makes at 1.2.
fn problem() -> String {
    common::PROBLEM.replace("a = 1.5, b = 1.5", "a = 1.225, b = 1.465")
}

/// What `kelfi export` writes, as rows without their header.
fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn rounds_simulate_where_the_posterior_is_and_say_where_simulations_came_from() {
    let bench = bench();
    bench.run(&["run", "p.toml", "-n", "120", "-q", "-o", "many"]).expect(0);
    let summary: serde_json::Value = serde_json::from_str(&bench.read("many/summary.json")).unwrap();
    let rounds = summary["rounds"]["rounds"].as_array().unwrap();
    assert!(rounds.len() > 2, "{rounds:?}");
    let made: u64 = rounds.iter().map(|round| round["simulations"].as_u64().unwrap()).sum();
    assert_eq!(made, 120);
    assert!(bench.read("many/report.html").contains("How did the rounds find the posterior?"));
    bench.run(&["run", "p.toml", "-n", "120", "-q", "--rounds", "1", "-o", "one"]).expect(0);
    let width = |directory: &str| {
        let summary: serde_json::Value = serde_json::from_str(&bench.read(&format!("{directory}/summary.json"))).unwrap();
        assert_eq!(summary.get("rounds").is_some(), directory == "many");
        summary["parameters"]["rate"]["sd"].as_f64().unwrap()
    };
    // The noise is uniform over 0.05: its standard deviation bounds that of the posterior.
    assert!(width("many") < 0.03 && width("one") < 0.06, "{} {}", width("many"), width("one"));
    // Most of the later simulations are near the posterior, which lies around 1.2; draws of the prior are not.
    let near = |directory: &str| {
        let text = bench.export(directory);
        let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let at = header.iter().position(|name| *name == "rate").unwrap();
        rows(&text).iter().filter(|row| (row[at].parse::<f64>().unwrap() - 1.2).abs() < 0.15).count()
    };
    assert!(near("many") > 2 * near("one"), "{} {}", near("many"), near("one"));
}

#[test]
fn asking_and_telling_in_any_order_gives_the_run_again_and_a_round_waits_for_its_results() {
    let bench = bench();
    bench.run(&["run", "p.toml", "-n", "60", "--rounds", "3", "-q", "-o", "run"]).expect(0);
    bench.write("q.toml", &problem().replace("simulations = 30", "simulations = 60"));
    let mut handed = 0;
    while handed < 60 {
        let text = bench.run(&["ask", "q.toml", "-n", "50", "--rounds", "3", "-o", "told"]).expect(0).out;
        let mut asked = rows(&text);
        assert!(!asked.is_empty());
        handed += asked.len();
        bench.run(&["ask", "q.toml", "-n", "1", "--rounds", "3", "-o", "told"]).expect(2).says("still lacks");
        asked.reverse();
        let mut results = String::from("index,rate,a,b\n");
        for row in &asked {
            let made =
                std::process::Command::new(bench.path("sim.sh")).args([&row[2], &row[1]]).current_dir(bench.path(".")).output().unwrap();
            let values = String::from_utf8(made.stdout).unwrap().trim().replace(' ', ",");
            results.push_str(&format!("{},{},{values}\n", row[0], row[2]));
        }
        bench.write("results.csv", &results);
        bench.run(&["tell", "told", "results.csv", "-q"]).expect(0);
    }
    bench.run(&["ask", "q.toml", "-n", "1", "--rounds", "3", "-o", "told"]).expect(2).says("nothing is left to simulate");
    let parameters = |directory: &str| rows(&bench.export(directory)).into_iter().map(|row| row[1].clone()).collect::<Vec<_>>();
    assert_eq!(parameters("told"), parameters("run"));
    bench.run(&["learn", "told", "-q"]);
    let mean = |directory: &str| {
        let summary: serde_json::Value = serde_json::from_str(&bench.read(&format!("{directory}/summary.json"))).unwrap();
        summary["parameters"]["rate"]["mean"].as_f64().unwrap().to_bits()
    };
    assert_eq!(mean("told"), mean("run"));
}

#[test]
fn a_larger_budget_continues_with_more_rounds_and_nothing_is_made_twice() {
    let bench = bench();
    bench.run(&["run", "p.toml", "-n", "60", "--rounds", "auto", "-q"]);
    let first = bench.export("p");
    let calls = bench.calls();
    bench.run(&["run", "p.toml", "-n", "90", "--rounds", "auto", "-q"]);
    assert!(bench.export("p").starts_with(&first), "what was made is kept");
    assert_eq!(bench.calls(), calls + 30);
}

#[test]
fn a_run_killed_in_its_rounds_ends_with_the_bits_of_one_that_was_not_for_any_number_of_jobs_and_threads() {
    let bench = bench();
    let arguments = |out, at_once| ["run", "p.toml", "-n", "60", "--rounds", "3", "-q", "-j", at_once, "--threads", at_once, "-o", out];
    bench.run(&arguments("whole", "1"));
    // One kill in each of the three rounds of 30, 15 and 15, counted by what is recorded.
    for wanted in [10, 35, 50] {
        let mut child = bench.command(&arguments("killed", "2")).spawn().unwrap();
        let began = std::time::Instant::now();
        let recorded =
            || kelfi_run::Store::read(&bench.path("killed/store.sqlite")).and_then(|store| store.counts()).map_or(0, |c| c.all());
        while recorded() < wanted && began.elapsed() < std::time::Duration::from_secs(60) {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    bench.run(&arguments("killed", "8"));
    assert_eq!(bench.export("killed"), bench.export("whole"));
    assert_eq!(bench.read("killed/samples.csv"), bench.read("whole/samples.csv"));
}

#[test]
fn a_tolerance_that_was_given_is_used_in_rounds_too() {
    let bench = bench();
    bench.run(&["run", "p.toml", "-n", "100", "--rounds", "2", "--epsilon", "0.2", "-q"]);
    let summary: serde_json::Value = serde_json::from_str(&bench.read("p/summary.json")).unwrap();
    assert_eq!(summary["hyperparameters"]["model"], "kernel-means");
    assert_eq!(summary["hyperparameters"]["epsilon"], serde_json::json!([0.2, 0.2]));
    assert_eq!(summary["rounds"]["rounds"].as_array().unwrap().len(), 2);
}

#[test]
fn a_number_of_rounds_that_makes_no_sense_is_refused() {
    let bench = bench();
    bench.run(&["run", "p.toml", "--rounds", "0"]).expect(2).says("at least 1");
    bench.run(&["run", "p.toml", "--rounds", "few"]).expect(2).says("auto");
}
