"""Rounds: fit, see where the posterior is, simulate there, fit anew."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, Optional, Union

import numpy as np

from . import _arrays as arrays
from . import _kelfi
from ._arrays import Array
from ._call import Calls, Outcome, takes_seed
from ._data_sets import DataSets, Outputs, joined
from ._data_sets import native as outputs
from ._executors import Elsewhere, here
from ._frames import in_order
from .errors import InputError, SimulationError
from .fitting import settings_of
from .posterior import Posterior
from .prior import Prior, require_prior
from .simulation import _bar, _portions, _task, collected, nothing


class Rounds:
    """Says which parameters to simulate next, takes what came of them, and gives the posterior.

    The first round draws from the prior, later ones from where the posterior is; all simulations serve. A round begins when every
    result of the one before was told. What is asked depends on the settings and on what was told, not on its order.

    num_simulations: in all. rounds: "auto" (as many as they suggest; fewer where the posterior no longer moves) or a number; 1 is the
    prior alone. Other options as for `kelfi.fit`.

    >>> rounds = kelfi.Rounds(kelfi.Prior(a=kelfi.Normal(0, 1)), [0.5], num_simulations=60, rounds=2, model="location-scale")
    >>> noise = np.random.default_rng(1)
    >>> while not rounds.finished:
    ...     theta = rounds.ask()
    ...     rounds.tell(theta, theta + 0.1 * noise.normal(size=theta.shape))
    >>> bool(abs(rounds.posterior().mean()[0] - 0.5) < 0.1)
    True
    """

    def __init__(
        self,
        prior: Prior,
        x_o: Any,
        num_simulations: int = 1000,
        rounds: Union[int, str] = "auto",
        model: str = "auto",
        seed: int = 1,
        *,
        statistics: Optional[Sequence[str]] = None,
        **options: Any,
    ) -> None:
        self._prior = require_prior(prior)
        self._statistics = None if statistics is None else [str(name) for name in statistics]
        observed = arrays.numbers("x_o", in_order("x_o", x_o, self._statistics, "statistic"))
        self._in_rows = arrays.is_data_set(observed)
        self._columns = observed.shape[1] if self._in_rows else max(1, observed.size) if statistics is None else len(statistics)
        self._x_o = arrays.rows_of(observed, self._columns) if self._in_rows else arrays.observation(observed, self._columns)
        budget = arrays.count("num_simulations", num_simulations, least=1)
        settings, self._options = settings_of(1 if self._in_rows else self._columns, self._prior.dimension, model=model, seed=seed, **options)
        self._native = _kelfi.Rounds(self._prior._native, self._x_o, budget, how_many(rounds), *settings)
        self._complete: list[tuple[Array, Outputs]] = []
        self._none = np.empty((0, self._prior.dimension))
        self._over = False
        self._begin(self._none)

    def _begin(self, theta: Array) -> None:
        self._asked, self._handed_out = theta, 0
        self._results = nothing(len(theta), self._columns, self._in_rows)
        self._told = np.zeros(len(theta), dtype=bool)
        self._places: dict[bytes, list[int]] = {}
        for place, row in enumerate(theta):
            self._places.setdefault(_key(row), []).append(place)

    def _go_on(self) -> None:
        """Begins the next round when the one before is complete, which fits to all that was told."""
        if self._over or not self._told.all():
            return
        theta = self._native.ask()
        self._over = theta is None
        self._begin(self._none if theta is None else theta)

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to simulate. When a round is complete, finding out fits to what was told."""
        self._go_on()
        return self._over

    def ask(self, n: Optional[int] = None) -> Array:
        """The next n parameters (k, D) of the round, or all that are left; (0, D) while only results are missing, and at the end."""
        wanted = None if n is None else arrays.count("n", n)
        self._go_on()
        first = self._handed_out
        self._handed_out = len(self._asked) if wanted is None else min(len(self._asked), first + wanted)
        handed_out: Array = self._asked[first : self._handed_out].copy()
        return handed_out

    def tell(self, theta: Any, x: Any) -> None:
        """What came of parameters asked for, in any order and in any parts; a row of x with NaN is a failed simulation."""
        if arrays.numbers("theta", theta).size == 0:
            return
        theta, x, _ = arrays.simulations(theta, x, self._prior.names, self._statistics)
        if isinstance(x, DataSets) != self._in_rows or x.shape[-1] != self._columns:
            wanted = f"({len(theta)}, N, {self._columns})" if self._in_rows else f"({len(theta)}, {self._columns})"
            what = "columns" if self._in_rows else "statistics"
            raise InputError(f"x has shape {x.shape} but x_o has {self._columns} {what}: shape {wanted} is needed")
        places = self._places_of(theta)
        self._results[places], self._told[places] = x, True
        if self._told.all():
            self._native.tell(self._asked, outputs(self._results))
            self._complete.append((self._asked, self._results))
            self._begin(self._none)

    def _places_of(self, theta: Array) -> list[int]:
        found: dict[int, None] = {}
        for row, parameters in enumerate(theta):
            known = [place for place in self._places.get(_key(parameters), []) if place < self._handed_out]
            if not known:
                raise InputError(f"row {row} of theta was not asked for in this round\n  tell the rows that `ask` gave, with every digit")
            place = next((place for place in known if not self._told[place] and place not in found), None)
            if place is None:
                raise InputError(f"row {row} of theta was told before\n  tell every simulation once")
            found[place] = None
        return list(found)

    def posterior(self) -> Posterior:
        """From everything told so far; the same kind of object as `kelfi.fit` gives."""
        native = self._native
        if self._told.any():
            native = native.copy()
            native.tell(self._asked[self._told], outputs(self._results[self._told]))
        elif not self._complete:
            raise InputError("there are no simulations yet; tell what came of `ask` first")
        found, learned, comparison = native.answer()
        named = found if self._statistics is None else found.named(self._statistics)
        return Posterior(named, learned, comparison, self._statistics, self._options)

    @property
    def history(self) -> list[dict[str, Any]]:
        """A dictionary for each round that was fitted to: round (from 0), simulations, wide (how many of these were proposed widely), used
        (simulations the posterior rests on), intervals (90 %, one a parameter), movement (of the posterior; None for the first)."""
        return self._native.history()

    @property
    def theta(self) -> Array:
        """All parameters told so far (m, D), in the order in which they were asked for."""
        return np.concatenate([*(theta for theta, _ in self._complete), self._asked[self._told]])

    @property
    def x(self) -> Outputs:
        """Their statistics (m, n), or data sets."""
        return joined([*(x for _, x in self._complete), self._results[self._told]])


