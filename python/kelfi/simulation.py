"""Simulators as Python callables: many calls, anywhere, with the same result whatever made them and in whatever order."""

from __future__ import annotations

import functools
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from . import _arrays as arrays
from . import _kelfi
from ._arrays import Array
from ._call import Calls, Outcome, call, takes_seed
from ._data_sets import DataSets, Outputs, from_native
from ._executors import Elsewhere, here
from ._source import fingerprint
from .errors import InputError, SimulationError, StoreError
from .prior import Prior, require_prior

# Results are written to a store at least this often, in seconds, and in portions of this many.
WRITE_EVERY = 0.5
WRITE_AT_MOST = 500


class Simulations(tuple):  # type: ignore[type-arg]
    """The pair (theta, x), and how the calls went.

    failures: message of each failed simulation by its row. calls: calls that came to an end, failed ones included; those found in a
    store are not among them. lost: calls made again because a worker died. seed: the run's seed.
    """

    failures: dict[int, str]
    calls: int
    lost: int
    seed: int

    def __new__(cls, theta: Array, x: Outputs, failures: dict[int, str], calls: int, lost: int, seed: int) -> Simulations:
        made = super().__new__(cls, (theta, x))
        made.failures, made.calls, made.lost, made.seed = failures, calls, lost, seed
        return made

    @property
    def theta(self) -> Array:
        """Parameters (m, D)."""
        found: Array = self[0]
        return found

    @property
    def x(self) -> Outputs:
        """Statistics (m, n), or data sets; a failed simulation is a row of NaN."""
        found: Outputs = self[1]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return Simulations, (self.theta, self.x, self.failures, self.calls, self.lost, self.seed)

    def __repr__(self) -> str:
        return f"<{len(self.theta)} simulations, {len(self.failures)} of them failed; seed {self.seed}>"


def simulate(
    simulator: Callable[..., Any],
    prior: Prior,
    num_simulations: int,
    *,
    executor: Optional[Executor] = None,
    seed: Optional[int] = None,
    batched: bool = False,
    batch_size: int = 100,
    store: Union[str, os.PathLike[str], None] = None,
    statistics: Optional[Sequence[str]] = None,
    progress: Optional[bool] = None,
    retry_failed: bool = False,
    accept_changed_simulator: bool = False,
) -> Simulations:
    """Draws parameters and calls the simulator at each: theta (m, D) and x (m, n), whatever the executor.

    simulator(theta) gets one parameter vector (D,) and returns (n,); with batched=True it gets (k, D) and returns (k, n). A data set
    is returned as its rows (N, d), whose number may differ; x then is a list of them. If it has a
    parameter `seed`, it is given the 64-bit seed of (run seed, index), or an array (k,) of them. θ_j and seed_j depend on the run's
    seed and j only, as on the command line (there `seed64`). numpy.random.default_rng takes the seed; numpy.random.seed needs
    `seed % 2**32`. An exception or a value that is not finite makes a failed simulation: a row of NaN, with
    its message in `failures`.

    executor: any `concurrent.futures.Executor`; without one, calls are made here. store: an SQLite file, the same as the command
    line's; what it holds already is not simulated again, failures only with retry_failed=True. If the simulator's source is another one
    than that of the last simulations in the store, nothing is added to them unless accept_changed_simulator=True. statistics: their names in the store. progress: a tqdm bar, by default when
    tqdm is installed and stderr is a terminal.

    >>> def simulator(theta, seed):
    ...     noise = np.random.default_rng(seed).normal(size=2)
    ...     return theta + 0.1 * noise
    >>> prior = kelfi.Prior(a=kelfi.Normal(0, 1), b=kelfi.Normal(0, 1))
    >>> theta, x = kelfi.simulate(simulator, prior, 20, seed=1)
    >>> theta.shape, x.shape
    ((20, 2), (20, 2))
    """
    more = {"retry_failed": retry_failed, "accept_changed_simulator": accept_changed_simulator}
    return run(simulator, prior, num_simulations, executor, seed, batched, batch_size, store, statistics, progress, None, **more)


def run(
    simulator: Callable[..., Any],
    prior: Prior,
    num_simulations: int,
    executor: Optional[Executor],
    seed: Optional[int],
    batched: bool,
    batch_size: int,
    store: Union[str, os.PathLike[str], None],
    statistics: Optional[Sequence[str]],
    progress: Optional[bool],
    columns: Optional[int],
    retry_failed: bool = False,
    accept_changed_simulator: bool = False,
    in_rows: Optional[bool] = None,
) -> Simulations:
    """`simulate` where the number of statistics, and whether there are rows of them, may be known."""
    prior = require_prior(prior)
    if not callable(simulator):
        raise InputError(f"simulator is {type(simulator).__name__}; a function of theta is needed")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InputError(f"executor is {type(executor).__name__}; a concurrent.futures.Executor is needed")
    m = arrays.count("num_simulations", num_simulations, least=1)
    size = arrays.count("batch_size", batch_size, least=1) if batched else 1
    table = _Table(prior, m, seed, store, statistics, columns, in_rows, simulator)
    with table:
        table.prepare(bool(retry_failed), bool(accept_changed_simulator))
        seeds = _kelfi.simulator_seeds(table.seed, 0, m)
        tasks = [Calls(part, table.theta[list(part)], seeds[list(part)]) for part in _portions(table.missing(), size)]
        settings = (simulator, takes_seed(simulator), bool(batched))
        elsewhere = None
        if executor is None:
            results = here(functools.partial(_task, *settings), tasks)
        else:
            elsewhere = Elsewhere(executor, _task, settings)
            results = elsewhere.run(tasks)
        with _bar(progress, m, m - len(table.missing())) as bar:
            for task, outcomes in results:
                table.add(task.indices, outcomes)
                bar.update(len(task.indices))
    return table.simulations(0 if elsewhere is None else elsewhere.lost)


