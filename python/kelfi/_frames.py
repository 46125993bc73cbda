"""Tables and vectors that carry names (data frames, structured arrays, mappings, series): matched by name, never by position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from .errors import InputError


def names_of(value: Any) -> Optional[list[str]]:
    """The names a table's columns or a vector's entries carry; None for those without, or with mere numbers."""
    if isinstance(value, Mapping):
        return [str(name) for name in value]
    if isinstance(value, np.ndarray):
        return None if value.dtype.names is None else list(value.dtype.names)
    found = getattr(value, "column_names", None)  # pyarrow
    if found is None:
        found = getattr(value, "columns", None)  # pandas, polars
    if found is None and getattr(value, "ndim", None) == 1:
        found = getattr(value, "index", None)  # a pandas series
    if found is None or callable(found):
        return None
    names = list(found)
    if names == list(range(len(names))) or names == [f"column_{i}" for i in range(len(names))]:
        return None
    if not any(isinstance(name, str) for name in names):
        return None if getattr(value, "columns", None) is None else [str(name) for name in names]
    return [str(name) for name in names]


def is_column(value: Any, expected: Optional[Sequence[str]]) -> bool:
    """Whether a labelled vector is a column of many values, its labels those of rows, rather than one value for each name."""
    labelled = getattr(value, "ndim", None) == 1 and not isinstance(value, np.ndarray)
    return labelled and (expected is None or len(value) != len(expected))


def in_order(what: str, value: Any, expected: Optional[Sequence[str]], kind: str) -> Any:
    """`value` with its columns or entries in the order of `expected` names; as it is, if it has none."""
    given = names_of(value)
    if given is None:
        return value
    if expected is None:
        raise InputError(
            f"{what} names its {kind}s ({_listed(given)}) but there are no names to match them with\n"
            f"  give x as a data frame too or its names as statistics=[...], or {what} as a plain sequence in the order of x"
        )
    _require_same(what, given, list(expected), kind)
    columns = [_column(value, given, name) for name in expected]
    lengths = {column.shape for column in columns if column.ndim > 0}
    if len(lengths) > 1:
        found = ", ".join(f"{name} {column.shape}" for name, column in zip(expected, columns))
        raise InputError(f"the {kind}s in {what} have different shapes: {found}\n  every one needs a value for each simulation")
    return np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else value


def _require_same(what: str, given: list[str], expected: list[str], kind: str) -> None:
    twice = sorted({name for name in given if given.count(name) > 1})
    if twice:
        raise InputError(f"{what} has {_listed(twice)} more than once\n  every {kind} needs a name of its own")
    unknown = [name for name in given if name not in expected]
    missing = [name for name in expected if name not in given]
    if unknown or missing:
        facts = [f"{what} has {_listed(unknown)}, which is not a {kind}"] if len(unknown) == 1 else []
        facts += [f"{what} has {_listed(unknown)}, which are not {kind}s"] if len(unknown) > 1 else []
        facts += [f"{what} lacks {_listed(missing)}"] if missing else []
        raise InputError(f"{'; '.join(facts)}\n  the {kind}s are {_listed(expected)}; give exactly these, in any order")


def _column(value: Any, given: list[str], name: str) -> Any:
    if isinstance(value, Mapping):
        found = next(item for key, item in value.items() if str(key) == name)
    elif isinstance(value, np.ndarray):
        found = value[name]
    elif getattr(value, "ndim", None) == 1:
        found = value.iloc[given.index(name)]
    elif hasattr(value, "iloc"):
        found = value.iloc[:, given.index(name)]
    else:
        found = value[name]
    column = np.asarray(found)
    if column.dtype.kind == "O":
        # pandas' own mark for a missing value.
        column = np.array([np.nan if type(entry).__name__ == "NAType" else entry for entry in column.ravel()], dtype=object).reshape(column.shape)
    if column.dtype.kind not in "biufO":
        raise InputError(f"column {name} has dtype {column.dtype}; real numbers are needed")
    return column


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
