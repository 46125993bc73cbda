//! Files of strangers and a machine that refuses: a sentence and an exit code, never a panic.

mod common;

use common::{Bench, PROBLEM, Ran};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// A red word, a new title for the terminal, and a mark that turns the direction of writing.
const ESCAPES: &str = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\u{202e}";

/// A shell in the bench's directory with the command as $KELFI.
fn shell(bench: &Bench, script: &str) -> Ran {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(bench.path(".")).env("KELFI", env!("CARGO_BIN_EXE_kelfi"));
    Ran::new(command.output().unwrap())
}

#[track_caller]
fn harmless(ran: &Ran) {
    let acts = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!ran.err.chars().chain(ran.out.chars()).any(acts), "{:?}\n{:?}", ran.out, ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}

#[test]
fn escape_sequences_of_strangers_are_shown_as_text() {
    let bench = Bench::new();
    bench.write("header.csv", &format!("rate,a,{ESCAPES}\n1,2,3\n"));
    bench.write("value.csv", &format!("rate,a,b\n1,2,{ESCAPES}\n"));
    bench.write("status.csv", &format!("rate,a,b,status\n1,2,3,{ESCAPES}\n"));
    for file in ["header.csv", "value.csv", "status.csv"] {
        let ran = bench.run(&["import", "p.toml", file]).expect(2).says("\\u001b[31mred");
        harmless(&ran);
    }
    let quoted = "\\u001b[31mred\\u0007\\u202e";
    for text in [
        format!("{ESCAPES} = 1\n{PROBLEM}"),
        PROBLEM.replace("seed = 1", &format!("\"{quoted}\" = 1")),
        PROBLEM.replace("uniform =", &format!("\"{quoted}\" =")),
        PROBLEM.replace("command =", &format!("protocol = \"{quoted}\"\ncommand =")),
        PROBLEM.replace("command = [\"./sim.sh\", \"{rate}\", \"{seed}\"]", &format!("builtin = \"{quoted}\"")),
        PROBLEM.replace("name = \"rate\"", &format!("name = \"{quoted}\"")),
    ] {
        bench.write("q.toml", &text);
        harmless(&bench.run(&["run", "q.toml"]).expect(2).says("q.toml:"));
    }
    let shown = format!("{}[31m", "\u{1b}");
    harmless(&bench.run(&["compare", &shown]).expect(2).says("there is no problem"));
    harmless(&bench.run(&["compare", "banana", "--methods", &shown]).expect(2).says("there is no method"));
}

#[test]
fn escape_sequences_of_a_simulator_are_shown_as_text() {
    let bench = Bench::new();
    bench.script(
        "sim.sh",
        "#!/bin/sh\nprintf '{\"statistics\": {\"\\\\u001b[31mkey\": 1}}\\n'\nprintf '\\033[31mlog\\033]0;title\\007' >&2\n",
    );
    bench.write(
        "p.toml",
        &PROBLEM.replace("command = [\"./sim.sh\", \"{rate}\", \"{seed}\"]", "command = [\"./sim.sh\"]\nprotocol = \"json\""),
    );
    harmless(&bench.run(&["simulate", "p.toml", "-n", "3"]).expect(4));
    harmless(&bench.run(&["inspect", "p"]).expect(0).says("\\u001b[31mkey"));
    harmless(&bench.run(&["inspect", "p", "--json"]).expect(0));
}

#[test]
fn a_reader_that_leaves_and_a_full_stdout_end_without_a_panic() {
    let bench = Bench::new();
    let full = shell(&bench, "$KELFI problems >/dev/full");
    assert_eq!(full.code, Some(1));
    assert!(full.err.starts_with("error: the result cannot be printed: "), "{}", full.err);
    // stderr is full too: nothing can be said, and the exit code still is.
    assert_eq!(shell(&bench, "$KELFI run nowhere.toml 2>/dev/full").code, Some(2));
    assert_eq!(shell(&bench, "$KELFI problems >/dev/full 2>/dev/full").code, Some(1));
    assert_eq!(shell(&bench, "$KELFI simulate p.toml -n 3 2>/dev/full >/dev/full").code, Some(1));
    assert_eq!(shell(&bench, "$KELFI problems >&- 2>&-").code, Some(0));
    for command in ["problems --json", "man", "completions bash", "methods", "--help", "run --help"] {
        let ran = shell(&bench, &format!("($KELFI {command}; echo \"code $?\" >&2) | head -1 >/dev/null"));
        assert!(ran.err.contains("code 0") && !ran.err.contains("panicked"), "{command}: {}", ran.err);
    }
}

