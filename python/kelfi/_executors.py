"""Tasks on any `concurrent.futures.Executor`, each until it has an outcome, also when workers die on the way."""

from __future__ import annotations

import concurrent.futures as futures
import itertools
import secrets
import sys
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import ProcessPoolExecutor
from typing import Any, Optional

from ._call import Calls, Outcome
from .errors import SimulationError

# A task whose worker died this often is given up.
MOST_DEATHS = 3
# A task that was lost this often without its worker's death stops the run.
MOST_LOSSES = 5
# Broken pools in a row without one finished task: then it is not a task's fault.
MOST_BREAKS = 12
# Tasks in flight for each worker of a process pool. All of them are suspects when one breaks it.
TASKS_PER_WORKER = 4
TASKS_IN_FLIGHT = 2000
# How often waiting looks up, so that Ctrl-C is heard.
TICK = 0.1
# Seconds without a single worker after which a Dask cluster is given up.
LONGEST_WITHOUT_WORKERS = 60.0
ASK_FOR_WORKERS = 2.0


class Lost(Exception):
    """The worker that had this task, or its result, is gone."""


class Killed(Exception):
    """Several workers in a row died while they had this task."""


class Elsewhere:
    """The tasks on an executor. `lost` counts simulations that were started again because a worker died."""

    def __init__(self, executor: futures.Executor, function: Callable[..., list[Outcome]], arguments: tuple[Any, ...]) -> None:
        self.lost = 0
        self._executor = executor
        self._replacement: Optional[futures.Executor] = None
        self._function, self._arguments = function, arguments
        self._running: dict[futures.Future[list[Outcome]], Calls] = {}
        self._deaths: Counter[tuple[int, ...]] = Counter()
        self._run, self._submissions = secrets.token_hex(8), itertools.count()
        self._started_alone: set[tuple[int, ...]] = set()
        self._losses: Counter[tuple[int, ...]] = Counter()
        self._breaks = 0
        self._workers_seen = self._asked = time.monotonic()

    @property
    def broke(self) -> bool:
        """Whether the executor given can be used no more."""
        return self._replacement is not None

    def run(self, tasks: Sequence[Calls]) -> Iterator[tuple[Calls, list[Outcome]]]:
        """Every task with its outcomes, in the order of completion."""
        waiting, suspects = deque(tasks), deque[Calls]()
        try:
            while waiting or suspects or self._running:
                self._fill(waiting, suspects)
                done, _ = futures.wait(self._running, timeout=TICK, return_when=futures.FIRST_COMPLETED)
                in_flight, broken = len(self._running), []
                if not done:
                    self._require_workers()
                for future in done:
                    task = self._running.pop(future)
                    try:
                        yield task, self._result(future)
                        self._breaks = 0
                    except Lost as error:
                        self._once_more(task, waiting, error)
                    except Killed:
                        yield from self._alone(task, suspects)
                    except futures.BrokenExecutor:
                        broken.append(task)
                if broken:
                    yield from self._mend(broken, in_flight, suspects)
        finally:
            for future in self._running:
                future.cancel()
            if self._replacement is not None:
                self._replacement.shutdown(wait=True)

    def _fill(self, waiting: deque[Calls], suspects: deque[Calls]) -> None:
        """Keeps the executor busy; tasks suspected of breaking a pool run one at a time, alone."""
        while (suspects and not self._running) or (waiting and not suspects and len(self._running) < self._window()):
            task = (suspects or waiting).popleft()
            if not self._running:
                self._started_alone.add(task.indices)
            pool = self._replacement or self._executor
            try:
                handed_out = task._replace(submission=f"{self._run} {next(self._submissions)}")
                self._running[pool.submit(self._function, *self._arguments, handed_out)] = task
                if len(self._running) > 1:
                    self._started_alone.clear()
            except futures.BrokenExecutor:
                broken: futures.Future[list[Outcome]] = futures.Future()
                broken.set_exception(futures.BrokenExecutor())
                self._running[broken] = task
                return
            except RuntimeError as error:
                raise SimulationError(f"the executor accepts no tasks: {error}\n  give one that is not shut down") from error

    def _window(self) -> int:
        pool = self._replacement or self._executor
        return TASKS_PER_WORKER * _workers(pool) if _is_process_pool(pool) else TASKS_IN_FLIGHT

    def _result(self, future: futures.Future[list[Outcome]]) -> list[Outcome]:
        try:
            return future.result()
        except futures.BrokenExecutor:
            raise
        except futures.CancelledError as error:
            raise Lost from error
        except Exception as error:
            # Dask's way of saying that workers died under a task; it has tried others already.
            if any(kind.__name__ == "KilledWorker" for kind in type(error).__mro__):
                raise Killed from error
            # Dask stumbles over a result that was lost with its worker while it was fetched.
            if isinstance(error, ValueError) and "values to unpack" in str(error) and _client(self._executor) is not None:
                raise Lost from error
            raise SimulationError(
                f"the executor could not call the simulator: {type(error).__name__}: {error}\n"
                "  processes need a simulator they can import: define it at the top level of a module"
            ) from error

    def _again(self, task: Calls, queue: deque[Calls]) -> Iterator[tuple[Calls, list[Outcome]]]:
        self._deaths[task.indices] += 1
        if self._deaths[task.indices] >= MOST_DEATHS:
            yield from _given_up(task, f"the worker died {MOST_DEATHS} times during this simulation")
        else:
            self.lost += len(task.indices)
            queue.append(task)

    def _once_more(self, task: Calls, waiting: deque[Calls], error: Lost) -> None:
        """A task that was lost on the way. That is not the simulation's doing: it never makes a failed one."""
        self._losses[task.indices] += 1
        if self._losses[task.indices] > MOST_LOSSES:
            raise SimulationError(
                f"the executor lost simulation {task.indices[0]} {MOST_LOSSES} times: {type(error.__cause__).__name__}\n"
                "  is the cluster still there? a store keeps what is simulated"
            ) from error
        self.lost += len(task.indices)
        waiting.append(task)

    def _alone(self, task: Calls, suspects: deque[Calls]) -> Iterator[tuple[Calls, list[Outcome]]]:
        """A task whose workers died, though another on the same workers may be to blame: once more with nothing else running."""
        if task.indices in self._started_alone:
            yield from _given_up(task, "every worker that was given this simulation died, also when it ran alone")
        else:
            self.lost += len(task.indices)
            suspects.append(task)

    def _require_workers(self) -> None:
        """An error when a Dask cluster has had no workers for long: its tasks would wait for ever."""
        client, now = _client(self._executor), time.monotonic()
        if client is None or now - self._asked < ASK_FOR_WORKERS:
            return
        self._asked = now
        if client.scheduler_info().get("workers"):
            self._workers_seen = now
        elif now - self._workers_seen > LONGEST_WITHOUT_WORKERS:
            raise SimulationError(
                f"the Dask cluster has had no workers for {LONGEST_WITHOUT_WORKERS:.0f} seconds\n"
                "  start workers with a nanny, which starts them anew when a simulation kills them; a store keeps what is simulated"
            )

    def _mend(self, broken: list[Calls], in_flight: int, suspects: deque[Calls]) -> Iterator[tuple[Calls, list[Outcome]]]:
        """A new pool for a broken one. Everything that was in flight is lost, and one of it is to blame."""
        self._breaks += 1
        for future, task in list(self._running.items()):
            try:
                outcomes = future.result(timeout=60)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                broken.append(task)
            else:
                yield task, outcomes
        self._running.clear()
        pool = self._replacement or self._executor
        if not _is_process_pool(pool):
            raise SimulationError(
                f"the executor is broken: {type(pool).__name__} accepts no more tasks, and kelfi cannot make another like it\n"
                "  look at its initializer and at memory limits; a store keeps what is simulated"
            )
        if self._breaks > MOST_BREAKS:
            raise SimulationError("the executor is broken: its workers end before they do any work\n  look at its initializer and at memory limits")
        _end_workers(pool)
        if self._replacement is not None:
            self._replacement.shutdown(wait=False)
        else:
            warnings.warn(
                "a simulation killed its worker, which broke the executor; a new one with its settings goes on, "
                "but the one you gave can no longer be used",
                RuntimeWarning,
                stacklevel=2,
            )
        self._replacement = _like(pool)
        broken.sort(key=lambda task: task.indices)
        if in_flight == 1:
            yield from self._again(broken[0], suspects)
        else:
            self.lost += sum(len(task.indices) for task in broken)
            suspects.extend(broken)


