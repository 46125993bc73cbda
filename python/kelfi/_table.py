"""Outcomes of calls by row, in memory and, if there is one, in a store."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

import numpy as np

from . import _arrays as arrays
from ._arrays import Array
from ._call import Outcome
from ._data_sets import DataSets, Outputs
from ._kept import Kept, kept_of
from .errors import SimulationError
from .prior import Prior

# Results are written to a store at least this often, in seconds, and in portions of this many.
WRITE_EVERY = 0.5
WRITE_AT_MOST = 500


class Simulations(tuple[Array, Any]):
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
        return self[0]

    @property
    def x(self) -> Any:
        """Statistics (m, n), or data sets; a failed simulation is a row of NaN."""
        return self[1]

    def __reduce__(self) -> tuple[Any, ...]:
        return Simulations, (self.theta, self.x, self.failures, self.calls, self.lost, self.seed)

    def __repr__(self) -> str:
        return f"<{len(self.theta)} simulations, {len(self.failures)} of them failed; seed {self.seed}>"


class Table:
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
        names = None if statistics is None else [str(name) for name in statistics]
        self._kept = None if store is None else kept_of(store, prior, seed, names, simulator)
        self._outcomes: list[Optional[Outcome]] = [None] * m
        self._unwritten: list[int] = []
        self._written_at = time.monotonic()
        self._first = 0
        self.calls = 0
        self.seed = arrays.seed_of(seed) if self._kept is None else self._kept.seed
        known = names if self._kept is None else self._kept.names
        self.columns: Optional[int] = columns if known is None else len(known)
        there = None if self._kept is None else self._kept.in_rows
        self.in_rows: Optional[bool] = in_rows if there is None else there
        self.theta = prior.sample(m, seed=self.seed)
        if self._kept is not None:
            self._resume(self._kept)

    def _resume(self, kept: Kept) -> None:
        for index, (theta, outcome) in kept.rows().items():
            if index < len(self._outcomes):
                kept.require_same(index, theta, self.theta[index])
                self._outcomes[index] = outcome

    def prepare(self, retry_failed: bool, accept_changed_simulator: bool) -> None:
        """Refuses to add to simulations of another version of the simulator; forgets failures that are to be made again."""
        if self._kept is None:
            return
        failed = [index for index, outcome in enumerate(self._outcomes) if outcome is not None and outcome.values is None]
        again = failed if retry_failed else []
        success = any(outcome is not None and outcome.values is not None for outcome in self._outcomes)
        self._kept.refuse_mixing(success, bool(again or self.missing()), accept_changed_simulator)
        if again:
            self._kept.forget_failures()
            for index in again:
                self._outcomes[index] = None
        self._kept.mark()

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

    def _write(self) -> None:
        self._written_at = time.monotonic()
        if self._kept is None or self.columns is None or self.in_rows is None or not self._unwritten:
            return
        self._kept.create(self.columns, self.in_rows)
        rows = sorted(self._unwritten)
        outcomes = [fitting(outcome, self.columns, self.in_rows) for outcome in (self._outcomes[row] for row in rows) if outcome is not None]
        self._kept.record(rows, self.theta[rows], outcomes)
        self._unwritten = []

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._write()
        finally:
            if self._kept is not None:
                self._kept.close()

    def simulations(self, lost: int) -> Simulations:
        outcomes = [fitting(outcome, self.columns, bool(self.in_rows)) for outcome in self._outcomes if outcome is not None]
        failures = {row: f"{o.status}: {o.message}" for row, o in enumerate(outcomes) if o.values is None}
        if self.columns is None or len(failures) == len(outcomes):
            raise SimulationError(f"all {len(outcomes)} simulations failed; the first says: {failures[0]}\n  fix the simulator or the prior")
        return Simulations(self.theta, collected(outcomes, self.columns, bool(self.in_rows)), failures, self.calls, lost, self.seed)


def fitting(outcome: Outcome, columns: Optional[int], in_rows: bool) -> Outcome:
    """The outcome, or a failure where it does not have so many statistics or columns."""
    if outcome.values is None:
        return outcome
    # A vector is a data set of one row.
    found = len(outcome.values) if outcome.columns is None else outcome.columns
    if found == columns and (in_rows or outcome.columns is None):
        return outcome
    if in_rows:
        fact = f"rows of {found} numbers where {columns} columns are expected"
    else:
        fact = f"{len(outcome.values)} numbers where {columns} statistics are expected"
    return Outcome("wrong-count", None, fact, outcome.seconds)


def collected(outcomes: Sequence[Outcome], columns: int, in_rows: bool) -> Outputs:
    """Statistics (m, n) or data sets, with NaN for failures."""
    x = nothing(len(outcomes), columns, in_rows)
    for row, outcome in enumerate(outcomes):
        if outcome.values is not None:
            x[row] = output_of(outcome.values, columns, in_rows)
    return x


def output_of(values: Sequence[float], columns: int, in_rows: bool) -> Array:
    """What one simulation gave: statistics, or rows."""
    found = np.array(values, dtype=np.float64)
    return found.reshape(-1, columns) if in_rows else found


def nothing(count: int, columns: int, in_rows: bool) -> Outputs:
    """Outputs of failed simulations."""
    return DataSets.failed(count, columns) if in_rows else np.full((count, columns), np.nan)
