//! Run directories that were cut short, rotted or edited, simulators that changed, and failures that are repaired.

mod common;

use common::{Bench, PROBLEM, SIMULATOR};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;

fn sql(bench: &Bench, text: &str) {
    rusqlite::Connection::open(bench.path("p/store.sqlite")).unwrap().execute_batch(text).unwrap();
}

#[test]
fn a_run_directory_continues_by_its_name_and_inspect_tells_what_is_stale() {
    let bench = Bench::new();
    bench.run(&["run", "p.toml", "-q"]).expect(0);
    let fresh = bench.run(&["inspect", "p"]).expect(0).out;
    assert!(!fresh.contains("stale"), "{fresh}");
    bench.run(&["simulate", "p", "-n", "40", "-q"]).expect(0);
    assert_eq!(bench.calls(), 40);
    bench.run(&["inspect", "p"]).expect(0).says("the answer is from 30 simulations (30 ok), but there are 40 (40 ok)");
    bench.run(&["run", "p", "-q"]).expect(0);
    assert_eq!(bench.calls(), 40, "the budget of the last run is kept");
    std::fs::remove_file(bench.path("p/samples.csv")).unwrap();
    bench.run(&["inspect", "p"]).expect(0).says("samples.csv is missing; `kelfi sample p` makes it again");
    bench.run(&["sample", "p", "-q"]).expect(0);
    let text = bench.read("p/problem.toml").replace("a = 1.5", "a = 1.4");
    bench.write("p/problem.toml", &text);
    bench.run(&["inspect", "p"]).expect(0).says("the answer is for a = 1.500, but problem.toml has 1.400");
    let stale = bench.run(&["inspect", "p", "--json"]).expect(0).json()["stale"].clone();
    assert_eq!(stale.as_array().unwrap().len(), 1, "{stale}");
    std::fs::create_dir(bench.path("empty")).unwrap();
    bench.run(&["run", "empty"]).expect(2).says("there is no problem.toml in empty");
}

#[test]
fn a_changed_script_stops_a_run_before_it_mixes_two_simulators() {
    let bench = Bench::new();
    bench.run(&["run", "p.toml", "-q", "-n", "20"]).expect(0);
    bench.script("sim.sh", &SIMULATOR.replace("r * r", "2 * r * r"));
    bench.run(&["run", "p.toml", "-q", "-n", "20"]).expect(0).says("20 of 20 simulations were made by another version of sim.sh");
    bench
        .run(&["run", "p.toml", "-n", "30"])
        .expect(2)
        .says("20 of 20 simulations were made by another version of sim.sh")
        .says("--accept-changed-simulator");
    assert_eq!(bench.calls(), 20, "nothing was started");
    bench.run(&["run", "p.toml", "-q", "-n", "30", "--accept-changed-simulator"]).expect(0);
    assert_eq!(bench.calls(), 30);
    bench.run(&["inspect", "p"]).expect(0).says("20 of 30 simulations were made by another version of sim.sh");
    let summary: serde_json::Value = serde_json::from_str(&bench.read("p/summary.json")).unwrap();
    let check = summary["checks"].as_array().unwrap().iter().find(|check| check["name"] == "simulator").expect("the summary tells it");
    assert_eq!(check["status"], "warn");
    // Accepted once, it is no reason to stop again; the old version put back is another change.
    bench.run(&["run", "p.toml", "-q", "-n", "31"]).expect(0);
    bench.script("sim.sh", SIMULATOR);
    bench.run(&["run", "p.toml", "-q", "-n", "32"]).expect(2).says("11 of 31 simulations were made by another version of sim.sh");
    bench.run(&["run", "p.toml", "-q", "-o", "new"]).expect(0);
}

#[test]
fn files_among_the_arguments_are_part_of_the_simulator() {
    let bench = Bench::new();
    bench.write("settings.cfg", "a\n");
    bench.write("p.toml", &PROBLEM.replace("\"{seed}\"]", "\"{seed}\", \"--config=settings.cfg\"]"));
    bench.run(&["simulate", "p.toml", "-q"]).expect(0);
    bench.write("settings.cfg", "b\n");
    bench.run(&["simulate", "p.toml", "-n", "31"]).expect(2).says("another version of settings.cfg");
    bench.write("settings.cfg", "a\n");
    bench.run(&["simulate", "p.toml", "-n", "31", "-q"]).expect(0);
}

