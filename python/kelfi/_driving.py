"""Rounds driven by a simulator that can be called."""

from __future__ import annotations

import time
from typing import Optional

import numpy as np

from . import _kelfi
from ._call import Outcome
from ._caller import Caller
from ._progress import Progress
from ._table import WRITE_AT_MOST, WRITE_EVERY
from .errors import SimulationError
from .posterior import Posterior
from .rounds import Rounds


def drive(rounds: Rounds, caller: Caller, progress: Optional[bool], accept_changed_simulator: bool = False) -> Posterior:
    """Calls the simulator wherever `rounds` asks, one round after the other, and gives the posterior."""
    first: dict[int, Outcome] = {index: outcome for index, (_, outcome) in rounds._known.items() if index == 0}
    while not rounds.finished:
        _prepare(rounds, accept_changed_simulator)
        asked, number = rounds._asked, len(rounds._complete)
        missing = np.flatnonzero(~rounds._told).tolist()
        seeds = _kelfi.simulator_seeds(rounds.seed, rounds._first, len(asked))
        written = _Portions(rounds)
        with Progress(f"round {number}: simulations", len(asked), progress, len(asked) - len(missing)) as bar, written:
            for task, found in caller.calls(missing, asked, seeds):
                written.add(task.indices, [rounds._fitting(outcome) for outcome in found])
                bar.update(len(task.indices))
                if number == 0 and 0 in task.indices:
                    first[0] = rounds._fitting(found[task.indices.index(0)])
        if number == 0 and all(np.isnan(output).any() for output in rounds.x):
            said = f"{first[0].status}: {first[0].message}"
            raise SimulationError(f"all {len(asked)} simulations of the first round failed; the first says: {said}\n  fix the simulator or the prior")
    return rounds.posterior()


def _prepare(rounds: Rounds, accepted: bool) -> None:
    """Refuses to add to simulations of another version of the simulator."""
    if rounds._kept is not None:
        success = any(outcome.values is not None for _, outcome in rounds._known.values())
        rounds._kept.refuse_mixing(success, True, accepted)
        rounds._kept.mark()


class _Portions:
    """Results on their way to the rounds: written a few at a time, and when the block is left, also by an error."""

    def __init__(self, rounds: Rounds) -> None:
        self._rounds, self._written_at = rounds, time.monotonic()
        self._places: list[int] = []
        self._outcomes: list[Outcome] = []

    def add(self, places: tuple[int, ...], outcomes: list[Outcome]) -> None:
        self._places.extend(places)
        self._outcomes.extend(outcomes)
        if len(self._places) >= WRITE_AT_MOST or time.monotonic() - self._written_at > WRITE_EVERY:
            self._write()

    def _write(self) -> None:
        places, outcomes = self._places, self._outcomes
        self._places, self._outcomes, self._written_at = [], [], time.monotonic()
        if places:
            self._rounds._take(places, outcomes)

    def __enter__(self) -> _Portions:
        return self

    def __exit__(self, *_: object) -> None:
        self._write()
