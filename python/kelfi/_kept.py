"""The store of a run: opened if it is there, made with the first result, refused if it is another problem's."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from . import _arrays as arrays
from . import _kelfi
from ._arrays import Array
from ._call import Outcome
from ._data_sets import DataSets, from_native
from .errors import StoreError
from .prior import Prior


class Kept:
    """Simulations and the rounds they belong to, in an SQLite file, the same as the command line's.

    source: the simulator's name with a fingerprint, see `_source`; None where others make the simulations.
    """

    def __init__(
        self,
        path: Union[str, os.PathLike[str]],
        prior: Prior,
        seed: Optional[int],
        names: Optional[list[str]],
        source: Optional[dict[str, str]],
    ) -> None:
        self.path, self.names, self.seed = Path(path), names, arrays.seed_of(seed)
        self._prior, self._source = prior, source
        self._store: Optional[_kelfi.Store] = None
        if _kelfi.Store.exists(self.path):
            self._store = _kelfi.Store.open(self.path)
            self._adopt(self._store, seed)

    def _adopt(self, store: _kelfi.Store, seed: Optional[int]) -> None:
        _, parameters, statistics, stored = store.problem()
        differences = []
        if parameters != self._prior.names:
            differences.append(f"its parameters are {', '.join(parameters)}, the prior's {', '.join(self._prior.names)}")
        if self.names is not None and self.names != statistics:
            differences.append(f"its statistics are {', '.join(statistics)}, not {', '.join(self.names)}")
        if seed is not None and stored != self.seed:
            differences.append(f"its seed is {stored}, not {self.seed}")
        if differences:
            store.close()
            raise StoreError(f"{self.path} was made for another problem: {'; '.join(differences)}\n  change it back, or use another file")
        self.seed, self.names = stored, statistics

    def create(self, columns: int, in_rows: bool) -> None:
        """Makes the file, if there is none, for so many statistics, or for data sets with so many columns."""
        if self._store is None:
            names = self.names or [f"x_{i}" for i in range(1, columns + 1)]
            outputs = {"outputs": "rows"} if in_rows else {}
            text = json.dumps({"prior": self._prior.to_dict(), "simulator": {"python": True}, **outputs})
            self._store = _kelfi.Store.create(self.path, text, self._prior.names, names, self.seed)
            self.mark()

    def mark(self) -> None:
        """What is written from here on was made by this simulator."""
        if self._store is not None and self._source is not None:
            self._store.made_by(self._source)

    def rows(self) -> dict[int, tuple[Array, Outcome]]:
        """Parameters and outcome of every simulation by its index."""
        if self._store is None:
            return {}
        indices, theta, stored, failures = self._store.table()
        x = from_native(stored)
        columns = x.width if isinstance(x, DataSets) else None
        said = {index: (status, message) for index, status, message in failures}
        found = {}
        for row, index in enumerate(map(int, indices)):
            status, message = said.get(index, ("ok", ""))
            found[index] = theta[row], Outcome(status, x[row].ravel().tolist() if status == "ok" else None, message, 0.0, columns)
        return found

    @property
    def in_rows(self) -> Optional[bool]:
        """Whether it keeps data sets; None where there is no file yet."""
        return None if self._store is None else isinstance(from_native(self._store.table()[2]), DataSets)

    def require_same(self, index: int, stored: Array, theta: Array) -> None:
        """An error if the simulation of this index was made with other parameters."""
        if not np.array_equal(stored, theta):
            self.close()
            raise StoreError(
                f"simulation {index} in {self.path} has parameters that this prior and seed do not give\n"
                "  it was made with another prior, or imported; use another file, or fit what `kelfi.read_store` reads"
            )

    def record(self, indices: Sequence[int], theta: Array, outcomes: Sequence[Outcome]) -> None:
        """Writes these durably."""
        if self._store is None or not indices:
            return
        records = [(index, o.status, o.values or [], o.message, o.seconds) for index, o in zip(indices, outcomes)]
        self._store.record(theta, records, self.seed)

    def rounds(self) -> list[tuple[int, Array, list[bool]]]:
        """Every round after the prior's: the index of its first row, its parameters, and which of them were proposed widely."""
        return [] if self._store is None else self._store.rounds()

    def propose(self, number: int, theta: Array, wide: list[bool]) -> int:
        """Keeps the parameters of a round before anybody simulates; gives the index of its first row."""
        if self._store is None:
            raise StoreError(f"there is no store at {self.path} to keep a round in")
        return self._store.propose(number, theta, wide)

    def forget_failures(self) -> None:
        """Failed simulations are to be made again."""
        if self._store is not None:
            self._store.forget_failures()

    def refuse_mixing(self, has_success: bool, adding: bool, accepted: bool) -> None:
        """An error before simulations are added to those of another version of the simulator; a warning if nothing is added or it is accepted."""
        makers = [] if self._store is None else self._store.makers()
        if self._store is None or not makers or not has_success or self._source is None or makers[-1][0] == self._source:
            return
        older = sum(count for files, count in makers if files != self._source)
        name = ", ".join(self._source) or "the simulator"
        fact = f"{older} of {self._store.count()} simulations in {self.path} were made by another version of {name}"
        if adding and not accepted:
            raise StoreError(
                f"{fact}\n  use another file, or put the old version back; "
                "if the change alters no result, accept_changed_simulator=True goes on"
            )
        warnings.warn(fact, UserWarning, stacklevel=5)

    def close(self) -> None:
        """Lets go of the file."""
        if self._store is not None:
            self._store.close()
            self._store = None


def kept_of(
    path: Union[str, os.PathLike[str]], prior: Prior, seed: Optional[int], names: Optional[list[str]], simulator: Callable[..., Any]
) -> Kept:
    """The store of simulations that this simulator makes."""
    from ._source import fingerprint

    return Kept(path, prior, seed, names, fingerprint(simulator))
