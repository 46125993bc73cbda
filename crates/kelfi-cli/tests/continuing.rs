//! Runs that are killed, stopped, changed, or made with other numbers of jobs and threads.

mod common;

use common::{Bench, PROBLEM, Ran};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Takes about 20 ms.
const SLOW: &str = "#!/bin/sh\necho \"$*\" >>started\nsleep 0.02\nawk -v r=\"$1\" -v s=\"$2\" 'BEGIN { srand(s % 2147483647); print r + rand(), r * r + rand() }'\n";
const KILLS: usize = 20;
const JOBS: usize = 2;
const SIMULATIONS: usize = 200;
/// Calls that are not recorded, by which a long run finds out about seeds before it begins.
const ASKING: usize = 3;

fn start(bench: &Bench, arguments: &[&str]) -> Child {
    bench.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn recorded(bench: &Bench, directory: &str) -> Vec<u64> {
    let store = bench.path(directory).join("store.sqlite");
    kelfi_run::Store::read(&store).map(|store| store.table().unwrap().indices).unwrap_or_default()
}

#[test]
fn a_run_killed_twenty_times_ends_with_the_bits_of_one_that_was_not() {
    let bench = Bench::new();
    bench.script("sim.sh", SLOW);
    let arguments = |out| ["run", "p.toml", "-n", "200", "-j", "2", "-q", "-o", out];
    bench.run(&arguments("whole")).expect(0);
    assert_eq!(bench.calls(), SIMULATIONS + ASKING);
    std::fs::remove_file(bench.path("started")).unwrap();

    let (mut state, mut before, mut asked) = (20_u64, Vec::new(), 0);
    for _ in 0..KILLS {
        asked += usize::from(!bench.has("killed/seeds.json"));
        let mut child = start(&bench, &arguments("killed"));
        // A linear congruence is random enough for moments; the same ones each time make a failure repeatable.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(10 + (state >> 33) % 180));
        child.kill().unwrap();
        child.wait().unwrap();
        let now = recorded(&bench, "killed");
        assert!(before.iter().all(|index| now.contains(index)), "a recorded simulation was lost");
        before = now;
    }
    asked += usize::from(!bench.has("killed/seeds.json"));
    bench.run(&arguments("killed")).expect(0);
    assert_eq!(bench.export("killed"), bench.export("whole"));
    assert_eq!(bench.read("killed/samples.csv"), bench.read("whole/samples.csv"));
    // In flight: what each job was calling, and at most as many that had just finished.
    let most = SIMULATIONS + KILLS * 2 * JOBS + asked * ASKING;
    assert!(bench.calls() <= most, "{} calls for {SIMULATIONS} simulations", bench.calls());
}

#[test]
fn jobs_and_threads_change_nothing() {
    let bench = Bench::new();
    bench.write("b.toml", "simulations = 120\n[simulator]\nbuiltin = \"exponential_gamma\"\n");
    let mut first: Option<[String; 3]> = None;
    for (jobs, threads) in [("1", "1"), ("1", "2"), ("1", "8"), ("2", "1"), ("2", "2"), ("2", "8"), ("8", "1"), ("8", "2"), ("8", "8")] {
        let out = format!("o{jobs}-{threads}");
        bench.run(&["run", "b.toml", "-j", jobs, "--threads", threads, "-o", &out, "-q"]).expect(0);
        let mut model: serde_json::Value = serde_json::from_str(&bench.read(&format!("{out}/model.json"))).unwrap();
        model["seconds"] = 0.into();
        model["checksum"] = "of the seconds too".into();
        let found = [bench.export(&out), bench.read(&format!("{out}/samples.csv")), model.to_string()];
        assert_eq!(*first.get_or_insert_with(|| found.clone()), found, "{out}");
    }
    bench.run(&["simulate", "p.toml", "-j", "1", "-o", "one", "-q"]).expect(0);
    bench.run(&["simulate", "p.toml", "-j", "8", "-o", "eight", "-q"]).expect(0);
    assert_eq!(bench.export("one"), bench.export("eight"));
}

#[test]
fn running_again_does_nothing_again_and_a_larger_budget_only_what_is_missing() {
    let bench = Bench::new();
    bench.run(&["run", "p.toml", "-q"]).expect(0);
    assert_eq!(bench.calls(), 30);
    let samples = bench.read("p/samples.csv");
    bench.run(&["run", "p.toml", "-q"]).expect(0);
    assert_eq!((bench.calls(), bench.read("p/samples.csv")), (30, samples));
    bench.run(&["run", "p.toml", "-q", "-n", "40"]).expect(0);
    assert_eq!(bench.calls(), 40);
    // The problem file of a run directory continues that run.
    bench.run(&["run", "p/problem.toml", "-q", "-n", "41"]).expect(0);
    assert_eq!(bench.calls(), 41);
}

#[test]
fn a_changed_problem_is_refused_with_the_differences_and_a_changed_observation_is_not() {
    let bench = Bench::new();
    bench.run(&["run", "p.toml", "-q"]).expect(0);
    let samples = bench.read("p/samples.csv");
    bench.write("p.toml", &PROBLEM.replace("high = 2.0", "high = 3.0").replace("\"./sim.sh\"", "\"./sim.sh\", \"--\""));
    bench
        .run(&["run", "p.toml"])
        .expect(2)
        .says("parameter.rate.uniform.high: 2.0 in the store, 3.0 now")
        .says("simulator.command[1]: \"{rate}\" in the store, \"--\" now");
    bench.write("p.toml", PROBLEM);
    bench.run(&["run", "p.toml", "--seed", "2"]).expect(2).says("seed: 1 in the store, 2 now");
    assert_eq!(bench.calls(), 30);

    bench.write("p.toml", &PROBLEM.replace("a = 1.5, b = 1.5", "a = 0.9, b = 0.6"));
    bench.run(&["run", "p.toml", "-q"]).expect(0);
    assert_eq!(bench.calls(), 30, "another observation needs no simulation");
    assert_ne!(bench.read("p/samples.csv"), samples);
}

#[test]
fn an_interrupted_run_ends_with_130_and_can_be_continued() {
    let bench = Bench::new();
    bench.script("sim.sh", SLOW);
    let child = start(&bench, &["run", "p.toml", "-n", "200", "-j", "2"]);
    let began = Instant::now();
    while bench.calls() < 10 {
        assert!(began.elapsed() < Duration::from_secs(20), "the simulator is never started");
        std::thread::sleep(Duration::from_millis(5));
    }
    // SAFETY: signals a child that has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let ran = Ran::new(child.wait_with_output().unwrap()).expect(130).says("run again to continue");
    assert!(ran.out.is_empty());
    // Cleanly: every call that was started has been recorded.
    assert_eq!(recorded(&bench, "p").len() + ASKING, bench.calls());
    bench.run(&["run", "p.toml", "-n", "200", "-q"]).expect(0);
    assert_eq!(bench.calls(), SIMULATIONS + ASKING);
}

#[test]
fn interrupting_twice_ends_simulators_that_would_take_long() {
    let bench = Bench::new();
    bench.script("sim.sh", "#!/bin/sh\necho >>started\nexec sleep 30\n");
    let child = start(&bench, &["run", "p.toml", "-j", "2"]);
    let began = Instant::now();
    while bench.calls() < 2 {
        assert!(began.elapsed() < Duration::from_secs(20), "the simulator is never started");
        std::thread::sleep(Duration::from_millis(5));
    }
    for _ in 0..2 {
        // SAFETY: as above.
        assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
        std::thread::sleep(Duration::from_millis(100));
    }
    Ran::new(child.wait_with_output().unwrap()).expect(130);
    assert!(began.elapsed() < Duration::from_secs(20));
}
