//! Exit codes that scripts rely on, and what stands beside them.

mod common;

use common::{Bench, PROBLEM, Ran};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

#[test]
fn the_first_command_of_the_readme_gives_a_posterior_and_checks() {
    let bench = Bench::new();
    let problem = common::root().join("examples/blowfly.toml");
    let ran = bench.run(&["run", problem.to_str().unwrap(), "-o", "out"]).expect(0);
    for word in ["log_P", "log_tau", "95 % interval", "negative_mass", "samples.csv"] {
        assert!(ran.out.contains(word), "{}", ran.out);
    }
    assert!(
        ran.err.lines().all(|line| line.ends_with(" left")),
        "no bar where stderr is not a terminal, a line every 30 s at most: {}",
        ran.err
    );
    assert_eq!(bench.read("out/samples.csv").lines().count(), 2001);
    let summary: serde_json::Value = serde_json::from_str(&bench.read("out/summary.json")).unwrap();
    assert_eq!(summary["simulations"], serde_json::json!({ "ok": 300, "failed": 0 }));
}

#[test]
fn a_failed_check_ends_with_6_and_one_line_though_everything_is_written() {
    let bench = Bench::new();
    bench.write("slip.toml", &PROBLEM.replace("b = 1.5", "b = 1500.0"));
    for command in [["run", "slip.toml", "-q"], ["learn", "slip", "-q"], ["report", "slip", "-q"]] {
        let ran = bench.run(&command).expect(6);
        assert!(ran.out.is_empty(), "{}", ran.out);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(ran.err.contains("`b` was observed as 1500; the simulations lie between"), "{}", ran.err);
        assert!(!ran.err.starts_with("error"), "{}", ran.err);
    }
    for file in ["store.sqlite", "model.json", "samples.csv", "summary.json", "report.html"] {
        assert!(bench.has(&format!("slip/{file}")), "{file}");
    }
    let ran = bench.run(&["run", "slip.toml", "--json"]).expect(6);
    let summary: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let failed: Vec<&str> =
        summary["checks"].as_array().unwrap().iter().filter(|c| c["status"] == "fail").map(|c| c["name"].as_str().unwrap()).collect();
    assert!(failed.contains(&"range"), "{failed:?}");
    assert!(bench.read("slip/report.html").contains("Do not use this result yet"));
}

#[test]
fn the_summary_has_the_promised_shape() {
    let bench = Bench::new();
    let summary = bench.run(&["run", "p.toml", "--json"]).expect(0).json();
    let mut written: serde_json::Value = serde_json::from_str(&bench.read("p/summary.json")).unwrap();
    for key in ["files", "checksum"] {
        assert!(written.as_object_mut().unwrap().remove(key).is_some(), "only the file has {key}");
    }
    assert_eq!(summary, written);
    assert_eq!((&summary["problem"], &summary["seed"], &summary["kelfi"]), (&"small".into(), &1.into(), &env!("CARGO_PKG_VERSION").into()));
    let learned = &summary["hyperparameters"];
    assert_eq!(learned["objective"], "loo");
    assert_eq!(learned["epsilon"].as_array().unwrap().len(), 2);
    assert_eq!(learned["length_scale"].as_array().unwrap().len(), 1);
    for key in ["regularization", "score", "log_marginal_likelihood"] {
        assert!(learned[key].is_f64(), "{key}");
    }
    assert!(learned["at_bound"].is_array());
    for key in ["mean", "sd", "mode", "q025", "q50", "q975"] {
        assert!(summary["parameters"]["rate"][key].is_f64(), "{key}");
    }
    let ends = summary["parameters"]["rate"]["calibrated_95"].as_array().unwrap();
    assert!(ends[0].as_f64().unwrap() < ends[1].as_f64().unwrap());
    for key in ["observed", "epsilon", "relevance"] {
        assert!(summary["statistics"]["b"][key].is_f64(), "{key}");
    }
    let names: Vec<&str> = summary["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    for name in [
        "negative_mass",
        "support",
        "effective_simulations",
        "hyperparameter_at_bound",
        "failed_simulations",
        "range",
        "calibration",
        "predictive",
    ] {
        assert!(names.contains(&name), "{name}");
    }
    for key in ["simulate", "learn", "sample"] {
        assert!(summary["seconds"][key].is_f64(), "{key}");
    }
}

#[test]
fn a_simulator_that_always_fails_ends_with_4_and_its_message_and_can_be_mended() {
    let bench = Bench::new();
    // Slow enough that failures are counted while the next ones run, also on a busy machine.
    bench.script("sim.sh", "#!/bin/sh\necho >>started\nsleep 0.2\necho 'no such model' >&2\nexit 3\n");
    bench.run(&["run", "p.toml", "-j", "1"]).expect(4).says("no such model").says("exit code 3");
    assert!(bench.calls() < 30, "it stops early");
    bench.run(&["inspect", "p"]).expect(0).says("no such model").says("no model yet");
    bench.script("sim.sh", common::SIMULATOR);
    bench.run(&["run", "p.toml"]).expect(0).says("posterior from 30 simulations\n");
}

