//! The protocols `json` and `worker`, with programs that keep to them and programs that do not.
#![cfg(target_os = "linux")]

mod common;

use common::{Bench, PYTHON};
use kelfi_run::{Cancellation, Outcome, Protocol, Session, Simulate, SimulatorProgram, Status, Task};
use std::time::Duration;

fn task(index: u64) -> Task {
    Task { index, seed: 5, seed64: u64::MAX, parameters: vec![0.1 + index as f64] }
}

fn simulator(bench: &Bench, protocol: Protocol, script: &str) -> SimulatorProgram {
    let program = bench.script("simulate", script);
    SimulatorProgram { protocol, timeout: Duration::from_secs(5), ..bench.simulator(&program) }
}

fn next(session: &mut dyn Session, index: u64) -> Outcome {
    session.call(&task(index), &Cancellation::new())
}

/// Answers every line with (rate, process number) and does `also` for the tasks it applies to.
fn worker(also: &str) -> String {
    format!(
        "#!{PYTHON}
import json, os, sys, time
for line in sys.stdin:
    task = json.loads(line)
    j = task['index']
{also}
    print(json.dumps({{'statistics': {{'b': os.getpid(), 'a': task['parameters']['rate']}}}}), flush=True)
"
    )
}

#[test]
fn json_travels_both_ways_without_losing_a_bit() {
    let bench = Bench::new();
    let script = format!(
        "#!{PYTHON}
import json, sys
task = json.load(sys.stdin)
assert task['seed'] == 5 and task['seed64'] == 18446744073709551615 and task['index'] == 7
print(json.dumps({{'statistics': [task['parameters']['rate'], 1e-300]}}))
"
    );
    let simulator = simulator(&bench, Protocol::Json, &script);
    assert_eq!(next(&mut *simulator.session(), 7), Outcome::ok(vec![7.1, 1e-300]));
}

#[test]
fn rows_come_through_every_protocol() {
    let bench = Bench::new();
    let printed = ["#!/bin/sh\nprintf '1 2\\n3 4\\n'\n".to_owned(), "#!/bin/sh\necho '{\"rows\": [[1, 2], [3, 4]]}'\n".to_owned()];
    let worker = worker("    print(json.dumps({'index': j, 'rows': [[1, 2], {'b': 4, 'a': 3}]}), flush=True); continue");
    let all = [(Protocol::Arguments, &printed[0]), (Protocol::Json, &printed[1]), (Protocol::Worker, &worker)];
    for (protocol, script) in all {
        let simulator = SimulatorProgram { outputs: kelfi::Outputs::Rows, ..simulator(&bench, protocol, script) };
        assert_eq!(next(&mut *simulator.session(), 0), Outcome::ok(vec![1.0, 2.0, 3.0, 4.0]), "{protocol:?}");
    }
}

#[test]
fn a_json_program_that_never_reads_its_input_is_no_problem() {
    let bench = Bench::new();
    let simulator = simulator(&bench, Protocol::Json, "#!/bin/sh\nexec <&-\necho '[1, 2]'\n");
    assert_eq!(next(&mut *simulator.session(), 0), Outcome::ok(vec![1.0, 2.0]));
}

#[test]
fn a_worker_answers_many_tasks_and_leaves_when_it_is_done_with() {
    let bench = Bench::new();
    let simulator = simulator(&bench, Protocol::Worker, &worker(""));
    let mut session = simulator.session();
    let first = next(&mut *session, 0).statistics.unwrap();
    for index in 1..200 {
        assert_eq!(next(&mut *session, index).statistics.unwrap(), [0.1 + index as f64, first[1]], "the same process answers");
    }
    assert_eq!(bench.left_behind().len(), 1);
    drop(session);
    assert_eq!(bench.left_behind(), []);
}

#[test]
fn a_worker_that_dies_at_a_task_fails_that_task_only() {
    let bench = Bench::new();
    let simulator = simulator(&bench, Protocol::Worker, &worker("    if j == 1: print('no root', file=sys.stderr); sys.exit(3)"));
    let mut session = simulator.session();
    assert!(next(&mut *session, 0).status.is_ok());
    let failed = next(&mut *session, 1);
    assert_eq!((failed.status, failed.message.as_str()), (Status::ExitCode, "exit code 3\nno root"));
    assert!(next(&mut *session, 2).status.is_ok());
}

#[test]
fn a_worker_that_leaves_after_every_answer_is_started_anew() {
    let bench = Bench::new();
    let mut simulator = simulator(&bench, Protocol::Worker, "#!/bin/sh\nread line\necho '[1, 2]'\n");
    simulator.retries = 0;
    let mut session = simulator.session();
    for index in 0..20 {
        assert_eq!(next(&mut *session, index), Outcome::ok(vec![1.0, 2.0]));
    }
}

#[test]
fn a_worker_that_never_answers_is_bad_output() {
    let bench = Bench::new();
    let ends = simulator(&bench, Protocol::Worker, "#!/bin/sh\nexit 0\n");
    assert_eq!(next(&mut *ends.session(), 0).status, Status::BadOutput);
    let closes = simulator(&bench, Protocol::Worker, "#!/bin/sh\nexec >&-\nsleep 1000\n");
    assert_eq!(next(&mut *closes.session(), 0).status, Status::BadOutput);
    assert_eq!(bench.left_behind(), []);
}

#[test]
fn a_worker_that_hangs_is_replaced() {
    let bench = Bench::new();
    let mut simulator = simulator(&bench, Protocol::Worker, &worker("    if j == 1: time.sleep(1000)"));
    simulator.timeout = Duration::from_secs(2);
    let mut session = simulator.session();
    assert!(next(&mut *session, 0).status.is_ok());
    assert_eq!(next(&mut *session, 1).status, Status::Timeout);
    assert!(next(&mut *session, 2).status.is_ok());
    drop(session);
    assert_eq!(bench.left_behind(), []);
}

#[test]
fn an_answer_of_two_lines_is_bad_output_that_says_what_was_printed() {
    let bench = Bench::new();
    let simulator = simulator(&bench, Protocol::Worker, "#!/bin/sh\nwhile read line; do printf '[1, 2]\\n[3, 4]\\n'; done\n");
    let outcome = simulator.session().call_alone(&task(0), &Cancellation::new());
    assert_eq!(outcome.status, Status::BadOutput);
    for part in ["\"[1, 2]\" and \"[3, 4]\"", "print logs to stderr"] {
        assert!(outcome.message.contains(part), "{}", outcome.message);
    }
}

#[test]
fn nan_from_python_is_not_finite_and_the_worker_stays() {
    let bench = Bench::new();
    let simulator = simulator(&bench, Protocol::Worker, &worker("    if j == 1: task['parameters']['rate'] = float('nan')"));
    let mut session = simulator.session();
    let process = next(&mut *session, 0).statistics.unwrap()[1];
    assert_eq!(next(&mut *session, 1).status, Status::NonFinite);
    assert_eq!(next(&mut *session, 2).statistics.unwrap()[1], process);
}
