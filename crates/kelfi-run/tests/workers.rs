//! Workers that print what they should not: no line is ever taken for another simulation's answer.
#![cfg(target_os = "linux")]

mod common;

use common::{Bench, PYTHON};
use kelfi_run::store::Record;
use kelfi_run::{Cancellation, Ended, Protocol, RunPlan, Seeds, SimulatorProgram, Status, run};
use std::time::{Duration, Instant};

/// θ_j tells its index, so that an answer to another request is recognised.
fn theta(index: u64) -> Vec<f64> {
    vec![index as f64 + 0.25]
}

/// A worker that runs `start` first, `before` and `after` its answer, where `echo` says whether that has the index. `j` is the index.
fn worker(echo: bool, start: &str, before: &str, after: &str) -> String {
    let index = if echo { "'index': j, " } else { "" };
    format!(
        "#!{PYTHON}
import json, os, sys, time
say = lambda text: print(text, flush=True)
{start}
for line in sys.stdin:
    task = json.loads(line)
    j = task['index']
    answer = {{{index}'statistics': [task['parameters']['rate'], j]}}
    {before}
    say(json.dumps(answer))
    {after}
"
    )
}

/// All simulations below `count` by this worker, in order.
fn made_by(script: &str, count: u64, jobs: usize) -> Vec<Record> {
    made_within(Duration::from_secs(8), script, count, jobs)
}

fn made_within(timeout: Duration, script: &str, count: u64, jobs: usize) -> Vec<Record> {
    let bench = Bench::new();
    let program = bench.script("worker", script);
    let simulator = SimulatorProgram { protocol: Protocol::Worker, timeout, ..bench.simulator(&program) };
    let mut store = bench.store();
    let indices: Vec<u64> = (0..count).collect();
    let plan =
        RunPlan { simulator: &simulator, theta: &theta, seed: 1, seeds: Seeds::Short, jobs, stop_after_alike: 0, abort_on_failure: false };
    let summary = run(&plan, &indices, &mut store, &Cancellation::new(), &mut |_| {}).unwrap();
    assert_eq!(summary.ended, Ended::Completed);
    assert_eq!(bench.left_behind(), []);
    let records = store.records().unwrap();
    assert_eq!(records.iter().map(|record| record.index).collect::<Vec<_>>(), indices);
    for record in records.iter().filter(|record| record.outcome.status.is_ok()) {
        let expected = [record.parameters[0], record.index as f64];
        assert_eq!(record.outcome.statistics.as_deref(), Some(&expected[..]), "another simulation's answer");
    }
    records
}

