//! The small process between us and a program, so that nothing the program starts can outlive the call.
//!
//! Starting a program forks twice: the first child stays as supervisor, the second becomes the program. On Linux the supervisor is a
//! *subreaper*: every orphan among the program's descendants becomes its child, also one in another session, so "kill my children
//! until I have none" ends the whole tree and nothing else. It acts on bytes from us and takes the end of that pipe (we are done, or
//! we died, even by kill -9) as the order to do so. Elsewhere the process group stands in for the tree.
//!
//! The supervisor shares our memory image but not our threads, so it only makes system calls: no allocation, no locks.

use std::io;
use std::os::fd::RawFd;

/// Order to send SIGTERM to the program's process group.
pub(super) const TERMINATE: u8 = b'T';

/// Exit code of a supervisor that could not end everything.
pub(super) const SURVIVORS: i32 = 1;

/// How long the supervisor tries to end what does not die (uninterruptible, or another user's).
const PATIENCE_NANOSECONDS: libc::c_long = 2_000_000_000;

/// The supervisor's ends of the two pipes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Channels {
    /// Orders come in here; its end means "end everything".
    pub orders: RawFd,
    /// The program's wait status goes out here, 4 bytes.
    pub reports: RawFd,
}

/// Splits the forked child in two. Returns in the process that is to become the program; the other one supervises and never returns.
///
/// # Safety
/// Must be called in a freshly forked child that has a single thread and is about to exec.
pub(super) unsafe fn split(channels: Channels) -> io::Result<()> {
    // SAFETY: system calls only, on values of this frame; the caller guarantees a single thread.
    unsafe {
        // A group of its own keeps a terminal's Ctrl-C away. Not a session: Linux schedules each session as a group of its own
        // (autogroup), and a second one for every call halves the number of calls per second on a busy machine.
        libc::setpgid(0, 0);
        become_subreaper();
        // SIGCHLD must neither be ignored (the status would be lost) nor interrupt outside `pselect`.
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = noticed as extern "C" fn(libc::c_int) as libc::sighandler_t;
        libc::sigaction(libc::SIGCHLD, &action, std::ptr::null_mut());
        let blocked = set_of(libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &blocked, std::ptr::null_mut());
        let supervisor = libc::getpid();
        match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                libc::setsid();
                libc::sigprocmask(libc::SIG_UNBLOCK, &blocked, std::ptr::null_mut());
                die_with(supervisor);
                Ok(())
            }
            program => supervise(program, channels),
        }
    }
}

/// # Safety
/// As [`split`], in the process that stays.
unsafe fn supervise(program: libc::pid_t, channels: Channels) -> ! {
    // SAFETY: system calls only, on values of this frame.
    unsafe {
        for signal in [libc::SIGPIPE, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2] {
            libc::signal(signal, libc::SIG_IGN);
        }
        // Keep only the two pipes: any other descriptor held here would keep files, locks and other calls' pipes open.
        libc::dup2(channels.orders, 0);
        libc::dup2(channels.reports, 1);
        close_from(2);
        libc::chdir(c"/".as_ptr());
        rename();
        let running = serve(program);
        libc::_exit(if end_all(running.then_some(program)) { 0 } else { SURVIVORS });
    }
}

/// Reports the program's end and obeys orders until they end or there is nothing left to supervise, which is also so when the
/// program could not be executed. Returns whether the program still runs.
///
/// # Safety
/// As [`split`].
unsafe fn serve(program: libc::pid_t) -> bool {
    let mut running = true;
    // SAFETY: system calls only, on values of this frame; descriptor 0 is within every fd_set.
    unsafe {
        let nothing_blocked = empty_set();
        loop {
            let mut status = 0;
            let mut pid = libc::waitpid(-1, &mut status, libc::WNOHANG);
            while pid > 0 {
                if pid == program {
                    running = false;
                    libc::write(1, (&raw const status).cast(), size_of::<libc::c_int>());
                }
                pid = libc::waitpid(-1, &mut status, libc::WNOHANG);
            }
            if pid < 0 {
                return false;
            }
            let mut readable: libc::fd_set = std::mem::zeroed();
            libc::FD_ZERO(&mut readable);
            libc::FD_SET(0, &mut readable);
            let null = std::ptr::null_mut();
            if libc::pselect(1, &mut readable, null, null, std::ptr::null(), &nothing_blocked) <= 0 {
                continue;
            }
            let mut order = 0_u8;
            if libc::read(0, (&raw mut order).cast(), 1) <= 0 {
                return running;
            }
            // Not reaped yet, so the number still names this program's group.
            if order == TERMINATE && running {
                libc::kill(-program, libc::SIGTERM);
            }
        }
    }
}

