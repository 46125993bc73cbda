"""What a simulator's source is, so that a store can tell simulations of another version of it apart."""

from __future__ import annotations

import functools
import hashlib
import inspect
import textwrap
from collections.abc import Callable
from types import CodeType
from typing import Any


def fingerprint(simulator: Callable[..., Any]) -> dict[str, str]:
    """The simulator's name with a fingerprint of its source; of its bytecode where the source cannot be found (a function typed at a
    prompt); nothing where there is neither (a function written in C). What it calls is not looked at."""
    while isinstance(simulator, functools.partial):
        simulator = simulator.func
    target: Any = simulator
    if not (inspect.isroutine(simulator) or inspect.isclass(simulator)):
        target = type(simulator)
    name = getattr(target, "__qualname__", type(target).__name__)
    text = _text(target)
    return {} if text is None else {name: hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}


def _text(target: Any) -> str | None:
    try:
        return textwrap.dedent(inspect.getsource(target))
    except (OSError, TypeError):
        pass
    code = getattr(target, "__code__", None) or getattr(getattr(target, "__call__", None), "__code__", None)
    return None if code is None else repr(_plain(code))


def _plain(value: Any) -> Any:
    """Bytecode without places and line numbers, which change without a change of meaning."""
    if isinstance(value, CodeType):
        return (value.co_code, value.co_names, value.co_varnames, [_plain(constant) for constant in value.co_consts])
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    return value
