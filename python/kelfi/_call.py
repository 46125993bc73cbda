"""Calling a user's simulator, here or in a worker process, and turning whatever it does into plain outcomes."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Optional

import numpy as np

LONGEST_MESSAGE = 2000


class Outcome(NamedTuple):
    """How one call ended: a status of the store's closed set, the statistics or None, a message for failures, seconds.

    columns: how many numbers a row has, where several rows were given; values has them one after the other.
    """

    status: str
    values: Optional[list[float]]
    message: str
    seconds: float
    columns: Optional[int] = None


class Calls(NamedTuple):
    """One task: rows of the run with their parameters and seeds.

    submission: different each time it is handed out; Dask takes calls with equal arguments for one and gives a former failure again.
    """

    indices: tuple[int, ...]
    theta: Any
    seeds: Any
    submission: str = ""


def takes_seed(simulator: Callable[..., Any]) -> bool:
    """Whether the simulator has a parameter named `seed` that can be given by keyword."""
    try:
        parameter = inspect.signature(simulator).parameters.get("seed")
    except (TypeError, ValueError):
        return False
    return parameter is not None and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)


def call(simulator: Callable[..., Any], calls: Calls, with_seed: bool, batched: bool) -> list[Outcome]:
    """One outcome for each row. A batch that raises is made again row by row, so that one bad row spoils no other."""
    if not batched:
        return [one(simulator, theta, int(seed), with_seed) for theta, seed in zip(calls.theta, calls.seeds)]
    began = time.perf_counter()
    outcomes = _batch(simulator, calls.theta, calls.seeds, with_seed)
    if len(outcomes) > 1 and all(outcome.status == "exit-code" for outcome in outcomes):
        rows = range(len(outcomes))
        outcomes = [_batch(simulator, calls.theta[i : i + 1], calls.seeds[i : i + 1], with_seed)[0] for i in rows]
    each = (time.perf_counter() - began) / max(1, len(outcomes))
    return [outcome._replace(seconds=each) for outcome in outcomes]


def one(simulator: Callable[..., Any], theta: Any, seed: int, with_seed: bool) -> Outcome:
    began = time.perf_counter()
    try:
        # A copy, so that a simulator that writes into its argument harms nobody.
        given = simulator(theta.copy(), seed=seed) if with_seed else simulator(theta.copy())
    except (Exception, SystemExit) as error:
        return Outcome("exit-code", None, _said(error), time.perf_counter() - began)
    return _read(given, time.perf_counter() - began)


def _batch(simulator: Callable[..., Any], theta: Any, seeds: Any, with_seed: bool) -> list[Outcome]:
    try:
        given = simulator(theta.copy(), seed=seeds.copy()) if with_seed else simulator(theta.copy())
        if isinstance(given, (list, tuple)) and len(given) == len(theta) and all(np.ndim(rows) == 2 for rows in given):
            return [_read(rows, 0.0) for rows in given]
        rows = np.asarray(given)
    except (Exception, SystemExit) as error:
        return [Outcome("exit-code", None, _said(error), 0.0)] * len(theta)
    if rows.ndim == 1 and len(rows) == len(theta):
        rows = rows.reshape(-1, 1)
    if rows.ndim not in (2, 3) or len(rows) != len(theta):
        fact = f"a batch of {len(theta)} parameter vectors gave shape {rows.shape}; ({len(theta)}, n) is needed"
        return [Outcome("bad-output", None, fact, 0.0)] * len(theta)
    return [_read(row, 0.0) for row in rows]


def _read(given: Any, seconds: float) -> Outcome:
    try:
        if given is None:
            raise TypeError("the simulator returned None")
        values = np.asarray(given)
        if values.dtype.kind not in "biufO":
            raise TypeError(f"the simulator returned dtype {values.dtype}; real numbers are needed")
        values = np.atleast_1d(values.astype(np.float64))
        if values.ndim == 2 and values.shape[0] == 1:
            values = values[0]
        columns = values.shape[1] if values.ndim == 2 else None
        if values.ndim > 2 or values.size == 0:
            raise TypeError(f"the simulator returned shape {values.shape}; (n,) is needed, or (N, d) for a data set")
        values = values.ravel()
    except Exception as error:
        return Outcome("bad-output", None, _said(error), seconds)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        return Outcome("non-finite", None, f"statistic {bad[0]} is {values[bad[0]]}", seconds)
    return Outcome("ok", values.tolist(), "", seconds, columns)


def _said(error: BaseException) -> str:
    said = f"{type(error).__name__}: {error}"
    # numpy.random.seed and RandomState, which take 32 bits of the 64.
    if "Seed must be between 0 and 2**32 - 1" in said:
        said += "; use numpy.random.default_rng(seed), which takes all 64 bits, or seed % 2**32"
    return said[:LONGEST_MESSAGE]