#[test]
fn failures_are_kept_or_left_out_or_end_the_run_as_told() {
    let bench = Bench::new();
    let sometimes = "#!/bin/sh\ncase $2 in *[05]) exit 1;; esac\necho \"$1 $1\"\n";
    bench.script("sim.sh", sometimes);
    let failed = |out: &str| {
        let summary: serde_json::Value = serde_json::from_str(&bench.read(&format!("{out}/summary.json"))).unwrap();
        let share =
            summary["checks"].as_array().unwrap().iter().find(|check| check["name"] == "failed_simulations").unwrap()["value"].clone();
        (summary["simulations"]["failed"].as_u64().unwrap(), share.as_f64().unwrap())
    };
    bench.run(&["run", "p.toml", "-q"]).expect(0);
    let (count, share) = failed("p");
    assert!(count > 0 && share > 0.0);
    // A model with failed simulations can be read back.
    bench.run(&["sample", "p", "-n", "7", "-q"]).expect(0);
    assert_eq!(bench.read("p/samples.csv").lines().count(), 8);

    bench.write("drop.toml", &PROBLEM.replace("[simulator]", "[simulator]\non_failure = \"drop\""));
    bench.run(&["run", "drop.toml", "-q"]).expect(0);
    assert_eq!(failed("drop"), (count, 0.0));

    bench.write("abort.toml", &PROBLEM.replace("[simulator]", "[simulator]\non_failure = \"abort\""));
    bench.run(&["run", "abort.toml"]).expect(4).says("on_failure is \"abort\"");
    bench.script("sim.sh", common::SIMULATOR);
    bench.run(&["run", "abort.toml", "-q", "--accept-changed-simulator"]).expect(0);
    assert_eq!(failed("abort"), (0, 0.0));
}

#[test]
fn a_store_in_use_or_damaged_ends_with_3() {
    let bench = Bench::new();
    bench.run(&["run", "p.toml", "-q"]).expect(0);
    let held = kelfi_run::Store::open(&bench.path("p/store.sqlite")).unwrap();
    bench.run(&["run", "p.toml"]).expect(3).says("in use by process");
    bench.run(&["inspect", "p"]).expect(0).says("30 ok");
    drop(held);
    bench.write("p/store.sqlite", "this is no database");
    bench.run(&["run", "p.toml"]).expect(3).says("is not a kelfi store");
    assert_eq!(bench.read("p/store.sqlite"), "this is no database");
}

#[test]
fn inference_that_cannot_be_done_ends_with_5_and_the_reason() {
    let bench = Bench::new();
    bench.run(&["run", "p.toml", "-n", "2"]).expect(5).says("at least 3");
}

#[test]
fn a_directory_that_cannot_be_written_is_named_and_nothing_is_started() {
    let bench = Bench::new();
    // A file where the directory should be is refused for every user, root included.
    bench.write("occupied", "");
    bench.run(&["run", "p.toml", "-o", "occupied"]).expect(2).says("occupied is not a directory");
    bench.write("problem.toml", PROBLEM);
    bench.run(&["run", "problem.toml", "-o", "."]).expect(2).says("another problem file");
    assert_eq!(bench.read("problem.toml"), PROBLEM);

    // Root may write anywhere, so the test runs as nobody where it can choose.
    std::fs::create_dir(bench.path("locked")).unwrap();
    let mode = |name: &str, mode: u32| std::fs::set_permissions(bench.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    mode("locked", 0o555);
    mode("", 0o755);
    std::fs::copy(env!("CARGO_BIN_EXE_kelfi"), bench.path("kelfi")).unwrap();
    let mut command = std::process::Command::new(bench.path("kelfi"));
    command.current_dir(bench.path("")).args(["run", "p.toml", "-o", "locked/out"]);
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } == 0 {
        command.uid(65534).gid(65534);
    }
    Ran::new(command.output().unwrap()).expect(2).says("locked/out").says("cannot be written").says("--out");
    assert_eq!(bench.calls(), 0);
}

#[test]
fn a_directory_without_a_run_is_bad_input() {
    let bench = Bench::new();
    for command in [&["learn", "."][..], &["sample", "."], &["inspect", "."], &["ask", "."], &["tell", ".", "p.toml"]] {
        bench.run(command).expect(2).says("there is no store");
    }
    bench.run(&["frobnicate"]).expect(2);
    bench.run(&["simulate", "p.toml", "-q"]).expect(0);
    bench.run(&["sample", "p"]).expect(2).says("kelfi learn p");
}
