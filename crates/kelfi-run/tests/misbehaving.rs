//! Simulators that misbehave: each gets the right status, the run goes on, and nothing is left behind.
#![cfg(target_os = "linux")]

mod common;

use common::{Bench, PYTHON, peak_memory};
use kelfi_run::{Cancellation, Outcome, Protocol, Simulate, SimulatorProgram, Status, Task};
use std::path::Path;
use std::time::{Duration, Instant};

/// Growth of resident memory that a gigabyte of output may cause at most.
const MEMORY_LIMIT: u64 = 64 << 20;

fn task() -> Task {
    Task { index: 3, seed: 17, seed64: 18, parameters: vec![0.25] }
}

fn call(simulator: &SimulatorProgram) -> Outcome {
    simulator.session().call(&task(), &Cancellation::new())
}

/// Runs `script` once, checks status and a part of the message, and that neither a process nor a file is left.
fn misbehaves(script: &str, status: Status, part: &str) {
    let bench = Bench::new();
    let program = bench.script("simulate", script);
    behaves_with(&bench, &bench.simulator(&program), status, part);
}

fn behaves_with(bench: &Bench, simulator: &SimulatorProgram, status: Status, part: &str) {
    let files = bench.files();
    let outcome = call(simulator);
    assert_eq!(outcome.status, status, "{}", outcome.message);
    assert!(outcome.message.contains(part), "{:?} does not contain {part:?}", outcome.message);
    assert_eq!(bench.left_behind(), [], "processes are left");
    assert_eq!(bench.files(), files, "files are left");
    let good = bench.script("good", "#!/bin/sh\necho 1 2\n");
    let next = SimulatorProgram { directory: None, ..bench.simulator(&good) };
    assert_eq!(call(&next), Outcome::ok(vec![1.0, 2.0]), "the run does not go on");
}

#[test]
fn a_good_program_gets_its_parameters_and_gives_its_statistics() {
    misbehaves("#!/bin/sh\ntest \"$1 $2 $3\" = '0.25 17 3' && echo 1.5 2\n", Status::Ok, "");
}

#[test]
fn exit_1_keeps_the_code_and_stderr() {
    misbehaves("#!/bin/sh\necho 1 2\necho 'singular matrix' >&2\nexit 1\n", Status::ExitCode, "exit code 1\nsingular matrix");
}

#[test]
fn empty_output() {
    misbehaves("#!/bin/sh\nexit 0\n", Status::WrongCount, "0 numbers printed, 2 statistics");
}

#[test]
fn nan_names_the_statistic() {
    misbehaves("#!/bin/sh\necho 1 nan\n", Status::NonFinite, "statistic `b` is NaN");
}

#[test]
fn too_few_numbers() {
    misbehaves("#!/bin/sh\necho 1\n", Status::WrongCount, "1 number printed, 2 statistics");
}

#[test]
fn too_many_numbers() {
    misbehaves("#!/bin/sh\necho 1 2 3\n", Status::WrongCount, "3 numbers printed, 2 statistics");
}

#[test]
fn garbage() {
    misbehaves("#!/bin/sh\necho hello world\n", Status::BadOutput, "\"hello\" is not a number");
}

#[test]
fn nul_bytes() {
    misbehaves("#!/bin/sh\nprintf '1 \\0 2'\n", Status::BadOutput, "NUL");
}

#[test]
fn a_gigabyte_of_output_with_and_without_newlines_is_cut_short() {
    let before = peak_memory();
    for script in ["#!/bin/sh\nyes 123456789 | head -c 1000000000\n", "#!/bin/sh\nhead -c 1000000000 /dev/zero\n"] {
        let bench = Bench::new();
        let simulator = SimulatorProgram { timeout: Duration::from_secs(20), ..bench.simulator(&bench.script("simulate", script)) };
        behaves_with(&bench, &simulator, Status::TooMuchOutput, "more than 4194304 bytes");
        let worker = SimulatorProgram { protocol: Protocol::Worker, ..simulator };
        let outcome = call(&worker);
        assert!(matches!(outcome.status, Status::TooMuchOutput | Status::BadOutput), "{}", outcome.message);
        assert_eq!(bench.left_behind(), []);
    }
    let growth = peak_memory().saturating_sub(before);
    assert!(growth < MEMORY_LIMIT, "{growth} bytes");
}

