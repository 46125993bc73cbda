"""Rounds: fit, see where the posterior is, simulate there, fit again."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Optional, Union

import numpy as np

from . import _arrays as arrays
from . import _kelfi
from ._arrays import Array
from ._call import Outcome
from ._data_sets import DataSets, Outputs, joined
from ._data_sets import native as outputs
from ._frames import in_order
from ._kept import Kept
from ._progress import Progress
from ._repeats import whole_repeats
from ._table import fitting, nothing, output_of
from .errors import InputError, StoreError
from .options import DEFAULTS, FitOptions, settings_of, with_options
from .posterior import Posterior
from .prior import Prior, require_prior

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Rounds:
    """Says which parameters to simulate next, takes what came of them, and gives the posterior.

    The first round draws from the prior, later ones from where the posterior is; all simulations serve. A round begins when every
    result of the one before was told. What is asked depends on the settings and on what was told, not on its order.

    num_simulations: in all. rounds: "auto" (as many as they suggest; fewer where the posterior no longer moves) or a number; 1 is the
    prior alone. repeats: outputs are so many independent repeats of the same statistics. Other options as for `kelfi.fit`.

    >>> rounds = kelfi.Rounds(kelfi.Prior(a=kelfi.Normal(0, 1)), [0.5], num_simulations=60, rounds=2, model="location-scale")
    >>> noise = np.random.default_rng(1)
    >>> while not rounds.finished:
    ...     theta = rounds.ask()
    ...     rounds.tell(theta, theta + 0.1 * noise.normal(size=theta.shape))
    >>> bool(abs(rounds.posterior().mean()[0] - 0.5) < 0.1)
    True
    """

    @with_options(DEFAULTS)
    def __init__(
        self,
        prior: Prior,
        x_o: Any,
        num_simulations: int = 1000,
        rounds: Union[int, Literal["auto"]] = "auto",
        *,
        statistics: Optional[Sequence[str]] = None,
        repeats: Optional[int] = None,
        store: Union[str, os.PathLike[str], Kept, None] = None,
        progress: Optional[bool] = None,
        **options: Unpack[FitOptions],
    ) -> None:
        self._prior, self._progress = require_prior(prior), progress
        self._statistics = None if statistics is None else [str(name) for name in statistics]
        observed = arrays.numbers("x_o", in_order("x_o", x_o, self._statistics, "statistic"))
        self._in_rows = arrays.is_data_set(observed)
        self._columns = observed.shape[1] if self._in_rows else max(1, observed.size) if statistics is None else len(statistics)
        self._x_o = arrays.rows_of(observed, self._columns) if self._in_rows else arrays.observation(observed, self._columns)
        self._repeats = whole_repeats(repeats, self._columns, self._in_rows)
        self._budget = arrays.count("num_simulations", num_simulations, least=1)
        self._kept = None if store is None else self._opened(store, options.get("seed"))
        if self._kept is not None:
            options["seed"] = self._kept.seed
        settings, self._options = settings_of(1 if self._in_rows else self._columns, self._prior.dimension, options)
        self.seed: int = settings[-1]
        self._native = _kelfi.Rounds(self._prior._native, self._x_o, self._budget, how_many(rounds), *settings)
        self._complete: list[tuple[Array, Outputs]] = []
        self._over = False
        self._known = {} if self._kept is None else self._kept.rows()
        self._proposed = [] if self._kept is None else self._kept.rounds()
        self._begin(0, np.empty((0, self._prior.dimension)), [])
        while self._told.all() and self._is_kept():
            self._go_to_next()

    def _opened(self, store: Union[str, os.PathLike[str], Kept], seed: Optional[int]) -> Kept:
        if not isinstance(store, Kept):
            is_new = not _kelfi.Store.exists(Path(store))
            store = Kept(store, self._prior, DEFAULTS["seed"] if seed is None and is_new else seed, self._statistics, None)
        if store.names is not None and (len(store.names), store.in_rows) != (self._columns, self._in_rows):
            store.close()
            raise StoreError(f"{store.path} keeps the outputs {', '.join(store.names)}, but x_o has shape {self._x_o.shape}\n  use another file")
        store.create(self._columns, self._in_rows)
        return store

    def _begin(self, first: int, theta: Array, wide: list[bool]) -> None:
        """Takes up a round whose rows have the indices from `first` on, with what is known of it from before."""
        self._first, self._asked, self._wide = first, theta, wide
        self._results = nothing(len(theta), self._columns, self._in_rows)
        self._told, self._handed_out = np.zeros(len(theta), dtype=bool), np.zeros(len(theta), dtype=bool)
        self._places: dict[bytes, list[int]] = {}
        for place, row in enumerate(theta):
            self._places.setdefault(_key(row), []).append(place)
            stored = self._known.get(first + place)
            if stored is not None and self._kept is not None:
                self._kept.require_same(first + place, stored[0], row)
                self._note(place, stored[1])
        self._handed_out |= self._told
        self._end_if_complete()

    def _note(self, place: int, outcome: Outcome) -> None:
        self._told[place] = True
        if outcome.values is not None:
            self._results[place] = output_of(outcome.values, self._columns, self._in_rows)

    def _fitting(self, outcome: Outcome) -> Outcome:
        return fitting(outcome, self._columns, self._in_rows)

    def _end_if_complete(self) -> None:
        if len(self._asked) and self._told.all():
            self._native.tell(self._asked, self._wide, self._asked, outputs(self._results, self._repeats))
            self._complete.append((self._asked, self._results))
            self._begin(0, np.empty((0, self._prior.dimension)), [])

    def _go_on(self) -> None:
        """Begins the next round when the one before is complete, which fits to all that was told."""
        while not self._over and self._told.all():
            self._go_to_next()

    def _go_to_next(self) -> None:
        following = self._following()
        if following is None:
            self._over = True
        else:
            self._begin(*following)

    def _is_kept(self) -> bool:
        """Whether a store knows of the next round."""
        number = len(self._complete)
        return bool(self._known) if number == 0 else number <= len(self._proposed) and len(self.theta) < self._budget

    def _following(self) -> Optional[tuple[int, Array, list[bool]]]:
        """The next round: the prior's, one that was proposed before, or a new one, which is kept before anybody simulates."""
        number, made = len(self._complete), len(self.theta)
        if number == 0:
            count = self._first_round()
            return 0, self._prior.sample(count, seed=self.seed), [True] * count
        if self._is_kept():
            return self._proposed[number - 1]
        with Progress("proposing", 0, self._progress) as bar:
            asked = self._native.ask(bar.reach)
        if asked is None:
            return None
        return (made if self._kept is None else self._kept.propose(number, *asked), *asked)

    def _first_round(self) -> int:
        """As many draws of the prior as planned, or as a store has of them."""
        if self._proposed:
            return self._proposed[0][0]
        there = next(index for index in itertools.count() if index not in self._known)
        return max(self._native.first_round(), min(there, self._budget))

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to simulate. When a round is complete, finding out fits to what was told."""
        self._go_on()
        return self._over

    def ask(self, n: Optional[int] = None) -> Array:
        """The next n parameters (k, D) of the round, or all that are left; (0, D) while only results are missing, and at the end."""
        wanted = None if n is None else arrays.count("n", n)
        self._go_on()
        places = np.flatnonzero(~self._handed_out)[:wanted]
        self._handed_out[places] = True
        asked: Array = self._asked[places].copy()
        return asked

    def tell(self, theta: Any, x: Any) -> None:
        """What came of parameters asked for, in any order and in any parts; a row of x with NaN is a failed simulation."""
        if arrays.numbers("theta", theta).size == 0:
            return
        theta, x, _ = arrays.simulations(theta, x, self._prior.names, self._statistics)
        if isinstance(x, DataSets) != self._in_rows or x.shape[-1] != self._columns:
            wanted = f"({len(theta)}, N, {self._columns})" if self._in_rows else f"({len(theta)}, {self._columns})"
            what = "columns" if self._in_rows else "statistics"
            raise InputError(f"x has shape {x.shape} but x_o has {self._columns} {what}: shape {wanted} is needed")
        self._take(self._places_of(theta), [_outcome(row) for row in x])

    def _take(self, places: list[int], outcomes: list[Outcome]) -> None:
        """Results by their place in the round; on the disk first, if there is a store."""
        if self._kept is not None:
            self._kept.record([self._first + place for place in places], self._asked[places], outcomes)
        for place, outcome in zip(places, outcomes):
            self._note(place, outcome)
        self._end_if_complete()

    def _places_of(self, theta: Array) -> list[int]:
        found: dict[int, None] = {}
        for row, parameters in enumerate(theta):
            known = [place for place in self._places.get(_key(parameters), []) if self._handed_out[place]]
            if not known:
                raise InputError(f"row {row} of theta was not asked for in this round\n  tell the rows that `ask` gave, with every digit")
            place = next((place for place in known if not self._told[place] and place not in found), None)
            if place is None:
                raise InputError(f"row {row} of theta was already told\n  tell every simulation once")
            found[place] = None
        return list(found)

    def posterior(self) -> Posterior:
        """From everything told so far; the same kind of object as `kelfi.fit` gives."""
        native = self._native
        if self._told.any():
            native = native.copy()
            native.tell(self._asked, self._wide, self._asked[self._told], outputs(self._results[self._told], self._repeats))
        elif not self._complete:
            raise InputError("there are no simulations yet; tell the results of `ask` first")
        with Progress("learning", 0, self._progress) as bar:
            found, learned, comparison = native.answer(bar.reach)
        named = found if self._statistics is None else found.named(self._statistics)
        return Posterior(named, learned, comparison, self._statistics, self._options)

    def close(self) -> None:
        """Lets go of the store."""
        if self._kept is not None:
            self._kept.close()

    def __enter__(self) -> Rounds:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
            raise InputError(f'rounds = {rounds!r} is not allowed: it must be "auto" or a whole number of at least 1')
        return rounds
    return str(arrays.count("rounds", rounds, least=1))


def _outcome(output: Array) -> Outcome:
    """Statistics, or the rows of a data set, that were told."""
    if np.isfinite(output).all():
        return Outcome("ok", output.ravel().tolist(), "", 0.0, output.shape[1] if output.ndim == 2 else None)
    return Outcome("non-finite", None, "told as a failed simulation", 0.0)


def _key(row: Array) -> bytes:
    return (np.asarray(row, dtype=np.float64) + 0.0).tobytes()