#[test]
fn one_bad_row_does_not_refuse_the_others_and_a_failure_is_repaired_by_telling_again() {
    let bench = Bench::new();
    bench.run(&["ask", "p.toml", "-n", "6"]).expect(0);
    bench.write("r.csv", "index,a,b\n0,1,1\n1,,\n2,oops,1\n99,1,1\n3,1\n4,2,2\n");
    let ran = bench.run(&["tell", "p", "r.csv"]).expect(2).says("3 new").says("3 of 6 rows were refused; the others were stored");
    for part in ["line 4: statistic `a` is \"oops\"", "line 5: simulation 99 was never asked for", "line 6: "] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    bench.write("again.csv", "index,a,b\n1,3,3\n0,1,1\n5,5,5\n");
    bench.run(&["tell", "p", "again.csv"]).expect(0).says("1 new; 1 repaired; 4 simulations succeeded, 0 failed");
    bench.write("other.csv", "index,a,b\n4,9,9\n2,2,2\n");
    let json = bench.run(&["tell", "p", "other.csv", "--json"]).expect(2).json();
    assert_eq!((&json["new"], &json["refused"][0]["line"]), (&1.into(), &2.into()));
    assert!(json["refused"][0]["reason"].as_str().unwrap().contains("simulation 4 is already recorded with other statistics"));
    assert!(bench.export("p").lines().any(|line| line.starts_with("4,") && line.contains(",2.0,2.0,ok")), "a success never changes");
}

#[test]
fn a_problem_file_may_change_in_any_way_until_a_simulation_has_succeeded() {
    let bench = Bench::new();
    bench.script("broken.sh", "#!/bin/sh\nexit 3\n");
    bench.write("p.toml", &PROBLEM.replace("sim.sh", "broken.sh"));
    bench.run(&["run", "p.toml", "-q"]).expect(4).says("the first 20 simulations all failed in the same way: exit code 3");
    bench.write("p.toml", &PROBLEM.replace("high = 2.0", "high = 1.9"));
    bench.run(&["run", "p.toml", "-q"]).expect(0).says("no simulation had succeeded; the run begins again");
    let made = bench.export("p");
    assert_eq!(made.lines().skip(1).filter(|line| line.contains(",ok")).count(), 30, "{made}");
    bench.run(&["inspect", "p", "--verify"]).expect(0);
    // From now on there is something to mix.
    bench.write("p.toml", PROBLEM);
    bench.run(&["run", "p.toml", "-q"]).expect(2).says("1.9 in the store, 2.0 now").says("--out");
}

#[test]
fn failures_are_made_again_when_asked_and_inspect_shows_one_of_each_kind() {
    let bench = Bench::new();
    bench.script("sim.sh", "#!/bin/sh\ncase $2 in *[12]) exit 1;; *3) echo 1;; *4) echo nan 1;; esac\necho \"$1 $1\"\n");
    bench.run(&["simulate", "p.toml", "-q", "-n", "60"]).expect(0);
    let text = bench.run(&["inspect", "p", "--failures", "1"]).expect(0).out;
    for status in ["(exit-code)", "(wrong-count)", "more failed in the same way"] {
        assert!(text.contains(status), "{status}: {text}");
    }
    bench.script("sim.sh", SIMULATOR);
    bench.run(&["simulate", "p.toml", "-n", "60", "--retry-failed"]).expect(2).says("--accept-changed-simulator");
    bench
        .run(&["simulate", "p.toml", "-n", "60", "--retry-failed", "--accept-changed-simulator"])
        .expect(0)
        .says("60 simulations succeeded, 0 failed");
}

#[test]
fn rows_that_rot_are_named_by_verify_and_simulated_again_by_run() {
    let bench = Bench::new();
    bench.run(&["run", "p.toml", "-q"]).expect(0);
    let (samples, export) = (bench.read("p/samples.csv"), bench.export("p"));
    bench.run(&["inspect", "p", "--verify"]).expect(0).says("30 simulations intact").says("model.json: intact");
    sql(&bench, "UPDATE simulation SET parameters = '[0.5]' WHERE id = 7; DELETE FROM simulation WHERE id = 11");
    for command in ["learn", "inspect"] {
        bench.run(&[command, "p"]).expect(3).says("is damaged").says("--verify");
    }
    bench.run(&["inspect", "p", "--verify"]).expect(3).says("2 simulations damaged or lost: 7, 11").says("`kelfi run p`");
    assert_eq!(bench.run(&["inspect", "p", "--verify", "--json"]).expect(3).json()["lost_indices"], serde_json::json!([7, 11]));
    bench.run(&["run", "p.toml", "-q"]).expect(0).says("2 simulations lost (7, 11), 28 kept");
    assert_eq!((bench.calls(), bench.export("p"), bench.read("p/samples.csv")), (32, export, samples));
    assert!(bench.has("p/store.sqlite.damaged"));
    bench.run(&["inspect", "p", "--verify"]).expect(0);
}

#[test]
fn what_was_imported_and_lost_is_told_with_the_way_on() {
    let bench = Bench::new();
    bench.write("data.csv", "rate,a,b\n0.5,1,1\n0.6,1,1.1\n0.7,1.2,1\n0.9,1,1.3\n");
    bench.run(&["import", "p.toml", "data.csv", "-q"]).expect(0);
    sql(&bench, "UPDATE simulation SET statistics = '[1.0,7.0]' WHERE id = 2");
    bench.run(&["run", "p.toml"]).expect(3).says("1 simulation lost (2), 3 kept").says("bring them in again");
    bench.run(&["inspect", "p"]).expect(0).says("not restored: 1");
    bench.run(&["import", "p.toml", "data.csv"]).expect(0).says("1 new");
    let text = bench.run(&["inspect", "p"]).expect(0).out;
    assert!(!text.contains("lost to damage"), "{text}");
}