#[test]
fn a_gigabyte_on_stderr_is_read_and_forgotten() {
    let before = peak_memory();
    let bench = Bench::new();
    let program = bench.script("simulate", "#!/bin/sh\nyes x | head -c 1000000000 >&2\necho last words >&2\nexit 3\n");
    let simulator = SimulatorProgram { timeout: Duration::from_secs(60), ..bench.simulator(&program) };
    behaves_with(&bench, &simulator, Status::ExitCode, "last words");
    // The kernel counts in batches: a little later the peak may read lower.
    assert!(peak_memory().saturating_sub(before) < MEMORY_LIMIT);
}

#[test]
fn a_program_that_hangs() {
    misbehaves("#!/bin/sh\necho waiting >&2\nsleep 1000\n", Status::Timeout, "took longer than 0.5 s\nwaiting");
}

#[test]
fn a_program_that_ignores_term() {
    let began = Instant::now();
    misbehaves("#!/bin/sh\ntrap '' TERM INT HUP\nwhile :; do sleep 0.1; done\n", Status::Timeout, "took longer");
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_program_that_cleans_up_on_term_is_given_the_time() {
    let bench = Bench::new();
    let program = bench.script("simulate", "#!/bin/sh\ntouch scratch\ntrap 'rm scratch; exit 0' TERM\nwhile :; do sleep 0.05; done\n");
    behaves_with(&bench, &bench.simulator(&program), Status::Timeout, "took longer");
    assert!(!bench.path().join("work/scratch").exists());
}

#[test]
fn a_child_that_outlives_the_program_is_ended() {
    misbehaves("#!/bin/sh\nsleep 1000 > /dev/null 2>&1 &\necho 1 2\n", Status::Ok, "");
}

#[test]
fn a_daemon_in_a_session_of_its_own_is_ended_after_success_and_after_a_timeout() {
    misbehaves("#!/bin/sh\n(setsid sh -c 'sleep 1000 & sleep 1000' > /dev/null 2>&1 &)\nsleep 0.1\necho 1 2\n", Status::Ok, "");
    misbehaves("#!/bin/sh\n(setsid sleep 1000 &)\n(setsid setsid sleep 1000 &)\nsleep 1000\n", Status::Timeout, "");
}

#[test]
fn a_daemon_without_our_environment_is_ended_too() {
    let bench = Bench::new();
    let program = bench.script("simulate", "#!/bin/sh\n(env -i setsid sh -c 'echo $$ > daemon; exec sleep 1000' &)\nwhile ! test -s daemon; do sleep 0.01; done\necho 1 2 > /dev/null\necho 1 2\n");
    behaves_with(&bench, &SimulatorProgram { timeout: Duration::from_secs(20), ..bench.simulator(&program) }, Status::Ok, "");
    let pid = std::fs::read_to_string(bench.path().join("work/daemon")).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "daemon {pid} is left");
}