def read_store(path: Union[str, os.PathLike[str]]) -> tuple[Simulations, list[str], list[str]]:
    """The simulations in a store, by whomever made, with the names of parameters and statistics. Reading changes nothing."""
    found = _kelfi.Store.read(Path(path))
    _, parameters, statistics, seed = found.problem()
    indices, theta, x, failures = found.table()
    found.close()
    x = from_native(x)
    rows = {int(index): row for row, index in enumerate(indices)}
    return Simulations(theta, x, {rows[i]: message for i, _, message in failures}, 0, 0, seed), parameters, statistics


def _task(simulator: Callable[..., Any], with_seed: bool, batched: bool, calls: Calls) -> list[Outcome]:
    return call(simulator, calls, with_seed, batched)


def _portions(indices: Iterable[int], size: int) -> list[tuple[int, ...]]:
    """Rows that are simulated together: those that fall into the same block of `size`, wherever a run was interrupted."""
    blocks: dict[int, list[int]] = {}
    for index in indices:
        blocks.setdefault(index // size, []).append(index)
    return [tuple(block) for block in blocks.values()]


class _Table:
    """Outcomes by row, in memory and, if there is one, in a store. Leaving it writes what is not written yet."""

    def __init__(
        self,
        prior: Prior,
        m: int,
        seed: Optional[int],
        store: Union[str, os.PathLike[str], None],
        statistics: Optional[Sequence[str]],
        columns: Optional[int],
        in_rows: Optional[bool],
        simulator: Callable[..., Any],
    ) -> None:
        self._source = fingerprint(simulator)
        self._prior, self._path = prior, None if store is None else Path(store)
        self._names = None if statistics is None else [str(name) for name in statistics]
        self._store: Optional[_kelfi.Store] = None
        self._outcomes: list[Optional[Outcome]] = [None] * m
        self._unwritten: list[int] = []
        self._written_at = time.monotonic()
        self._first = 0
        self.calls = 0
        self.seed = arrays.seed_of(seed)
        self.columns: Optional[int] = columns if self._names is None else len(self._names)
        self.in_rows: Optional[bool] = in_rows
        if self._path is not None and _kelfi.Store.exists(self._path):
            self._store = _kelfi.Store.open(self._path)
            self._adopt(self._store, seed)
        self.theta = prior.sample(m, seed=self.seed)
        if self._store is not None:
            self._resume(self._store)

    def _adopt(self, store: _kelfi.Store, seed: Optional[int]) -> None:
        _, parameters, statistics, stored = store.problem()
        differences = []
        if parameters != self._prior.names:
            differences.append(f"its parameters are {', '.join(parameters)}, the prior's {', '.join(self._prior.names)}")
        if self._names is not None and self._names != statistics:
            differences.append(f"its statistics are {', '.join(statistics)}, not {', '.join(self._names)}")
        if seed is not None and stored != self.seed:
            differences.append(f"its seed is {stored}, not {self.seed}")
        if differences:
            store.close()
            raise StoreError(f"{self._path} was made for another problem: {'; '.join(differences)}\n  change it back, or use another file")
        self.seed, self._names, self.columns = stored, statistics, len(statistics)

    def _resume(self, store: _kelfi.Store) -> None:
        indices, theta, found, failures = store.table()
        x = from_native(found)
        self.in_rows = isinstance(x, DataSets)
        said = {index: (status, message) for index, status, message in failures}
        for row, index in enumerate(map(int, indices)):
            if index >= len(self._outcomes):
                continue
            if not np.array_equal(theta[row], self.theta[index]):
                store.close()
                raise StoreError(
                    f"simulation {index} in {self._path} has other parameters than this prior and seed give\n"
                    "  it was made with another prior, or imported; use another file, or fit what `kelfi.read_store` reads"
                )
            status, message = said.get(index, ("ok", ""))
            columns = self.columns if self.in_rows else None
            self._outcomes[index] = Outcome(status, x[row].ravel().tolist() if status == "ok" else None, message, 0.0, columns)

    def prepare(self, retry_failed: bool, accept_changed_simulator: bool) -> None:
        """Refuses to add to simulations of another version of the simulator; forgets failures that are to be made again."""
        if self._store is None:
            return
        failed = [index for index, outcome in enumerate(self._outcomes) if outcome is not None and outcome.values is None]
        again = failed if retry_failed else []
        self._refuse_mixing(self._store, bool(again or self.missing()), accept_changed_simulator)
        if again:
            self._store.forget_failures()
            for index in again:
                self._outcomes[index] = None
        self._store.made_by(self._source)

    def _refuse_mixing(self, store: _kelfi.Store, adding: bool, accepted: bool) -> None:
        makers = store.makers()
        success = any(outcome is not None and outcome.values is not None for outcome in self._outcomes)
        if not makers or not success or makers[-1][0] == self._source:
            return
        older = sum(count for files, count in makers if files != self._source)
        name = ", ".join(self._source) or "the simulator"
        fact = f"{older} of {store.count()} simulations in {self._path} were made by another version of {name}"
        if adding and not accepted:
            raise StoreError(
                f"{fact}\n  use another file, or put the old version back; "
                "if the change alters no result, accept_changed_simulator=True goes on"
            )
        warnings.warn(fact, UserWarning, stacklevel=5)

    def missing(self) -> list[int]:
        return [index for index, outcome in enumerate(self._outcomes) if outcome is None]

    def add(self, indices: tuple[int, ...], outcomes: list[Outcome]) -> None:
        self.calls += len(indices)
        for index, outcome in zip(indices, outcomes):
            self._outcomes[index] = outcome
        self._unwritten.extend(indices)
        self._count_columns()
        if len(self._unwritten) >= WRITE_AT_MOST or time.monotonic() - self._written_at > WRITE_EVERY:
            self._write()

    def _count_columns(self) -> None:
        """How many statistics there are, or that there are data sets, says the successful simulation with the smallest index, in
        whatever order they come."""
        while (self.columns is None or self.in_rows is None) and self._first < len(self._outcomes):
            outcome = self._outcomes[self._first]
            if outcome is None:
                return
            if outcome.values is not None:
                self.in_rows = outcome.columns is not None if self.in_rows is None else self.in_rows
                if self.columns is None:
                    self.columns = outcome.columns or len(outcome.values)
            self._first += 1

    def _fitting(self, outcome: Outcome) -> Outcome:
        if outcome.values is None:
            return outcome
        # A vector is a data set of one row.
        found = len(outcome.values) if outcome.columns is None else outcome.columns
        if found == self.columns and (self.in_rows or outcome.columns is None):
            return outcome
        if self.in_rows:
            fact = f"rows of {found} numbers where {self.columns} columns are expected"
        else:
            fact = f"{len(outcome.values)} numbers where {self.columns} statistics are expected"
        return Outcome("wrong-count", None, fact, outcome.seconds)

    def _write(self) -> None:
        self._written_at = time.monotonic()
        if self._path is None or self.columns is None or self.in_rows is None or not self._unwritten:
            return
        if self._store is None:
            names = self._names or [f"x_{i}" for i in range(1, self.columns + 1)]
            outputs = {"outputs": "rows"} if self.in_rows else {}
            text = json.dumps({"prior": self._prior.to_dict(), "simulator": {"python": True}, **outputs})
            self._store = _kelfi.Store.create(self._path, text, self._prior.names, names, self.seed)
            self._store.made_by(self._source)
        rows = sorted(self._unwritten)
        outcomes = [self._fitting(outcome) for outcome in (self._outcomes[row] for row in rows) if outcome is not None]
        records = [(row, o.status, o.values or [], o.message, o.seconds) for row, o in zip(rows, outcomes)]
        self._store.record(self.theta[rows], records, self.seed)
        self._unwritten = []

    def __enter__(self) -> _Table:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._write()
        finally:
            if self._store is not None:
                self._store.close()

    def simulations(self, lost: int) -> Simulations:
        outcomes = [self._fitting(outcome) for outcome in self._outcomes if outcome is not None]
        failures = {row: f"{o.status}: {o.message}" for row, o in enumerate(outcomes) if o.values is None}
        if self.columns is None or len(failures) == len(outcomes):
            raise SimulationError(f"all {len(outcomes)} simulations failed; the first says: {failures[0]}\n  fix the simulator or the prior")
        x = collected(outcomes, self.columns, bool(self.in_rows))
        return Simulations(self.theta, x, failures, self.calls, lost, self.seed)


def collected(outcomes: Iterable[Outcome], columns: int, in_rows: bool) -> Outputs:
    """Statistics (m, n) or data sets, with NaN for failures."""
    found = [o.values for o in outcomes]
    x = nothing(len(found), columns, in_rows)
    for row, values in enumerate(found):
        if values is not None:
            x[row] = np.array(values).reshape(-1, columns) if in_rows else values
    return x


def nothing(count: int, columns: int, in_rows: bool) -> Outputs:
    """Outputs of failed simulations."""
    return DataSets.failed(count, columns) if in_rows else np.full((count, columns), np.nan)


class _NoBar:
    def update(self, _: int) -> None:
        pass

    def __enter__(self) -> _NoBar:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _bar(progress: Optional[bool], total: int, done: int) -> Any:
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return _NoBar()
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _NoBar()
    return tqdm(total=total, initial=done, desc="simulations", unit="call")