/// The command as a user who may start so many processes and threads. Root has no such limit, so that it becomes nobody.
fn with_few_processes(bench: &Bench, limit: usize) -> Ran {
    const NOBODY: u32 = 65_534;
    let mut command = Command::new("bash");
    command.args(["-c", &format!("ulimit -u {limit} && exec ./kelfi learn p --threads 30")]).current_dir(bench.path("."));
    // SAFETY: asks for the user's number and nothing else.
    if unsafe { libc::geteuid() } == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    Ran::new(command.output().unwrap())
}

#[test]
fn threads_that_cannot_be_started_are_told_or_done_without() {
    let bench = Bench::new();
    bench.run(&["simulate", "p.toml", "-n", "30"]).expect(0);
    let free = bench.run(&["learn", "p", "--threads", "2"]).expect(0);
    std::fs::copy(env!("CARGO_BIN_EXE_kelfi"), bench.path("kelfi")).unwrap();
    for place in [".", "p", "kelfi", "p/store.sqlite", "p/model.json", "p/problem.toml"] {
        std::fs::set_permissions(bench.path(place), std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let none = with_few_processes(&bench, 1);
    assert_eq!(none.code, Some(1), "{}", none.err);
    assert!(none.err.starts_with("error: ") && !none.err.contains("panicked"), "{}", none.err);
    // SAFETY: as above.
    if unsafe { libc::geteuid() } == 0 {
        let some = with_few_processes(&bench, 12).expect(0);
        assert!(some.err.contains("note: the system refuses 30 threads; "), "{}", some.err);
        assert_eq!(some.out, free.out);
    }
}

#[test]
fn files_without_end_are_refused() {
    let bench = Bench::new();
    let limited = |arguments: &[&str]| Ran::new(bench.command(arguments).env("KELFI_MEMORY", "200MB").output().unwrap());
    limited(&["run", "/dev/zero"]).expect(2).says("longer than");
    limited(&["import", "p.toml", "/dev/zero"]).expect(2).says("longer than");
    bench.write("q.toml", &PROBLEM.replace("values = { a = 1.5, b = 1.5 }", "file = \"/dev/zero\""));
    limited(&["run", "q.toml"]).expect(2).says("longer than");
    let mut endless = bench.command(&["import", "p.toml", "-"]);
    let zeros = std::fs::File::open("/dev/zero").unwrap();
    Ran::new(endless.env("KELFI_MEMORY", "200MB").stdin(Stdio::from(zeros)).output().unwrap()).expect(2).says("longer than");
    assert!(!bench.has("p"));
}

/// So many simulations whose second statistic bends too often for few points to stand for all.
fn simulations(count: usize) -> String {
    let row = |k: usize| {
        let rate = 2.0 * ((k as f64 * 0.618_033_988).fract());
        format!("{rate},{},{}\n", rate + 0.01 * (k as f64 * 1.7).sin(), (400.0 * rate).sin() + 0.01 * (k as f64).cos())
    };
    std::iter::once("rate,a,b\n".to_owned()).chain((0..count).map(row)).collect()
}

#[test]
fn more_memory_than_there_is_is_refused_with_the_figure_and_auto_takes_the_model_that_fits() {
    let bench = Bench::new();
    bench.write("s.csv", &simulations(4_500));
    bench.run(&["import", "p.toml", "s.csv", "-o", "many"]).expect(0);
    let with = |memory: &str, model: &str| {
        Ran::new(bench.command(&["learn", "many", "--model", model]).env("KELFI_MEMORY", memory).output().unwrap())
    };
    let refused = with("100MB", "kernel-means").expect(5);
    // One table of 4,500 × 4,500 numbers is 162 MB; what else a fit holds is smaller.
    let figure = refused.err.split("the kernel means model needs about ").nth(1).and_then(|rest| rest.split(" MB").next());
    let megabytes: f64 = figure.and_then(|figure| figure.parse().ok()).unwrap_or(f64::NAN);
    assert!((162.0..300.0).contains(&megabytes), "{}", refused.err);
    assert!(refused.err.contains("for 4,500 simulations; 100 MB is available"), "{}", refused.err);
    assert!(refused.err.contains("would fit"), "{}", refused.err);
    with("20MB", "auto").expect(5).says("is available");
    assert!(!bench.has("many/model.json"));
}
