//! Whole runs: order, parallelism, early stops, interrupts, kill -9.
#![cfg(target_os = "linux")]

mod common;

use common::Bench;
use kelfi::random::{Purpose, stream};
use kelfi_run::{
    Cancellation, Ended, Error, Function, Protocol, RunPlan, Seeds, Simulate, SimulatorProgram, Status, Store, Summary, Task, run,
};
use rand::RngExt;
use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// θ_j, a pure function of j.
fn theta(index: u64) -> Vec<f64> {
    vec![stream(1, Purpose::Parameters, index).random()]
}

fn plan<'a>(simulator: &'a dyn Simulate, jobs: usize) -> RunPlan<'a> {
    RunPlan { simulator, theta: &theta, seed: 1, seeds: Seeds::Short, jobs, stop_after_alike: 10, abort_on_failure: false }
}

fn complete(simulator: &dyn Simulate, store: &mut Store, count: u64, jobs: usize) -> Result<Summary, Error> {
    let missing = store.missing(count)?;
    run(&plan(simulator, jobs), &missing, store, &Cancellation::new(), &mut |_| {})
}

fn exported(store: &Store) -> String {
    let mut bytes = Vec::new();
    store.export_csv(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Statistics that depend on everything a task has.
fn function() -> Function<impl Fn(&Task) -> Vec<f64> + Sync> {
    Function::new(vec!["a".into(), "b".into()], |task: &Task| {
        let failing = task.index % 7 == 3;
        vec![task.parameters[0].sqrt(), if failing { f64::NAN } else { task.seed as f64 / 3.0 }]
    })
}

#[test]
fn any_number_of_jobs_gives_the_same_bytes() {
    let exports: Vec<String> = [1, 2, 8]
        .map(|jobs| {
            let bench = Bench::new();
            let mut store = bench.store();
            let summary = complete(&function(), &mut store, 100, jobs).unwrap();
            assert_eq!((summary.ended, summary.progress.ok, summary.progress.failed), (Ended::Completed, 86, 14));
            exported(&store)
        })
        .into();
    assert_eq!(exports[0], exports[1]);
    assert_eq!(exports[0], exports[2]);
    assert_eq!(exports[0].lines().count(), 101);
    assert!(exports[0].lines().nth(4).unwrap().starts_with("3,0.") && exports[0].lines().nth(4).unwrap().contains(",,,non-finite,"));
}

#[test]
fn the_table_for_inference_is_ordered_with_nan_for_failures() {
    let bench = Bench::new();
    let mut store = bench.store();
    complete(&function(), &mut store, 20, 3).unwrap();
    let table = Store::read(store.path()).unwrap().table().unwrap();
    assert_eq!(table.indices, (0..20).collect::<Vec<_>>());
    assert_eq!(table.parameters.row(5), theta(5));
    assert!(table.statistics.row(3).iter().all(|value| value.is_nan()) && table.statuses[3] == Status::NonFinite);
    assert_eq!(table.statistics.row(4)[0], theta(4)[0].sqrt());
}

#[test]
fn a_run_that_fails_alike_from_the_start_gives_up_early_and_can_begin_again_once_mended() {
    let bench = Bench::new();
    let mut store = bench.store();
    let broken = bench.simulator(Path::new("./missing"));
    match complete(&broken, &mut store, 1000, 2).unwrap().ended {
        Ended::AllAlike { status: Status::CouldNotStart, count: 10.., message } => assert!(message.contains("no such file")),
        other => panic!("{other:?}"),
    }
    let failed = store.counts().unwrap().failed();
    assert!((10..100).contains(&failed), "{failed}");
    assert_eq!(store.forget_failures().unwrap() as u64, failed);
    assert_eq!(store.missing(1000).unwrap().len(), 1000);
    assert_eq!(complete(&function(), &mut store, 50, 2).unwrap().ended, Ended::Completed);
}

#[test]
fn failures_that_differ_or_come_later_do_not_stop_a_run() {
    let bench = Bench::new();
    let mut store = bench.store();
    let differing = bench.script("differing", "#!/bin/sh\nexit $(($3 % 2))\n");
    assert_eq!(complete(&bench.simulator(&differing), &mut store, 30, 1).unwrap().ended, Ended::Completed);
    let late = Function::new(vec!["a".into(), "b".into()], |task: &Task| vec![1.0; if task.index == 30 { 2 } else { 1 }]);
    assert_eq!(complete(&late, &mut store, 60, 1).unwrap().ended, Ended::Completed);
}

#[test]
fn a_failure_ends_a_run_that_accepts_none() {
    let bench = Bench::new();
    let mut store = bench.store();
    let function = function();
    let plan = RunPlan { abort_on_failure: true, ..plan(&function, 1) };
    let summary = run(&plan, &(0..50).collect::<Vec<_>>(), &mut store, &Cancellation::new(), &mut |_| {}).unwrap();
    assert!(matches!(summary.ended, Ended::Failure { index: 3, status: Status::NonFinite, .. }), "{summary:?}");
}

#[test]
fn parameters_that_are_not_finite_never_reach_a_program() {
    let bench = Bench::new();
    let mut store = bench.store();
    let program = bench.script("simulate", "#!/bin/sh\ntouch called\necho 1 2\n");
    let simulator = bench.simulator(&program);
    let plan = RunPlan { theta: &|_| vec![f64::NAN], ..plan(&simulator, 1) };
    let error = run(&plan, &[0], &mut store, &Cancellation::new(), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("not finite"), "{error}");
    assert!(!bench.path().join("work/called").exists());
}

#[test]
fn one_request_lets_running_calls_finish_and_two_record_nothing_for_them() {
    for (requests, expected) in [(1, 2), (2, 0)] {
        let bench = Bench::new();
        let mut store = bench.store();
        let program = bench.script("simulate", "#!/bin/sh\nsleep 1\necho 1 2\n");
        let simulator = SimulatorProgram { timeout: Duration::from_secs(20), ..bench.simulator(&program) };
        let cancellation = Cancellation::new();
        let remote = cancellation.clone();
        let request = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(400));
            (0..requests).for_each(|_| remote.request());
        });
        let summary = run(&plan(&simulator, 2), &(0..50).collect::<Vec<_>>(), &mut store, &cancellation, &mut |_| {}).unwrap();
        request.join().unwrap();
        assert_eq!((summary.ended, summary.progress.ok), (Ended::Interrupted, expected), "{requests} requests");
        assert_eq!(store.counts().unwrap().all(), expected as u64);
        assert_eq!(bench.left_behind(), []);
    }
}

