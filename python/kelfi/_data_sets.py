"""Outputs that are data sets: the rows of each simulation, whose number may differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from ._frames import in_order, names_of
from .errors import InputError

Array = NDArray[np.float64]


class DataSets(list):  # type: ignore[type-arg]
    """A list of data sets (N, d), one for each simulation; one with a value that is not finite is a failed simulation.

    Like an array it can be indexed by a mask or a sequence of places.
    """

    def __init__(self, sets: Any, width: int) -> None:
        super().__init__(sets)
        self.width = width

    @classmethod
    def failed(cls, count: int, columns: int) -> DataSets:
        """Failed simulations."""
        return cls([np.full((1, columns), np.nan) for _ in range(count)], columns)

    @classmethod
    def from_native(cls, rows: Array, counts: Sequence[int]) -> DataSets:
        """From all rows and how many each simulation has; 0 for a failed one."""
        ends = np.cumsum(counts, dtype=int)
        columns = rows.shape[1]
        nothing = np.full((1, columns), np.nan)
        return cls([rows[end - count : end].copy() if count else nothing.copy() for end, count in zip(ends, counts)], columns)

    def to_native(self) -> tuple[Array, list[int]]:
        """All rows, and how many each simulation has; 0 for a failed one."""
        sound = [bool(len(rows)) and bool(np.isfinite(rows).all()) for rows in self]
        kept = [rows for rows, is_sound in zip(self, sound) if is_sound]
        together = np.concatenate(kept) if kept else np.empty((0, self.width))
        return np.ascontiguousarray(together), [len(rows) if is_sound else 0 for rows, is_sound in zip(self, sound)]

    @property
    def shape(self) -> tuple[int, str, int]:
        """(m, "N", d), for messages."""
        return len(self), "N", self.width

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, (int, np.integer)):
            return super().__getitem__(int(place))
        if isinstance(place, slice):
            return DataSets(super().__getitem__(place), self.width)
        return DataSets([self[int(i)] for i in _places(place)], self.width)

    def __setitem__(self, place: Any, value: Any) -> None:
        if isinstance(place, (int, np.integer)):
            super().__setitem__(int(place), value)
            return
        for i, rows in zip(_places(place), value):
            super().__setitem__(int(i), rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return DataSets, (list(self), self.width)


Outputs = Union[Array, DataSets]


def _places(place: Any) -> Any:
    found = np.asarray(place)
    return np.flatnonzero(found) if found.dtype == bool else found.astype(int)


def joined(parts: Sequence[Outputs]) -> Outputs:
    """Outputs one after the other."""
    first = parts[0]
    if isinstance(first, DataSets):
        return DataSets([rows for part in parts for rows in part], first.width)
    return np.concatenate(parts)


def tolerances_of(x: Outputs) -> int:
    """How many tolerances there are: one for each statistic; data sets have one, of their discrepancy."""
    return 1 if isinstance(x, DataSets) else x.shape[1]


def native(x: Outputs, repeats: int | None = None) -> Any:
    """x as the native module takes it; outputs may be so many repeats of the same statistics, 1 says that they are none."""
    if isinstance(x, DataSets):
        return x.to_native()
    return x if repeats is None else (x, repeats)


def from_native(x: Any) -> Outputs:
    """x as the native module gives it."""
    return DataSets.from_native(*x) if isinstance(x, tuple) else x


def data_sets(x: Any, statistics: Optional[Sequence[str]]) -> tuple[Optional[DataSets], Optional[list[str]]]:
    """x as data sets with the names of their columns, or None where it is none: a table, or anything a table can be read from."""
    if isinstance(x, DataSets):
        return x, None if statistics is None else list(statistics)
    if getattr(x, "ndim", None) == 3:
        each: Any = np.asarray(x)
    elif isinstance(x, np.ndarray) and x.dtype != object:
        each = None
    else:
        each = x if isinstance(x, (list, tuple, np.ndarray)) and any(_is_table(rows) for rows in x) else None
    if each is None:
        return None, None
    from ._arrays import numbers

    tables = [rows for rows in each if rows is not None]
    names = names_of(tables[0]) if statistics is None and len(tables) else statistics
    read = [None if rows is None else numbers(f"x[{i}]", in_order("x", rows, names, "column")) for i, rows in enumerate(each)]
    columns = {rows.shape[1] for rows in read if rows is not None and rows.ndim == 2}
    for i, rows in enumerate(read):
        if rows is not None and (rows.ndim != 2 or len(columns) > 1):
            raise InputError(f"x[{i}] has shape {rows.shape}; every data set needs shape (N, d), with the same d")
    if not columns or 0 in columns:
        raise InputError("x has no columns; every data set needs shape (N, d) with d of at least 1")
    width = columns.pop()
    if statistics is not None and len(statistics) != width:
        raise InputError(f"x has {width} columns but statistics names {len(statistics)}")
    nothing = np.full((1, width), np.nan)
    sets = [nothing.copy() if rows is None or len(rows) == 0 else rows for rows in read]
    return DataSets(sets, width), None if names is None else list(names)


def _is_table(rows: Any) -> bool:
    return getattr(rows, "ndim", 0) == 2 or (isinstance(rows, (list, tuple)) and len(rows) > 0 and np.ndim(rows[0]) == 1)