/// Kills children until there is none: each death makes its own children ours. Returns whether that succeeded in time.
///
/// # Safety
/// As [`split`].
unsafe fn end_all(program: Option<libc::pid_t>) -> bool {
    // SAFETY: system calls only, on values of this frame. Children are not reaped between being listed and being killed, so no
    // number can have passed to a stranger.
    unsafe {
        if let Some(program) = program {
            libc::kill(-program, libc::SIGKILL);
            libc::kill(program, libc::SIGKILL);
        }
        let (mut waited, mut pause): (libc::c_long, libc::c_long) = (0, 100_000);
        loop {
            kill_children();
            loop {
                match libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) {
                    0 => break,
                    -1 => return true,
                    _ => {}
                }
            }
            if waited > PATIENCE_NANOSECONDS {
                return false;
            }
            libc::nanosleep(&libc::timespec { tv_sec: 0, tv_nsec: pause }, std::ptr::null_mut());
            waited += pause;
            pause = (pause * 2).min(20_000_000);
        }
    }
}

/// SIGKILL to every child the kernel lists for this process.
///
/// # Safety
/// As [`split`].
#[cfg(target_os = "linux")]
unsafe fn kill_children() {
    // SAFETY: system calls only, on values of this frame.
    unsafe {
        let list = libc::open(c"/proc/thread-self/children".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if list < 0 {
            return;
        }
        let mut chunk = [0_u8; 1024];
        let mut pid: libc::pid_t = 0;
        loop {
            let count = libc::read(list, chunk.as_mut_ptr().cast(), chunk.len());
            if count <= 0 {
                break;
            }
            for &byte in chunk.iter().take(count as usize) {
                if byte.is_ascii_digit() {
                    pid = pid.wrapping_mul(10).wrapping_add(libc::pid_t::from(byte - b'0'));
                } else if pid > 0 {
                    libc::kill(pid, libc::SIGKILL);
                    pid = 0;
                }
            }
        }
        if pid > 0 {
            libc::kill(pid, libc::SIGKILL);
        }
        libc::close(list);
    }
}

/// Without subreapers the program is the only child, and its group was killed already.
///
/// # Safety
/// None needed.
#[cfg(not(target_os = "linux"))]
unsafe fn kill_children() {}

/// # Safety
/// As [`split`].
unsafe fn become_subreaper() {
    #[cfg(target_os = "linux")]
    // SAFETY: a system call without pointers.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
}

/// Has the kernel kill the program should its supervisor be killed, so that killing this command and the supervisor together leaves
/// nothing at work. The wish survives exec; what the program itself starts has the supervisor only.
///
/// # Safety
/// As [`split`], in the process that is to become the program.
unsafe fn die_with(supervisor: libc::pid_t) {
    #[cfg(target_os = "linux")]
    // SAFETY: system calls without pointers.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        // It may have been killed before the wish was known.
        if libc::getppid() != supervisor {
            libc::_exit(1);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = supervisor;
}

/// A name of its own, so that `killall kelfi` ends the command and leaves the supervisor to clean up.
///
/// # Safety
/// As [`split`].
unsafe fn rename() {
    #[cfg(target_os = "linux")]
    // SAFETY: the name is a constant that ends with NUL.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"simulation-care".as_ptr(), 0, 0, 0);
    }
}

/// Closes every descriptor from `first` on.
///
/// # Safety
/// As [`split`].
unsafe fn close_from(first: libc::c_int) {
    // SAFETY: system calls only; nothing of this process uses those descriptors.
    unsafe {
        #[cfg(target_os = "linux")]
        if libc::syscall(libc::SYS_close_range, first as libc::c_uint, libc::c_uint::MAX, 0) == 0 {
            return;
        }
        // Older kernels and other systems: one by one, as far as descriptors are likely to go.
        let limit = libc::sysconf(libc::_SC_OPEN_MAX).clamp(256, 65_536) as libc::c_int;
        for descriptor in first..limit {
            libc::close(descriptor);
        }
    }
}

/// Its only purpose is to interrupt `pselect`.
extern "C" fn noticed(_: libc::c_int) {}

/// # Safety
/// None beyond a valid system: fills a value of this frame.
unsafe fn empty_set() -> libc::sigset_t {
    // SAFETY: sigset_t is plain data that sigemptyset fills.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        set
    }
}

/// # Safety
/// As [`empty_set`].
unsafe fn set_of(signal: libc::c_int) -> libc::sigset_t {
    // SAFETY: as above.
    unsafe {
        let mut set = empty_set();
        libc::sigaddset(&mut set, signal);
        set
    }
}
