//! What the machine does to a run is never information about a parameter: too few descriptors, stops, kills.
#![cfg(target_os = "linux")]

mod common;

use common::{Bench, PROBLEM, Ran};
use std::process::Command;
use std::time::{Duration, Instant};

fn kelfi() -> &'static str {
    env!("CARGO_BIN_EXE_kelfi")
}

/// The command under limits that a shell sets.
fn limited(bench: &Bench, limit: &str, arguments: &str) -> Ran {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{limit}; exec {} {arguments}", kelfi())]).current_dir(bench.path(""));
    Ran::new(shell.output().unwrap())
}

fn signal(process: u32, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().unwrap().success());
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Processes whose parent is this one.
fn children(parent: u32) -> Vec<u32> {
    let status = |pid: &u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after = text.rsplit(')').next().unwrap_or_default().to_owned();
        after.split_whitespace().nth(1).and_then(|word| word.parse::<u32>().ok())
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
    all.filter(|pid| status(pid) == Some(parent)).collect()
}

#[test]
fn fifty_jobs_with_few_descriptors_give_the_same_store_as_one() {
    let bench = Bench::new();
    bench.script("worker.py", "#!/usr/bin/env python3\nimport json, sys\nfor line in sys.stdin:\n    task = json.loads(line)\n    print(json.dumps({'index': task['index'], 'statistics': [task['parameters']['rate'], task['seed']]}), flush=True)\n");
    bench.write("w.toml", &PROBLEM.replace("[\"./sim.sh\", \"{rate}\", \"{seed}\"]", "[\"./worker.py\"]\nprotocol = \"worker\""));
    for problem in ["p", "w"] {
        bench.run(&["simulate", &format!("{problem}.toml"), "-n", "120", "-j", "1", "-o", &format!("{problem}-one")]).expect(0);
        for limit in [64, 40, 28] {
            let out = format!("{problem}-{limit}");
            let ran = limited(&bench, &format!("ulimit -n {limit}"), &format!("simulate {problem}.toml -n 120 -j 50 -o {out}")).expect(0);
            assert!(ran.out.contains("120 simulations succeeded, 0 failed"), "{}", ran.out);
            assert_eq!(bench.export(&out), bench.export(&format!("{problem}-one")), "{limit} descriptors");
        }
    }
}

#[test]
fn a_machine_that_has_nothing_to_spare_is_waited_for_and_fails_no_simulation() {
    let bench = Bench::new();
    // Too few for a single program: the run waits, and a stop leaves nothing recorded.
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -n 14; exec {} simulate p.toml -j 4", kelfi())])
        .current_dir(bench.path(""))
        .stderr(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    if child.try_wait().unwrap().is_none() {
        signal(child.id(), "INT");
    }
    child.wait().unwrap();
    if bench.has("p/store.sqlite") {
        let counts = kelfi_run::Store::read(&bench.path("p/store.sqlite")).unwrap().counts().unwrap();
        assert_eq!((counts.ok() == 0 || counts.ok() <= 30, counts.failed()), (true, 0));
    }
    let _ = std::fs::remove_dir_all(bench.path("p"));
    bench.run(&["simulate", "p.toml"]).expect(0).says("30 simulations succeeded, 0 failed");
}

#[test]
fn a_command_stopped_for_longer_than_the_timeout_calls_nothing_late() {
    let bench = Bench::new();
    bench.script("sim.sh", "#!/bin/sh\necho x >>started\nsleep 0.3\necho $1 $2\n");
    bench.script("worker.sh", "#!/bin/sh\nwhile read line; do echo x >>started; sleep 0.3; echo '[1, 2]'; done\n");
    bench.write("p.toml", &PROBLEM.replace("[simulator]", "[simulator]\ntimeout = \"1s\""));
    bench.write(
        "w.toml",
        &PROBLEM.replace("[\"./sim.sh\", \"{rate}\", \"{seed}\"]", "[\"./worker.sh\"]\nprotocol = \"worker\"\ntimeout = \"1s\""),
    );
    for problem in ["p", "w"] {
        let _ = std::fs::remove_file(bench.path("started"));
        let mut child = bench.command(&["simulate", &format!("{problem}.toml"), "-n", "8", "-j", "4"]).spawn().unwrap();
        wait_until("nothing starts", || bench.calls() >= 3);
        signal(child.id(), "STOP");
        std::thread::sleep(Duration::from_millis(2500));
        signal(child.id(), "CONT");
        assert!(child.wait().unwrap().success());
        let export = bench.export(problem);
        assert_eq!(export.lines().filter(|line| line.contains(",ok,")).count(), 8, "{export}");
    }
}

#[test]
fn a_simulator_killed_from_outside_is_made_again_and_never_recorded_as_failed() {
    let bench = Bench::new();
    // Killed the first time at every third index, and always at index 5.
    bench.script(
        "sim.sh",
        "#!/bin/sh\nif [ $3 = 5 ] && [ ! -e mended ]; then kill -9 $$; fi\nif [ $(($3 % 3)) = 0 ] && mkdir once-$3 2>/dev/null; then kill -9 $$; fi\necho $1 $2\n",
    );
    bench.write("p.toml", &PROBLEM.replace("\"{seed}\"", "\"{seed}\", \"{index}\""));
    let ran = bench.run(&["simulate", "p.toml", "-j", "3"]).expect(4);
    assert!(ran.err.contains("1 of the simulations could not be started: simulation 5 was killed"), "{}", ran.err);
    let export = bench.export("p");
    assert_eq!((export.lines().count(), export.contains("killed")), (30, false), "{export}");
    bench.write("mended", "");
    bench.run(&["simulate", "p.toml"]).expect(0).says("30 simulations succeeded, 0 failed");
}

fn left(bench: &Bench) -> bool {
    let folder = std::fs::canonicalize(bench.path("")).unwrap();
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder))
}

#[test]
fn killing_command_and_supervisors_at_once_leaves_no_simulator_computing() {
    let bench = Bench::new();
    bench.write("p.toml", PROBLEM);
    bench.script("sim.sh", "#!/bin/sh\necho x >>started\nexec sleep 1000\n");
    let problem = bench.path("p.toml");
    let mut child = Command::new(kelfi()).args(["simulate", problem.to_str().unwrap(), "-j", "2"]).current_dir("/").spawn().unwrap();
    wait_until("nothing starts", || bench.calls() == 2 && left(&bench));
    let supervisors = children(child.id());
    assert_eq!(supervisors.len(), 2);
    let mut kill = Command::new("kill");
    kill.arg("-9").args(supervisors.iter().map(u32::to_string)).arg(child.id().to_string());
    assert!(kill.status().unwrap().success());
    child.wait().unwrap();
    wait_until("simulators are left", || !left(&bench));
}

#[test]
fn a_supervisor_does_not_have_the_commands_name_and_cleans_up_after_it() {
    let bench = Bench::new();
    bench.script("sim.sh", "#!/bin/sh\necho x >>started\n(setsid sleep 1000 &)\nsleep 1000\n");
    let problem = bench.path("p.toml");
    let mut child = Command::new(kelfi()).args(["simulate", problem.to_str().unwrap(), "-j", "2"]).current_dir("/").spawn().unwrap();
    wait_until("nothing starts", || bench.calls() == 2 && left(&bench));
    for supervisor in children(child.id()) {
        assert_ne!(std::fs::read_to_string(format!("/proc/{supervisor}/comm")).unwrap().trim(), "kelfi");
    }
    signal(child.id(), "KILL");
    child.wait().unwrap();
    wait_until("simulators are left", || !left(&bench));
}