#[test]
fn an_edited_model_or_summary_is_noticed_before_it_is_used() {
    let bench = Bench::new();
    bench.run(&["run", "p.toml", "-q"]).expect(0);
    let (model, summary, samples) = (bench.read("p/model.json"), bench.read("p/summary.json"), bench.read("p/samples.csv"));
    // One digit.
    let at = model.find("\"seconds\":").unwrap() - 30;
    let digit = at + model[at..].find(|c: char| c.is_ascii_digit()).unwrap();
    let mut edited = model.clone().into_bytes();
    edited[digit] = if edited[digit] == b'7' { b'8' } else { b'7' };
    bench.write("p/model.json", std::str::from_utf8(&edited).unwrap());
    bench.run(&["sample", "p"]).expect(3).says("model.json has changed since it was written").says("kelfi learn p");
    bench.run(&["inspect", "p"]).expect(0).says("model.json does not belong to this result");
    bench.run(&["inspect", "p", "--verify"]).expect(3).says("model.json: changed since it was written");
    bench.run(&["run", "p.toml", "-q"]).expect(0).says("model.json has changed since it was written; learning again");
    assert_eq!(bench.read("p/samples.csv"), samples);
    bench.write("p/summary.json", &summary.replacen("\"mean\": ", "\"mean\": 1", 1));
    bench.run(&["inspect", "p"]).expect(0).says("summary.json has changed since it was written");
    // Files of older versions have no checksum and are taken as they are.
    let cut = model.rfind(",\"checksum\"").unwrap();
    bench.write("p/model.json", &format!("{}}}", &model[..cut]));
    bench.run(&["sample", "p", "-q"]).expect(0);
    bench.run(&["inspect", "p", "--verify"]).says("model.json: without checksum");
}

#[test]
fn a_kill_in_the_first_moments_never_spoils_a_directory() {
    for trial in 0..25_u64 {
        let bench = Bench::new();
        let mut child =
            bench.command(&["simulate", "p.toml", "-q", "-n", "3"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(trial * 2500));
        child.kill().unwrap();
        // Not waited for: continued within milliseconds of the kill.
        bench.run(&["simulate", "p.toml", "-n", "3"]).expect(0).says("3 simulations succeeded");
        child.wait().unwrap();
    }
    for blocks in [0, 1, 4, 8, 16, 32] {
        let bench = Bench::new();
        let program = env!("CARGO_BIN_EXE_kelfi");
        let limited = format!("ulimit -f {blocks}; exec {program} simulate p.toml -q -n 3");
        let output = std::process::Command::new("sh").args(["-c", &limited]).current_dir(bench.path("")).output().unwrap();
        assert!(output.status.signal().is_some() || output.status.code().is_some());
        bench.run(&["simulate", "p.toml", "-n", "3"]).expect(0).says("3 simulations succeeded");
    }
}

#[test]
fn pipes_and_links_in_a_run_directory_end_with_3_at_once() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("p")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(bench.path("p/store.sqlite")).status().unwrap().success());
    for command in [["run", "p.toml"], ["inspect", "p"]] {
        bench.run(&command).expect(3).says("is a pipe");
    }
    std::fs::remove_file(bench.path("p/store.sqlite")).unwrap();
    bench.write("thesis", "years of work");
    std::os::unix::fs::symlink(bench.path("thesis"), bench.path("p/store.sqlite.lock")).unwrap();
    bench.run(&["run", "p.toml"]).expect(3).says("is a symbolic link");
    assert_eq!(bench.read("thesis"), "years of work");
}

#[test]
fn eight_processes_ask_and_tell_at_once() {
    let bench = Bench::new();
    bench.run(&["ask", "p.toml", "-n", "1"]).expect(0);
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let bench = &bench;
            scope.spawn(move || {
                // Whoever finds the store in use tries again, as a job on a cluster does.
                let patiently = |arguments: &[&str]| loop {
                    let ran = bench.run(arguments);
                    if ran.code != Some(3) {
                        return ran.expect(0).out;
                    }
                };
                let asked = patiently(&["ask", "p", "-n", "3"]);
                let rows: Vec<String> = asked.lines().skip(1).map(|line| format!("{},1,2\n", line.split(',').next().unwrap())).collect();
                bench.write(&format!("{worker}.csv"), &format!("index,a,b\n{}", rows.concat()));
                patiently(&["tell", "p", &format!("{worker}.csv"), "-q"]);
            });
        }
    });
    bench.run(&["inspect", "p", "--verify"]).expect(0).says("24 simulations intact");
    assert_eq!(bench.export("p").lines().count(), 25);
}
