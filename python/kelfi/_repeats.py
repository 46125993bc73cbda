"""Outputs that are independent repeats of the same statistics."""

from __future__ import annotations

from typing import Any

from . import _arrays as arrays
from .errors import InputError


def whole_repeats(repeats: Any, numbers: int, in_rows: bool) -> int | None:
    """How many repeats an output of so many numbers is; None where nobody said."""
    if repeats is None:
        return None
    found = arrays.count("repeats", repeats, least=1)
    if found > 1 and in_rows:
        raise InputError(f"repeats = {found} is not allowed: the outputs are data sets, whose rows are repeats already")
    if numbers % found:
        raise InputError(f"repeats = {found} is not allowed: an output has {numbers} statistics, which are not {found} repeats of the same ones")
    return found
