//! A program's wait status in the words of [`Status`].

use crate::Status;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Why this end is a failure, if it is one.
pub(crate) fn failure_of(ended: ExitStatus) -> Option<(Status, String)> {
    if ended.signal() == Some(libc::SIGKILL) {
        // Nothing here kills a program and then asks how it ended.
        return Some((Status::Killed, "killed (signal 9), usually by the system because memory ran out".into()));
    }
    if let Some(signal) = ended.signal() {
        return Some((Status::Signal, format!("ended by signal {signal}{}", name(signal))));
    }
    match ended.code() {
        Some(0) => None,
        Some(137) => Some((Status::ExitCode, "exit code 137 (killed; out of memory?)".into())),
        Some(code) => Some((Status::ExitCode, format!("exit code {code}"))),
        None => Some((Status::Signal, format!("ended with wait status {}", ended.into_raw()))),
    }
}

/// The names people look for in messages.
fn name(signal: i32) -> &'static str {
    match signal {
        libc::SIGABRT => " (SIGABRT)",
        libc::SIGBUS => " (SIGBUS)",
        libc::SIGFPE => " (SIGFPE)",
        libc::SIGILL => " (SIGILL)",
        libc::SIGPIPE => " (SIGPIPE)",
        libc::SIGSEGV => " (SIGSEGV)",
        libc::SIGTERM => " (SIGTERM)",
        _ => "",
    }
}
