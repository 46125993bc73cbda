"""Methods of inference side by side, on a benchmark problem or with a simulator of one's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

from . import _arrays as arrays
from . import _call, _kelfi
from .errors import InputError
from .prior import Prior, require_prior
from .problems import Problem

#: Compared where none is named: kelfi's own, and what practitioners reach for first.
USUAL = ["kelfi", "kelfi-rounds", "rejection-regression", "rejection", "smc-abc", "synthetic-likelihood", "kernel-abc", "mdn", "prior"]


def methods() -> list[dict[str, str]]:
    """The methods that can be compared: name, description and reference.

    >>> [method["name"] for method in kelfi.methods()][:2]
    ['kelfi', 'kelfi-rounds']
    """
    return [{"name": name, "description": description, "reference": reference} for name, description, reference in _kelfi.methods()]


def compare(
    simulator: Union[str, Problem, Callable[..., Any]],
    prior: Optional[Prior] = None,
    x_o: Any = None,
    *,
    methods: Union[str, Sequence[str], None] = None,
    budget: Union[int, Sequence[int]] = 300,
    repeats: int = 10,
    observations: Optional[str] = None,
    seed: Optional[int] = None,
    runs: bool = False,
) -> Any:
    """Methods on equal terms: the same observations, the same simulations at draws of the prior, no more calls than the budget.

    simulator: a benchmark problem or its name, or a function as for `kelfi.simulate`, which needs prior and x_o.
    methods: names, or "all"; some usual ones if not given. budget: calls of the simulator for each method, one number or several.
    observations: "prior" makes a new one for each repeat from parameters drawn from the prior, so that the truth is known; "own" takes x_o
    each time. Not given: "prior" for a benchmark problem, "own" for a function. runs: every run instead of means over the repeats.

    Gives a pandas DataFrame if pandas is installed, else a list of dictionaries. Columns that nothing is known about are left out; those
    with `_se` are standard errors over the repeats.

    >>> table = kelfi.compare("exponential_gamma", methods=["rejection", "prior"], budget=100, repeats=2, seed=1)
    >>> len(table)
    3
    """
    names = _names(methods)
    budgets = [arrays.count("budget", value, 1) for value in ([budget] if isinstance(budget, int) else list(budget))]
    repeats, seed = arrays.count("repeats", repeats, 1), arrays.seed_of(1 if seed is None else seed)
    if observations not in (None, "own", "prior"):
        raise InputError(f'observations is {observations!r}; "own" or "prior" is needed')
    if isinstance(simulator, (str, Problem)):
        if prior is not None or x_o is not None:
            raise InputError("a benchmark problem has a prior and an observation of its own; leave prior and x_o out")
        name = simulator if isinstance(simulator, str) else simulator.name
        found = _kelfi.compare_on_problem(name, names, budgets, repeats, observations == "own", seed)
    else:
        if prior is None or x_o is None:
            raise InputError("a simulator of one's own needs a prior and an observation; give prior and x_o")
        own, y = require_prior(prior), arrays.finite("x_o", arrays.vector("x_o", x_o))
        called = _called(simulator, len(y))
        found = _kelfi.compare_with_simulator(called, own._native, y, names, budgets, repeats, observations != "prior", seed)
    whole = json.loads(found)
    return _table([_run(run) for run in whole["runs"]] if runs else [_row(row) for row in whole["summary"]])


def _names(methods: Union[str, Sequence[str], None]) -> list[str]:
    if methods is None:
        return USUAL
    if methods == "all":
        return [name for name, _, _ in _kelfi.methods()]
    names = [methods] if isinstance(methods, str) else [str(name) for name in methods]
    if not names:
        raise InputError("methods is empty; name at least one, or leave it out")
    return names


def _called(simulator: Callable[..., Any], statistics: int) -> Callable[[Any, int], Optional[list[float]]]:
    """The simulator as the comparison calls it: statistics, or None for a failure."""
    if not callable(simulator):
        raise InputError(f"simulator is {type(simulator).__name__}; a function, a problem or its name is needed")
    with_seed = _call.takes_seed(simulator)

    def one(theta: Any, seed: int) -> Optional[list[float]]:
        outcome = _call.call(simulator, _call.Calls((0,), [theta], [seed]), with_seed, False)[0]
        return outcome.values if outcome.values is not None and len(outcome.values) == statistics else None

    return one


def _row(row: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat[name] = value["mean"]
            flat[f"{name}_se"] = value["standard_error"]
        else:
            flat[name] = value
    return flat


def _run(run: dict[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in run.items() if name not in ("score", "quantiles")}
    return {**plain, **(run["score"] or {})}


def _table(rows: list[dict[str, Any]]) -> Any:
    known = [name for name in dict.fromkeys(name for row in rows for name in row) if any(row.get(name) is not None for row in rows)]
    rows = [{name: row.get(name) for name in known} for row in rows]
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)
