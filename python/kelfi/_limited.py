"""Calls that may take only so long: each in a process of its own, which is ended when its time is up."""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
import warnings
from collections.abc import Callable
from typing import Any, Optional

from ._arrays import number
from ._call import Outcome, one
from .errors import InputError

HAS_FORK = hasattr(os, "fork")
# An outcome is preceded by its length in so many bytes.
LENGTH = 8

# Python warns of forks beside threads. The child makes one call and ends; should a lock of another thread stop it, its time runs out.
warnings.filterwarnings("ignore", message=".*multi-threaded.*fork", category=DeprecationWarning, module=__name__)


def limit_of(timeout: float, batched: bool) -> float:
    """The limit in seconds, checked."""
    limit = number("timeout", timeout)
    if limit <= 0.0:
        raise InputError(f"timeout = {limit} is not allowed: it must be positive")
    if batched:
        raise InputError("timeout was asked for with batched=True\n  a limit is for one simulation: leave out one of the two")
    if not HAS_FORK:
        raise InputError("timeout needs a system on which processes can fork; Windows cannot\n  let the simulator watch its own time")
    return limit


def one_within(limit: float, simulator: Callable[..., Any], theta: Any, seed: int, with_seed: bool) -> Outcome:
    """One call in a forked process. When the limit is over it is killed, with every process it started, and counts as failed."""
    began = time.perf_counter()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _answer_and_end(limit, reading, writing, simulator, theta, seed, with_seed)
    os.close(writing)
    try:
        said = _read(reading, began + limit)
    finally:
        os.close(reading)
        _end(child)
        status = os.waitpid(child, 0)[1]
    seconds = time.perf_counter() - began
    if said is None:
        return Outcome("timeout", None, f"it took longer than {limit:g} seconds", seconds)
    if not said:
        ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        kind = "signal" if os.WIFSIGNALED(status) else "exit code"
        return Outcome("signal", None, f"its process ended with {kind} {ended}", seconds)
    outcome: Outcome = pickle.loads(said)
    return outcome


def _answer_and_end(limit: float, reading: int, writing: int, simulator: Callable[..., Any], theta: Any, seed: int, with_seed: bool) -> None:
    """The child: a group of its own, one call, the outcome into the pipe."""
    try:
        os.setsid()
        os.close(reading)
        # Should the parent be killed, nobody else ends a call that does not end by itself.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limit + 1.0)
        found = pickle.dumps(one(simulator, theta, seed, with_seed))
        said = len(found).to_bytes(LENGTH, "little") + found
        while said:
            said = said[os.write(writing, said) :]
    finally:
        os._exit(0)


def _read(reading: int, deadline: float) -> Optional[bytes]:
    """What the child says; nothing if it ended before, None when its time is over."""
    said = b""
    while len(said) < LENGTH or len(said) < LENGTH + int.from_bytes(said[:LENGTH], "little"):
        left = deadline - time.perf_counter()
        if left <= 0.0 or not select.select([reading], [], [], left)[0]:
            return None
        part = os.read(reading, 1 << 16)
        if not part:
            return b""
        said += part
    return said[LENGTH:]


def _end(child: int) -> None:
    """Kills the child and what it started; most have ended."""
    for end, which in ((os.killpg, child), (os.kill, child)):
        try:
            end(which, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