def how_many(rounds: Union[int, str]) -> str:
    """A number of rounds, or "auto", as the native module reads it."""
    if isinstance(rounds, str):
        if rounds != "auto":
            raise InputError(f'rounds = {rounds!r} is not allowed: it must be "auto" or a whole number from 1 on')
        return rounds
    return str(arrays.count("rounds", rounds, least=1))


def drive(
    rounds: Rounds,
    simulator: Callable[..., Any],
    executor: Optional[Executor],
    seed: int,
    batched: bool,
    batch_size: int,
    progress: Optional[bool],
) -> Posterior:
    """Calls the simulator wherever `rounds` asks, one round after the other, and gives the posterior."""
    if not callable(simulator):
        raise InputError(f"simulator is {type(simulator).__name__}; a function of theta is needed")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InputError(f"executor is {type(executor).__name__}; a concurrent.futures.Executor is needed")
    size = arrays.count("batch_size", batch_size, least=1) if batched else 1
    settings = (simulator, takes_seed(simulator), bool(batched))
    while not rounds.finished:
        first, theta = len(rounds.theta), rounds.ask()
        seeds = _kelfi.simulator_seeds(seed, first, len(theta))
        tasks = [Calls(part, theta[list(part)], seeds[list(part)]) for part in _portions(range(len(theta)), size)]
        results = here(functools.partial(_task, *settings), tasks) if executor is None else Elsewhere(executor, _task, settings).run(tasks)
        outcomes: dict[int, Outcome] = {}
        with _bar(progress, len(theta), 0) as bar:
            for task, found in results:
                outcomes.update(zip(task.indices, found))
                bar.update(len(task.indices))
        rounds.tell(theta, _outputs(outcomes, rounds._columns, rounds._in_rows, first == 0))
    return rounds.posterior()


def _outputs(outcomes: dict[int, Outcome], columns: int, in_rows: bool, is_first: bool) -> Outputs:
    def fits(outcome: Outcome) -> bool:
        found = outcome.columns or len(outcome.values or [])
        return found == columns and (in_rows or outcome.columns is None)

    ordered = [outcomes[row] for row in range(len(outcomes))]
    kept = [outcome if fits(outcome) else outcome._replace(values=None) for outcome in ordered]
    x = collected(kept, columns, in_rows)
    if is_first and all(outcome.values is None for outcome in kept):
        first = outcomes[0]
        said = f"{first.status}: {first.message}" if first.values is None else f"{len(first.values)} numbers where {columns} are expected"
        raise SimulationError(f"all {len(x)} simulations of the first round failed; the first says: {said}\n  fix the simulator or the prior")
    return x


def _key(row: Array) -> bytes:
    return (np.asarray(row, dtype=np.float64) + 0.0).tobytes()
