"""What kelfi raises. Every class is a `KelfiError` and also a `ValueError`, a `RuntimeError` or a `MemoryError`."""

from __future__ import annotations


class KelfiError(Exception):
    """Anything kelfi raises on purpose."""


class InputError(KelfiError, ValueError):
    """Something given does not fit: a shape, a value that is not finite, a setting outside its domain."""


class InferenceError(KelfiError, RuntimeError):
    """The input is sound but gives no answer, for instance because no simulation comes near the observation."""


class OutOfMemoryError(InferenceError, MemoryError):
    """More memory is needed than there is. Raised before it is taken; the message says how much, and how many simulations would fit."""


class SimulationError(KelfiError, RuntimeError):
    """The simulator never succeeded, or its executor cannot go on."""


class StoreError(KelfiError, RuntimeError):
    """A store that cannot be opened, read or written, or that belongs to another problem."""


class MissingPackageError(KelfiError, RuntimeError):
    """An optional package (matplotlib, arviz) that is needed here and not installed."""


class InternalError(KelfiError, RuntimeError):
    """A bug of kelfi. Please report it."""