def _given_up(task: Calls, fact: str) -> Iterator[tuple[Calls, list[Outcome]]]:
    yield task, [Outcome("signal", None, fact, 0.0)] * len(task.indices)


def _client(executor: futures.Executor) -> Any:
    """The Dask client of an executor that has one."""
    client = getattr(executor, "_client", None)
    return client if callable(getattr(client, "scheduler_info", None)) else None


def _is_process_pool(pool: futures.Executor) -> bool:
    """Python's own process pool or loky's, by whatever package it comes: a worker's death breaks them, and another one can be made."""
    return isinstance(pool, ProcessPoolExecutor) or _is_loky(pool)


def _is_loky(pool: futures.Executor) -> bool:
    return any("loky" in kind.__module__ and kind.__name__ == "ProcessPoolExecutor" for kind in type(pool).__mro__)


def _workers(pool: futures.Executor) -> int:
    return int(getattr(pool, "_max_workers", 1) or 1)


def _end_workers(pool: Any) -> None:
    """Ends what is left of a broken pool. A worker that was started while the pool broke is waited for without end when Python exits."""
    if isinstance(pool, ProcessPoolExecutor):
        for worker in list((getattr(pool, "_processes", None) or {}).values()):
            worker.kill()


def _like(pool: futures.Executor) -> futures.Executor:
    """A fresh pool with the settings of a broken one, which cannot be used again."""
    settings: dict[str, Any] = {
        "max_workers": _workers(pool),
        "initializer": getattr(pool, "_initializer", None),
        "initargs": getattr(pool, "_initargs", ()),
    }
    if not _is_loky(pool):
        return ProcessPoolExecutor(mp_context=getattr(pool, "_mp_context", None), **settings)
    settings.update(context=getattr(pool, "_context", None), timeout=getattr(pool, "_timeout", None), env=getattr(pool, "_env", None))
    # loky keeps one pool for all who ask for it and makes another when that one is broken.
    reusable = getattr(sys.modules[type(pool).__module__], "get_reusable_executor", None)
    kind: Any = type(pool) if reusable is None else reusable
    made: futures.Executor = kind(**settings)
    return made