#[track_caller]
fn all_right(script: &str) {
    let records = made_by(script, 12, 2);
    let failed: Vec<&Record> = records.iter().filter(|record| !record.outcome.status.is_ok()).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

#[track_caller]
fn all_refused(script: &str, words: &[&str]) {
    for record in made_by(script, 8, 2) {
        assert_eq!(record.outcome.status, Status::BadOutput, "{record:?}");
        assert!(words.iter().all(|word| record.outcome.message.contains(word)), "{}", record.outcome.message);
    }
}

const DEBUG_JSON: &str = "say('[7.5, 7.5]')";
const LATE_JSON: &str = "time.sleep(0.03); say('[7.5, 7.5]')";

#[test]
fn quiet_workers_stay_alive_with_and_without_the_index() {
    for echo in [true, false] {
        let begin = "answer0 = os.getpid()";
        let script = worker(echo, begin, "", "").replace("task['parameters']['rate'], j]", "task['parameters']['rate'], j, answer0]");
        let bench = Bench::new();
        let program = bench.script("worker", &script);
        let mut simulator = SimulatorProgram { protocol: Protocol::Worker, timeout: Duration::from_secs(8), ..bench.simulator(&program) };
        simulator.statistics.push("process".into());
        let problem = kelfi_run::store::StoredProblem { statistics: simulator.statistics.clone(), ..bench.problem() };
        let mut store = kelfi_run::Store::open_or_create(&bench.path().join("three.sqlite"), &problem).unwrap();
        let indices: Vec<u64> = (0..200).collect();
        let plan = RunPlan {
            simulator: &simulator,
            theta: &theta,
            seed: 1,
            seeds: Seeds::Short,
            jobs: 1,
            stop_after_alike: 5,
            abort_on_failure: true,
        };
        assert_eq!(run(&plan, &indices, &mut store, &Cancellation::new(), &mut |_| {}).unwrap().ended, Ended::Completed);
        let processes: std::collections::HashSet<u64> =
            store.records().unwrap().iter().map(|record| record.outcome.statistics.as_ref().unwrap()[2] as u64).collect();
        assert!(processes.len() <= if echo { 1 } else { 5 }, "{} workers were started for 200 calls", processes.len());
    }
}

#[test]
fn a_banner_and_logs_are_harmless_where_they_cannot_be_answers() {
    for echo in [true, false] {
        all_right(&worker(echo, "say('Model 1.2'); say('')", "", ""));
        all_right(&worker(echo, "say('3.5')", "say('step %d' % j)", ""));
        all_right(&worker(echo, "", "", "time.sleep(0.03); say('done')"));
        all_right(&worker(echo, "say('{\"ready\": true}')", "say(line.strip())", ""));
    }
}

#[test]
fn json_that_could_be_an_answer_is_told_apart_by_the_index() {
    all_right(&worker(true, DEBUG_JSON, "", ""));
    all_right(&worker(true, "", DEBUG_JSON, ""));
    all_right(&worker(true, "", "", LATE_JSON));
    all_right(&worker(true, "", "", "if j == 3: say('[7.5, 7.5]')"));
}

#[test]
fn without_an_index_json_that_could_be_an_answer_is_refused_however_late_it_comes() {
    let words = ["2 lines that could be the answer", "[7.5, 7.5]", "print logs to stderr"];
    all_refused(&worker(false, DEBUG_JSON, "", ""), &words);
    all_refused(&worker(false, "", DEBUG_JSON, ""), &words);
    all_refused(&worker(false, "", "", LATE_JSON), &words);
    all_refused(&worker(false, "", "", "time.sleep(0.2); say('[7.5, 7.5]')"), &words);
    all_refused(&worker(false, "", "say(json.dumps(answer))", ""), &["2 lines that could be the answer"]);
}

#[test]
fn one_line_too_many_spoils_only_its_own_simulation() {
    for late in ["", "time.sleep(0.05); "] {
        let after = format!("if j == 7: {late}say('[7.5, 7.5]')");
        let records = made_by(&worker(false, "", "", &after), 20, 2);
        for record in records {
            let expected = if record.index == 7 { Status::BadOutput } else { Status::Ok };
            assert_eq!(record.outcome.status, expected, "{record:?}");
        }
    }
}

#[test]
fn an_answer_with_another_index_is_never_used() {
    all_refused(&worker(true, "", "answer['index'] = j + 1", ""), &["answered", "to the request with index"]);
    all_refused(&worker(true, "", "answer['index'] = None", ""), &["answered"]);
    // Twice the same index: which of the two is meant nobody can tell once it is noticed.
    let records = made_by(&worker(true, "", "", "answer['statistics'][0] = -1.0; say(json.dumps(answer))"), 8, 1);
    assert!(records.iter().any(|record| record.outcome.message.contains("2 lines")), "{records:?}");
}

#[test]
fn a_worker_that_echoes_now_and_then_is_never_misread() {
    all_right(&worker(true, "", "if j % 2: del answer['index']", ""));
    all_right(&worker(true, "", "if j % 3: answer.pop('index')", "if j == 4: say('note')"));
}

#[test]
fn workers_that_leave_or_crash_lose_nothing_but_what_they_crash_at() {
    for echo in [true, false] {
        all_right(&worker(echo, "", "", "if j % 3 == 2: sys.exit(0)"));
        let crashing = made_by(&worker(echo, "", "if j % 5 == 2: sys.exit(3)", ""), 12, 2);
        for record in crashing {
            let expected = if record.index % 5 == 2 { Status::ExitCode } else { Status::Ok };
            assert_eq!(record.outcome.status, expected, "{record:?}");
        }
    }
    // With a line too many as well, nothing can be believed.
    all_refused(&worker(false, DEBUG_JSON, "", "if j % 3 == 2: sys.exit(0)"), &["2 lines"]);
    let both = made_by(&worker(false, DEBUG_JSON, "if j % 5 == 2: os._exit(3)", ""), 12, 1);
    assert!(both.iter().all(|record| !record.outcome.status.is_ok()), "{both:?}");
}

#[test]
fn a_worker_that_answers_nothing_once_and_something_else_twice_is_found_out() {
    // As many lines as requests, but one is missing where another is too many: index 3 says nothing, index 6 speaks twice.
    let script = worker(false, "", "if j == 3: continue", "if j == 6: time.sleep(0.02); say('[7.5, 7.5]')");
    let records = made_within(Duration::from_secs(2), &script, 8, 1);
    assert!(!records[3].outcome.status.is_ok() && !records[6].outcome.status.is_ok(), "{records:?}");
}

#[test]
fn broken_answers_are_failures_at_once() {
    for before in
        ["say('Error: singular'); continue", "say(json.dumps(answer, indent=1)); continue", "say('{\"stats\": [1, 2]}'); continue"]
    {
        let began = Instant::now();
        let records = made_within(Duration::from_secs(60), &worker(true, "", before, ""), 2, 2);
        assert!(records.iter().all(|record| record.outcome.message.contains("no JSON object with \"statistics\"")), "{records:?}");
        assert!(began.elapsed() < Duration::from_secs(40), "it waited for the time-out");
    }
}

const READS: &str = "task = json.loads(line)\n    print(json.dumps([task['parameters']['rate'], task['index']]), flush=True)\n";

#[test]
fn without_an_index_only_a_worker_that_ends_well_is_believed() {
    let sloppy = format!("#!{PYTHON}\nimport json\nwhile True:\n    line = input()\n    {READS}");
    for record in made_by(&sloppy, 3, 1) {
        assert!(record.outcome.status == Status::ExitCode && record.outcome.message.contains("include it, or exit"), "{record:?}");
    }
    let deaf = format!(
        "#!{PYTHON}\nimport json, sys, time\nwhile True:\n    line = sys.stdin.readline()\n    if line == '': time.sleep(0.01); continue\n    {READS}"
    );
    let records = made_within(Duration::from_secs(2), &deaf, 1, 1);
    assert_eq!(records[0].outcome.status, Status::Timeout, "{records:?}");
    // With the index neither matters.
    all_right(&sloppy.replace(
        "[task['parameters']['rate'], task['index']]",
        "{'index': task['index'], 'statistics': [task['parameters']['rate'], task['index']]}",
    ));
    // A banner that looks like an answer, and a simulation that takes its time.
    let slow = made_by(&worker(false, DEBUG_JSON, "time.sleep(2.5)", ""), 1, 1);
    assert_eq!(slow[0].outcome.status, Status::BadOutput, "{slow:?}");
}
