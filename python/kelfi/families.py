"""The fifteen one-dimensional prior families. Settings are checked when one is made."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, fields
from typing import Any

from . import _kelfi
from .errors import InputError


@dataclass(frozen=True)
class Marginal:
    """A one-dimensional family with its settings.

    >>> Normal(2.0, 0.5)
    Normal(mean=2.0, std=0.5)
    >>> Normal(2.0, -0.5)
    Traceback (most recent call last):
        ...
    kelfi.errors.InputError: std of normal = -0.5 is not allowed: it must be positive and finite
    """

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            try:
                object.__setattr__(self, field.name, float(value))
            except (TypeError, ValueError, OverflowError) as error:
                raise InputError(f"{field.name} of {self.family} = {value!r} is not a number") from error
        for name, value in self.settings().items():
            if isinstance(value, float) and not math.isfinite(value):
                raise InputError(f"{name} of {self.family} = {value} is not allowed: it must be finite")
        _kelfi.check_marginal(json.dumps(self.to_dict()))

    @property
    def family(self) -> str:
        """Name of the family in files, for instance `log_uniform`."""
        return re.sub("(?<!^)([A-Z])", r"_\1", type(self).__name__).lower()

    def settings(self) -> dict[str, Any]:
        """The settings by name; an infinite end of a truncated normal is `None`."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """As in a problem file: `{"normal": {"mean": 2.0, "std": 0.5}}`."""
        return {self.family: self.settings()}

    @staticmethod
    def from_dict(written: dict[str, dict[str, Any]]) -> Marginal:
        """The family that `to_dict` wrote."""
        ((name, settings),) = written.items()
        made: Marginal = FAMILIES[name](**{key: value for key, value in settings.items() if value is not None})
        return made


@dataclass(frozen=True)
class Normal(Marginal):
    """Normal with this mean and standard deviation."""

    mean: float
    std: float


@dataclass(frozen=True)
class Uniform(Marginal):
    """Constant density between low and high."""

    low: float
    high: float


@dataclass(frozen=True)
class LogNormal(Marginal):
    """ln θ is normal with this mean and standard deviation."""

    mean: float
    std: float


@dataclass(frozen=True)
class LogUniform(Marginal):
    """ln θ is uniform; low must be positive."""

    low: float
    high: float


@dataclass(frozen=True)
class Gamma(Marginal):
    """Density ∝ θ^(shape-1) e^(-rate θ)."""

    shape: float
    rate: float


@dataclass(frozen=True)
class InverseGamma(Marginal):
    """1/θ is gamma: density ∝ θ^(-shape-1) e^(-scale/θ)."""

    shape: float
    scale: float


@dataclass(frozen=True)
class Beta(Marginal):
    """Density ∝ θ^(a-1) (1-θ)^(b-1) between 0 and 1."""

    a: float
    b: float


@dataclass(frozen=True)
class Exponential(Marginal):
    """Density ∝ e^(-rate θ), θ ≥ 0."""

    rate: float


@dataclass(frozen=True)
class StudentT(Marginal):
    """Student's t, shifted and stretched; scale is not the standard deviation."""

    df: float
    location: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True)
class TruncatedNormal(Marginal):
    """A normal restricted to [low, high]; either end may be infinite."""

    mean: float
    std: float
    low: float = -math.inf
    high: float = math.inf

    def settings(self) -> dict[str, Any]:
        found = super().settings()
        if found["low"] == -math.inf:
            found["low"] = None
        if found["high"] == math.inf:
            found["high"] = None
        return found


@dataclass(frozen=True)
class Weibull(Marginal):
    """P(Θ > θ) = exp(-(θ/scale)^shape)."""

    shape: float
    scale: float


@dataclass(frozen=True)
class Cauchy(Marginal):
    """Student's t with one degree of freedom; scale is the half width at half maximum."""

    location: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True)
class HalfNormal(Marginal):
    """The absolute value of a normal with mean 0 and this standard deviation."""

    std: float


@dataclass(frozen=True)
class Laplace(Marginal):
    """Density ∝ e^(-|θ-location|/scale)."""

    location: float
    scale: float


@dataclass(frozen=True)
class Triangular(Marginal):
    """Density rising linearly from low to mode and falling linearly to high."""

    low: float
    mode: float
    high: float


FAMILIES: dict[str, Any] = {
    "normal": Normal,
    "uniform": Uniform,
    "log_normal": LogNormal,
    "log_uniform": LogUniform,
    "gamma": Gamma,
    "inverse_gamma": InverseGamma,
    "beta": Beta,
    "exponential": Exponential,
    "student_t": StudentT,
    "truncated_normal": TruncatedNormal,
    "weibull": Weibull,
    "cauchy": Cauchy,
    "half_normal": HalfNormal,
    "laplace": Laplace,
    "triangular": Triangular,
}
