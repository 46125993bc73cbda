//! Starting a program under its supervisor, and saying in a user's words why one could not be started.

use super::supervisor::{Channels, split};
use super::tail::Tail;
use super::{Process, without_waiting};
use crate::SimulatorProgram;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Tries and pause for a program file that somebody still holds open for writing.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// Why a program did not start.
#[derive(Debug)]
pub(crate) enum NotStarted {
    /// The machine had no process, memory or descriptor to spare: worth another try.
    ForNow(String),
    /// Trying again gives the same.
    ForGood(String),
}

/// Starts `arguments` where and how the simulator's settings say, with a pipe for stdin or nothing to read.
pub(crate) fn start(simulator: &SimulatorProgram, arguments: &[String], with_input: bool) -> Result<Process, NotStarted> {
    let mut tries = 0;
    loop {
        match spawn(simulator, arguments, with_input) {
            Ok(process) => return Ok(process),
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES => {
                tries += 1;
                std::thread::sleep(BUSY_PAUSE);
            }
            Err(error) => return Err(explain(simulator, &arguments[0], &error)),
        }
    }
}

fn spawn(simulator: &SimulatorProgram, arguments: &[String], with_input: bool) -> io::Result<Process> {
    let (orders_in, orders) = io::pipe()?;
    let (reports, reports_out) = io::pipe()?;
    let mut command = Command::new(&arguments[0]);
    command.args(&arguments[1..]).envs(simulator.environment.iter().map(|(name, value)| (name, value)));
    if let Some(directory) = &simulator.directory {
        command.current_dir(directory);
    }
    command.stdin(if with_input { Stdio::piped() } else { Stdio::null() }).stdout(Stdio::piped()).stderr(Stdio::piped());
    let channels = Channels { orders: orders_in.as_raw_fd(), reports: reports_out.as_raw_fd() };
    // SAFETY: the hook runs in the forked child just before exec, where `split` keeps to system calls; both descriptors are open there
    // because this function holds them until after `spawn`.
    unsafe { command.pre_exec(move || split(channels)) };
    let mut supervisor = command.spawn()?;
    drop((orders_in, reports_out));
    let (stdin, stdout, stderr) = (supervisor.stdin.take(), supervisor.stdout.take(), supervisor.stderr.take());
    let process = Process {
        supervisor,
        orders: Some(orders),
        reports: Some(reports),
        stdin,
        unsent: Vec::new(),
        close_when_sent: false,
        stdout,
        stderr,
        output: Vec::new(),
        errors: Tail::default(),
        ended: None,
    };
    process.stdin.as_ref().map_or(Ok(()), without_waiting)?;
    process.stdout.as_ref().map_or(Ok(()), without_waiting)?;
    process.stderr.as_ref().map_or(Ok(()), without_waiting)?;
    process.reports.as_ref().map_or(Ok(()), without_waiting)?;
    Ok(process)
}

fn explain(simulator: &SimulatorProgram, program: &str, error: &io::Error) -> NotStarted {
    const FOR_NOW: [i32; 5] = [libc::EAGAIN, libc::ENOMEM, libc::EMFILE, libc::ENFILE, libc::ETXTBSY];
    if error.raw_os_error().is_some_and(|code| FOR_NOW.contains(&code)) {
        return NotStarted::ForNow(format!("{program:?} could not be started: {error}"));
    }
    if let Some(directory) = simulator.directory.as_ref().filter(|directory| !directory.is_dir()) {
        return NotStarted::ForGood(format!("the working directory {} does not exist", directory.display()));
    }
    let place = located(simulator, program);
    let reason = match (error.kind(), place.is_file()) {
        (io::ErrorKind::NotFound, true) => "it exists, but the interpreter named in its first line does not".to_owned(),
        (io::ErrorKind::NotFound, false) if program.contains('/') => "there is no such file".to_owned(),
        (io::ErrorKind::NotFound, false) => {
            "there is no such program in PATH; write \"./name\" for a file next to the problem file".to_owned()
        }
        (io::ErrorKind::PermissionDenied, true) => "it is not executable; try chmod +x, or name its interpreter first".to_owned(),
        _ => error.to_string(),
    };
    NotStarted::ForGood(format!("{program:?} could not be started: {reason}"))
}

/// Where a program named with a path is looked for.
fn located(simulator: &SimulatorProgram, program: &str) -> PathBuf {
    match &simulator.directory {
        Some(directory) if program.contains('/') => directory.join(program),
        _ => Path::new(program).to_path_buf(),
    }
}