#[test]
fn progress_counts_only_what_another_process_could_already_read() {
    let bench = Bench::new();
    let mut store = bench.store();
    let reader = Store::read(store.path()).unwrap();
    let mut last = 0;
    let mut check = |progress: &kelfi_run::RunProgress| {
        last = progress.ok + progress.failed;
        assert!(reader.counts().unwrap().all() >= last as u64);
        assert!(progress.remaining().is_some());
    };
    run(&plan(&function(), 2), &(0..300).collect::<Vec<_>>(), &mut store, &Cancellation::new(), &mut check).unwrap();
    assert_eq!(last, 300);
}

const KILLS: u64 = 20;
const COUNT: u64 = 250;
const JOBS: usize = 2;

fn slow_simulator(bench: &Bench) -> SimulatorProgram {
    let program = bench.script("slow", "#!/bin/sh\necho $3 >> calls\nsleep 0.02\ntest $(($3 % 5)) = 1 && exit 1\necho $1 $2\n");
    SimulatorProgram { timeout: Duration::from_secs(20), ..bench.simulator(&program) }
}

/// Not a test of its own: the process that `a_run_killed_at_any_moment...` starts and kills.
#[test]
#[ignore = "run by another test"]
fn continue_the_run_named_in_the_environment() {
    let (Ok(directory), Ok(mark)) = (std::env::var("KELFI_TEST_DIRECTORY"), std::env::var("KELFI_TEST_MARK")) else { return };
    let directory = Path::new(&directory);
    let mut simulator =
        SimulatorProgram::new([directory.join("slow").to_str().unwrap(), "{rate}", "{seed}", "{index}"], &["rate"], &["a", "b"]);
    simulator.directory = Some(directory.join("work"));
    simulator.environment = vec![("KELFI_TEST_MARK".into(), mark.into())];
    let mut store = Store::open(&directory.join("store.sqlite")).unwrap();
    complete(&simulator, &mut store, COUNT, JOBS).unwrap();
}

