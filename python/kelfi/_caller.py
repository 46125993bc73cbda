"""A simulator with where and how it is called: here, in processes, or on any executor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Optional, TypedDict

from . import _arrays as arrays
from ._arrays import Array
from ._call import Calls, Outcome, call, takes_seed
from .errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor


class CallOptions(TypedDict, total=False):
    """Options of `simulate` and `infer`; `simulate` says what each does."""

    executor: Optional[Executor]
    num_workers: int
    batched: bool
    batch_size: int
    timeout: Optional[float]


CALL_DEFAULTS = CallOptions(executor=None, num_workers=1, batched=False, batch_size=100, timeout=None)


class Caller:
    """Makes calls, whatever happens to the workers that make them. Leaving it ends workers of its own."""

    def __init__(
        self,
        simulator: Callable[..., Any],
        executor: Optional[Executor] = None,
        num_workers: int = 1,
        batched: bool = False,
        batch_size: int = 100,
        timeout: Optional[float] = None,
    ) -> None:
        if not callable(simulator):
            raise InputError(f"simulator is {type(simulator).__name__}; a function of theta is needed")
        if executor is not None and not callable(getattr(executor, "submit", None)):
            raise InputError(f"executor is {type(executor).__name__}; a concurrent.futures.Executor is needed")
        workers = arrays.count("num_workers", num_workers, least=1)
        if executor is not None and workers > 1:
            raise InputError("both executor and num_workers are given; an executor has workers of its own: leave num_workers out")
        self.simulator = simulator
        self.lost = 0
        self._size = arrays.count("batch_size", batch_size, least=1) if batched else 1
        self._settings = (simulator, takes_seed(simulator), bool(batched), _limit(timeout, bool(batched)))
        self._executor, self._workers = executor, workers
        self._own: Optional[Executor] = None

    def calls(self, indices: Iterable[int], theta: Array, seeds: Any) -> Iterator[tuple[Calls, list[Outcome]]]:
        """The outcomes of these rows of theta and seeds, in the order in which they end."""
        tasks = [Calls(part, theta[list(part)], seeds[list(part)]) for part in _portions(indices, self._size)]
        executor = self._where() if tasks else None
        if executor is None:
            yield from ((task, _task(*self._settings, task)) for task in tasks)
            return
        from ._executors import Elsewhere

        elsewhere = Elsewhere(executor, _task, self._settings)
        yield from elsewhere.run(tasks)
        self.lost += elsewhere.lost
        if elsewhere.broke and self._own is not None:
            self._own.shutdown(wait=False)
            self._own = None

    def _where(self) -> Optional[Executor]:
        if self._executor is None and self._workers > 1 and self._own is None:
            from concurrent.futures import ProcessPoolExecutor

            self._own = ProcessPoolExecutor(self._workers)
        return self._own or self._executor

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        if self._own is not None:
            self._own.shutdown(wait=True)


def _task(simulator: Callable[..., Any], with_seed: bool, batched: bool, limit: Optional[float], calls: Calls) -> list[Outcome]:
    if limit is None:
        return call(simulator, calls, with_seed, batched)
    from ._limited import one_within

    return [one_within(limit, simulator, theta, int(seed), with_seed) for theta, seed in zip(calls.theta, calls.seeds)]


def _limit(timeout: Optional[float], batched: bool) -> Optional[float]:
    if timeout is None:
        return None
    from ._limited import limit_of

    return limit_of(timeout, batched)


def _portions(indices: Iterable[int], size: int) -> list[tuple[int, ...]]:
    """Rows that are simulated together: those that fall into the same block of `size`, wherever a run was interrupted."""
    blocks: dict[int, list[int]] = {}
    for index in indices:
        blocks.setdefault(index // size, []).append(index)
    return [tuple(block) for block in blocks.values()]
