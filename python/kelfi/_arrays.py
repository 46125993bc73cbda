"""Anything NumPy can read, as float64 tables and vectors; what does not fit is refused by name, with both shapes."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from ._data_sets import DataSets, Outputs, data_sets
from ._frames import in_order, is_column, names_of
from .errors import InputError

Array = NDArray[np.float64]
LARGEST_SEED = 2**64 - 1
LARGEST_COUNT = 2**31


def numbers(name: str, value: Any) -> Array:
    """`value` as float64, whatever its dtype and strides; masked entries become NaN."""
    try:
        if isinstance(value, np.ma.MaskedArray):
            value = np.ma.filled(value.astype(np.float64), np.nan)
        array = np.asarray(value)
    except Exception as error:
        raise InputError(f"{name} cannot be read as an array: {error}") from error
    if array.dtype.kind not in "biufO":
        raise InputError(f"{name} has dtype {array.dtype}; real numbers are needed")
    try:
        with np.errstate(all="ignore"):
            found: Array = np.require(array, dtype=np.float64, requirements=["C", "ALIGNED"]).reshape(array.shape)
            return found
    except Exception as error:
        raise InputError(f"{name} has dtype {array.dtype} and cannot be read as real numbers: {error}") from error


def table(name: str, value: Any, columns: Optional[int] = None, what: str = "columns") -> Array:
    """A table with one row a point. A vector is a column if there is one column, and a single row otherwise."""
    array = numbers(name, value)
    shape = array.shape
    if array.ndim <= 1 and (columns is None or columns == 1):
        array = array.reshape(-1, 1)
    elif array.ndim == 1:
        array = array.reshape(1, -1)
    if array.ndim != 2 or (columns is not None and array.shape[1] != columns):
        wanted = "(m, n)" if columns is None else f"(m, {columns})"
        reason = "" if columns is None else f", since there are {columns} {what}"
        raise InputError(f"{name} has shape {shape} but shape {wanted} is needed{reason}")
    return array


def finite(name: str, array: Array) -> Array:
    """`array` if every value is finite; otherwise the first that is not, by row and column."""
    bad = ~np.isfinite(array)
    if bad.any():
        where = np.argwhere(np.atleast_2d(bad))[0]
        value = np.atleast_2d(array)[where[0], where[1]]
        raise InputError(f"{name} has {value} at row {where[0]}, column {where[1]}; every value must be finite")
    return array


def points(name: str, value: Any, names: Sequence[str]) -> Array:
    """Finite parameter vectors, one a row; named columns in any order."""
    return finite(name, _parameters(name, value, names))


def places(name: str, value: Any, names: Sequence[str]) -> Array:
    """Parameter vectors, one a row, that may be infinite: outside every support."""
    found = _parameters(name, value, names)
    finite(name, np.where(np.isinf(found), 0.0, found))
    return found


def _parameters(name: str, value: Any, names: Sequence[str]) -> Array:
    ordered = value if is_column(value, names) else in_order(name, value, names, "parameter")
    return table(name, ordered, len(names), "parameters")


def positions(name: str, value: Any) -> Array:
    """A vector whose values may be infinite, but not NaN."""
    array = numbers(name, value)
    vector(name, np.where(np.isinf(array), 0.0, array))
    return np.atleast_1d(array)


def vector(name: str, value: Any) -> Array:
    """A finite vector; a single number is a vector of one."""
    array = numbers(name, value)
    if array.ndim > 1:
        raise InputError(f"{name} has shape {array.shape} but shape (k,) is needed")
    return finite(name, np.atleast_1d(array))


def observation(value: Any, statistics: int, names: Optional[Sequence[str]] = None) -> Array:
    """x_o as a vector with one finite value for each statistic; (1, n) is taken as (n,), named ones in any order."""
    array = numbers("x_o", in_order("x_o", value, names, "statistic"))
    shape = array.shape
    array = np.atleast_1d(array)
    if array.ndim == 2 and array.shape[0] == 1:
        array = array[0]
    if array.shape != (statistics,):
        raise InputError(f"x_o has shape {shape} but x has {statistics} statistics: shape ({statistics},) is needed")
    return finite("x_o", array)


def observed(value: Any, x: Outputs, names: Optional[Sequence[str]] = None) -> Array:
    """x_o as x has it: a vector with one value for each statistic, or the rows (N, d) of a data set."""
    return rows_of(value, x.width, names) if isinstance(x, DataSets) else observation(value, x.shape[1], names)


def is_data_set(x_o: Array) -> bool:
    """Whether an observation, given without simulations, is the rows of a data set; (1, n) are statistics."""
    return x_o.ndim == 2 and len(x_o) > 1


def rows_of(value: Any, columns: int, names: Optional[Sequence[str]] = None) -> Array:
    """x_o as the rows (N, d) of a data set, all finite."""
    array = numbers("x_o", in_order("x_o", value, names, "column"))
    shape = array.shape
    if array.ndim == 1 and columns == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2 or array.shape[1] != columns or len(array) == 0:
        raise InputError(f"x_o has shape {shape} but the data sets have {columns} columns: shape (N, {columns}) is needed")
    return finite("x_o", array)


def simulations(
    theta: Any, x: Any, parameters: Sequence[str], statistics: Optional[Sequence[str]] = None
) -> tuple[Array, Outputs, Optional[list[str]]]:
    """theta (m, D), all finite, x (m, n), whose rows with NaN or infinity are failed simulations, and the statistics' names, if known.

    x of shape (m, N, d), or a list of arrays (N, d), are data sets.
    """
    sets, columns = data_sets(x, statistics)
    if sets is not None:
        theta = points("theta", theta, parameters)
        if len(theta) != len(sets):
            shape = f"({len(sets)}, N, {sets.width})" if getattr(x, "ndim", None) != 3 else np.shape(x)
            raise InputError(f"theta has shape {theta.shape} but x has shape {shape}, {len(sets)} data sets: both need one for each simulation")
        return theta, sets, columns
    if is_column(x, None):
        x = np.asarray(x)
    statistics = names_of(x) if statistics is None else list(statistics)
    theta, x = points("theta", theta, parameters), table("x", in_order("x", x, statistics, "statistic"))
    if len(theta) != len(x):
        raise InputError(f"theta has shape {theta.shape} but x has shape {x.shape}: both need one row per simulation")
    if len(theta) == 0 or x.shape[1] == 0:
        raise InputError(f"theta has shape {theta.shape} and x has shape {x.shape}: at least one simulation and one statistic are needed")
    return theta, x, statistics


def scales(name: str, value: Any, length: int, what: str) -> Array:
    """One positive number for all, or one each."""
    array = vector(name, value)
    if array.shape not in ((1,), (length,)):
        raise InputError(f"{name} has shape {array.shape} but there are {length} {what}: give one number or shape ({length},)")
    if (array <= 0.0).any():
        raise InputError(f"{name} = {np.min(array)} is not allowed: it must be positive")
    return array


def regularization_of(value: Any) -> float:
    """λ: a finite number, not negative."""
    found = number("regularization", value)
    if found < 0.0:
        raise InputError(f"regularization = {found} is not allowed: it must not be negative")
    return found


def number(name: str, value: Any) -> float:
    """A finite number."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} = {value!r} is not a number") from error
    if not np.isfinite(found):
        raise InputError(f"{name} = {found} is not allowed: it must be finite")
    return found


def count(name: str, value: Any, least: int = 0) -> int:
    """A whole number, not below `least` and of a size that fits into memory."""
    try:
        found = operator.index(value)
    except TypeError as error:
        raise InputError(f"{name} = {value!r} is not a whole number") from error
    if not least <= found <= LARGEST_COUNT:
        raise InputError(f"{name} = {found} is not allowed: it must lie between {least} and {LARGEST_COUNT}")
    return found


def seed_of(value: Union[int, None]) -> int:
    """The seed given, or a fresh one from the system."""
    if value is None:
        return int.from_bytes(os.urandom(8), "little")
    try:
        found = operator.index(value)
    except TypeError as error:
        raise InputError(f"seed = {value!r} is not a whole number") from error
    if not 0 <= found <= LARGEST_SEED:
        raise InputError(f"seed = {found} is not allowed: it must lie between 0 and {LARGEST_SEED}")
    return found
