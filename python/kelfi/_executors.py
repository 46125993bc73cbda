"""Tasks on any `concurrent.futures.Executor`, each until it has an outcome, also when workers die on the way."""

from __future__ import annotations

import concurrent.futures as futures
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import ProcessPoolExecutor
from typing import Any, Optional

from ._call import Calls, Outcome
from .errors import SimulationError

# A task whose worker died this often is given up.
MOST_DEATHS = 3
# Broken pools in a row without one finished task: then it is not a task's fault.
MOST_BREAKS = 12
# Tasks in flight for each worker of a process pool. All of them are suspects when one breaks it.
TASKS_PER_WORKER = 4
TASKS_IN_FLIGHT = 2000
# How often waiting looks up, so that Ctrl-C is heard.
TICK = 0.1

Function = Callable[[Calls], list[Outcome]]


class Lost(Exception):
    """The worker that had this task is gone."""


def here(function: Function, tasks: Sequence[Calls]) -> Iterator[tuple[Calls, list[Outcome]]]:
    """The tasks one after the other in this thread."""
    for task in tasks:
        yield task, function(task)


class Elsewhere:
    """The tasks on an executor. `lost` counts simulations that were started again because a worker died."""

    def __init__(self, executor: futures.Executor, function: Callable[..., list[Outcome]], arguments: tuple[Any, ...]) -> None:
        self.lost = 0
        self._executor = executor
        self._replacement: Optional[ProcessPoolExecutor] = None
        self._function, self._arguments = function, arguments
        self._running: dict[futures.Future[list[Outcome]], Calls] = {}
        self._deaths: Counter[tuple[int, ...]] = Counter()
        self._breaks = 0

    def run(self, tasks: Sequence[Calls]) -> Iterator[tuple[Calls, list[Outcome]]]:
        """Every task with its outcomes, in the order of completion."""
        waiting, suspects = deque(tasks), deque[Calls]()
        try:
            while waiting or suspects or self._running:
                self._fill(waiting, suspects)
                done, _ = futures.wait(self._running, timeout=TICK, return_when=futures.FIRST_COMPLETED)
                in_flight, broken = len(self._running), []
                for future in done:
                    task = self._running.pop(future)
                    try:
                        yield task, self._result(future)
                        self._breaks = 0
                    except Lost:
                        yield from self._again(task, waiting)
                    except futures.BrokenExecutor:
                        broken.append(task)
                if broken:
                    yield from self._mend(broken, in_flight, suspects)
        finally:
            for future in self._running:
                future.cancel()
            if self._replacement is not None:
                self._replacement.shutdown(wait=True, cancel_futures=True)

    def _fill(self, waiting: deque[Calls], suspects: deque[Calls]) -> None:
        """Keeps the executor busy; tasks suspected of breaking a pool run one at a time, alone."""
        while (suspects and not self._running) or (waiting and not suspects and len(self._running) < self._window()):
            task = (suspects or waiting).popleft()
            pool = self._replacement or self._executor
            try:
                self._running[pool.submit(self._function, *self._arguments, task)] = task
            except futures.BrokenExecutor:
                broken: futures.Future[list[Outcome]] = futures.Future()
                broken.set_exception(futures.BrokenExecutor())
                self._running[broken] = task
                return
            except RuntimeError as error:
                raise SimulationError(f"the executor takes no tasks: {error}\n  give one that is not shut down") from error

    def _window(self) -> int:
        pool = self._replacement or self._executor
        return TASKS_PER_WORKER * _workers(pool) if isinstance(pool, ProcessPoolExecutor) else TASKS_IN_FLIGHT

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
                raise Lost from error
            raise SimulationError(
                f"the executor could not call the simulator: {type(error).__name__}: {error}\n"
                "  processes need a simulator they can import: define it at the top level of a module"
            ) from error

    def _again(self, task: Calls, queue: deque[Calls]) -> Iterator[tuple[Calls, list[Outcome]]]:
        self._deaths[task.indices] += 1
        if self._deaths[task.indices] >= MOST_DEATHS:
            fact = f"the worker died {MOST_DEATHS} times during this simulation"
            yield task, [Outcome("signal", None, fact, 0.0)] * len(task.indices)
        else:
            self.lost += len(task.indices)
            queue.append(task)

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
        if not isinstance(pool, ProcessPoolExecutor) or self._breaks > MOST_BREAKS:
            raise SimulationError("the executor is broken: its workers end before they do any work\n  look at its initializer and at memory limits")
        if self._replacement is not None:
            self._replacement.shutdown(wait=False)
        self._replacement = _like(pool)
        broken.sort(key=lambda task: task.indices)
        if in_flight == 1:
            yield from self._again(broken[0], suspects)
        else:
            self.lost += sum(len(task.indices) for task in broken)
            suspects.extend(broken)


def _workers(pool: ProcessPoolExecutor) -> int:
    return int(getattr(pool, "_max_workers", 1) or 1)


def _like(pool: ProcessPoolExecutor) -> ProcessPoolExecutor:
    """A fresh pool with the settings of a broken one, which cannot be used again."""
    return ProcessPoolExecutor(
        max_workers=_workers(pool),
        mp_context=getattr(pool, "_mp_context", None),
        initializer=getattr(pool, "_initializer", None),
        initargs=getattr(pool, "_initargs", ()),
    )