#[test]
fn a_descendant_that_keeps_stdout_open_does_not_hold_up_the_call() {
    let began = Instant::now();
    misbehaves("#!/bin/sh\necho 1 2\nsleep 1000 &\n", Status::Ok, "");
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_segmentation_fault() {
    let script = format!("#!{PYTHON}\nimport os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n");
    let bench = Bench::new();
    let simulator = SimulatorProgram { timeout: Duration::from_secs(20), ..bench.simulator(&bench.script("simulate", &script)) };
    behaves_with(&bench, &simulator, Status::Signal, "signal 11 (SIGSEGV)");
}

#[test]
fn a_program_that_closes_stdout() {
    misbehaves("#!/bin/sh\nexec >&-\nsleep 0.1\n", Status::WrongCount, "0 numbers");
    misbehaves("#!/bin/sh\nexec >&- 2>&-\nsleep 1000\n", Status::Timeout, "took longer");
}

#[test]
fn a_program_that_reads_stdin_finds_its_end() {
    misbehaves("#!/bin/sh\ncat\necho 1 2\n", Status::Ok, "");
    misbehaves("#!/bin/sh\nwhile :; do read line; done\n", Status::Timeout, "took longer");
}

#[test]
fn a_program_that_deletes_its_working_directory() {
    let bench = Bench::new();
    let program = bench.script("simulate", "#!/bin/sh\necho 1 2\nrm -r \"$PWD\"\n");
    let simulator = bench.simulator(&program);
    assert_eq!(call(&simulator).status, Status::Ok);
    behaves_with(&bench, &simulator, Status::CouldNotStart, "working directory");
}

#[test]
fn a_file_that_is_not_executable() {
    let bench = Bench::new();
    let program = bench.path().join("simulate");
    std::fs::write(&program, "#!/bin/sh\necho 1 2\n").unwrap();
    behaves_with(&bench, &bench.simulator(&program), Status::CouldNotStart, "not executable");
}

#[test]
fn a_program_that_is_missing() {
    let bench = Bench::new();
    behaves_with(&bench, &bench.simulator(Path::new("./missing")), Status::CouldNotStart, "no such file");
    behaves_with(&bench, &bench.simulator(Path::new("kelfi-no-such-program")), Status::CouldNotStart, "PATH");
}

#[test]
fn a_first_line_that_names_no_interpreter() {
    misbehaves("#!/no/such/interpreter\n", Status::CouldNotStart, "interpreter");
}

#[test]
fn a_program_that_is_done_at_once() {
    let bench = Bench::new();
    let simulator = SimulatorProgram { statistics: vec!["a".into()], ..SimulatorProgram::new(["/bin/echo", "{rate}"], &["rate"], &["a"]) };
    for _ in 0..50 {
        assert_eq!(call(&simulator), Outcome::ok(vec![0.25]));
    }
    assert_eq!(bench.left_behind(), []);
}

#[test]
fn a_program_that_stops_itself() {
    misbehaves("#!/bin/sh\nkill -STOP $$\necho 1 2\n", Status::Timeout, "took longer");
}

#[test]
fn a_decimal_comma() {
    misbehaves("#!/bin/sh\necho '3,5 2,1'\n", Status::WrongCount, "decimal comma");
}

#[test]
fn windows_line_ends() {
    misbehaves("#!/bin/sh\nprintf '1\\r\\n2\\r\\n'\n", Status::Ok, "");
}

#[test]
fn a_byte_order_mark() {
    misbehaves("#!/bin/sh\nprintf '\\357\\273\\2771 2\\n'\n", Status::Ok, "");
}

#[test]
fn a_program_that_kills_its_supervisor_is_found_out() {
    let bench = Bench::new();
    let program = bench.script("simulate", "#!/bin/sh\nkill -KILL $PPID\nsleep 0.3\n");
    let outcome = call(&bench.simulator(&program));
    assert_eq!(outcome.status, Status::Killed);
    assert!(outcome.message.contains("was killed"), "{}", outcome.message);
}

#[test]
fn an_interrupt_ends_a_running_program_at_once() {
    let bench = Bench::new();
    let program = bench.script("simulate", "#!/bin/sh\ntrap '' TERM\n(setsid sleep 1000 &)\nsleep 1000\n");
    let simulator = SimulatorProgram { timeout: Duration::from_secs(100), ..bench.simulator(&program) };
    let cancellation = Cancellation::new();
    let began = Instant::now();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| simulator.session().call(&task(), &cancellation));
        std::thread::sleep(Duration::from_millis(300));
        cancellation.request();
        std::thread::sleep(Duration::from_millis(100));
        assert!(!call.is_finished(), "the first request lets it finish");
        cancellation.request();
        assert_eq!(call.join().unwrap().status, Status::Interrupted);
    });
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(bench.left_behind(), []);
}