#[test]
fn a_run_killed_at_any_moment_and_continued_gives_the_same_bytes_and_repeats_only_what_was_in_flight() {
    let whole = Bench::new();
    let mut store = whole.store();
    assert_eq!(complete(&slow_simulator(&whole), &mut store, COUNT, JOBS).unwrap().ended, Ended::Completed);

    let bench = Bench::new();
    slow_simulator(&bench);
    drop(bench.store());
    let mark = bench.path().file_name().unwrap().to_owned();
    let calls = || std::fs::read_to_string(bench.path().join("work/calls")).unwrap_or_default();
    let mut moments = stream(3, Purpose::Experiment, 0);
    for kill in 0..=KILLS {
        let recorded: HashSet<u64> =
            Store::read(&bench.path().join("store.sqlite")).unwrap().table().unwrap().indices.into_iter().collect();
        assert!(kill == 0 || !recorded.is_empty() || kill < 10, "the kills come too early to prove anything");
        assert!((recorded.len() as u64) < COUNT, "the kills come too late to prove anything");
        let before = calls().len();
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "continue_the_run_named_in_the_environment"])
            .env("KELFI_TEST_DIRECTORY", bench.path())
            .env("KELFI_TEST_MARK", &mark)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        if kill < KILLS {
            std::thread::sleep(Duration::from_millis(moments.random_range(5..150)));
            child.kill().unwrap();
            child.wait().unwrap();
        } else {
            assert!(child.wait().unwrap().success());
        }
        // The supervisors notice the death and end what ran.
        let deadline = Instant::now() + Duration::from_secs(5);
        while !bench.left_behind().is_empty() {
            assert!(Instant::now() < deadline, "left: {:?}", bench.left_behind());
            std::thread::sleep(Duration::from_millis(5));
        }
        for index in calls()[before..].lines() {
            assert!(!recorded.contains(&index.parse().unwrap()), "simulation {index} was recorded and made again");
        }
    }
    let store = Store::open(&bench.path().join("store.sqlite")).unwrap();
    store.verify().unwrap();
    assert_eq!(exported(&store), exported(&Store::read(&whole.path().join("store.sqlite")).unwrap()));
    let made = calls().lines().count() as u64;
    // Each kill loses the calls that run and those whose result is on its way to the disk.
    assert!(made <= COUNT + KILLS * 2 * JOBS as u64, "{made} calls");
}

fn throughput(protocol: Protocol, script: &str, count: u64) -> f64 {
    let bench = Bench::new();
    let program = bench.script("trivial", script);
    let simulator = SimulatorProgram { protocol, timeout: Duration::from_secs(20), ..bench.simulator(&program) };
    let mut store = bench.store();
    let began = Instant::now();
    assert_eq!(complete(&simulator, &mut store, count, 2).unwrap().ended, Ended::Completed);
    assert_eq!(store.counts().unwrap().ok(), count);
    count as f64 / began.elapsed().as_secs_f64()
}

const TRIVIAL_WORKER: &str = "#!/bin/sh\nwhile read line; do echo '[1, 2]'; done\n";

/// Starts of the bare program per second, two at a time: what the machine gives without a supervisor, a store or a check.
fn bare_rate(script: &str, count: u64) -> f64 {
    let bench = Bench::new();
    let program = bench.script("trivial", script);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..count / 2).for_each(|_| drop(std::process::Command::new(&program).output().unwrap())));
        }
    });
    count as f64 / began.elapsed().as_secs_f64()
}

/// Simulations per second that a machine with nothing else to do must reach.
const RATE: f64 = 300.0;
/// Share of the bare rate that is enough where others use the machine: a supervised call waits for the scheduler several times
/// where a bare start waits once.
const SHARE: f64 = 0.15;

#[test]
#[ignore = "slow: 20,000 simulations"]
fn ten_thousand_trivial_simulations_pass_at_300_per_second_and_faster_with_workers() {
    let script = "#!/bin/sh\necho 1 2\n";
    let bare = bare_rate(script, 2_000);
    let once = throughput(Protocol::Arguments, script, 10_000);
    let worker = throughput(Protocol::Worker, TRIVIAL_WORKER, 10_000);
    println!("throughput per second, 2 jobs, every result durable: arguments {once:.0}, worker {worker:.0}; bare starts {bare:.0}");
    assert!(once >= RATE.min(SHARE * bare), "{once:.0} per second where bare starts reach {bare:.0}");
    assert!(worker > once);
}

/// Fills the small file system named in the environment; by hand, because making one takes the superuser.
#[test]
#[ignore = "needs KELFI_TEST_SMALL_DISK=directory on a file system of a few hundred kilobytes"]
fn a_disk_that_fills_up_ends_a_run_with_everything_acknowledged_kept() {
    let Ok(directory) = std::env::var("KELFI_TEST_SMALL_DISK") else { return };
    let path = Path::new(&directory).join("store.sqlite");
    let bench = Bench::new();
    let mut store = Store::open_or_create(&path, &bench.problem()).unwrap();
    let mut acknowledged = 0;
    let mut count = |progress: &kelfi_run::RunProgress| acknowledged = progress.ok + progress.failed;
    let error = run(&plan(&function(), 2), &(0..1_000_000).collect::<Vec<_>>(), &mut store, &Cancellation::new(), &mut count).unwrap_err();
    assert!(matches!(error, Error::Full { .. }), "{error:?}");
    drop(store);
    let store = Store::read(&path).unwrap();
    store.verify().unwrap();
    assert!(acknowledged > 0 && store.counts().unwrap().all() == acknowledged as u64, "{acknowledged} acknowledged");
    println!("{acknowledged} simulations acknowledged and kept");
}
