"""Frozen SciPy and torch distributions as families of kelfi's own. Neither package is needed, nor imported."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Optional

from . import families as f
from .errors import InputError

# From the settings of a SciPy distribution (shapes, loc and scale by name) to the family with the same density. A loc that the family
# does not know must be 0.
SCIPY: dict[str, Callable[[dict[str, float]], f.Marginal]] = {
    "norm": lambda s: f.Normal(s["loc"], s["scale"]),
    "uniform": lambda s: f.Uniform(s["loc"], s["loc"] + s["scale"]),
    "lognorm": lambda s: f.LogNormal(math.log(s["scale"]), s["s"]),
    "loguniform": lambda s: f.LogUniform(s["a"] * s["scale"], s["b"] * s["scale"]),
    "reciprocal": lambda s: f.LogUniform(s["a"] * s["scale"], s["b"] * s["scale"]),
    "gamma": lambda s: f.Gamma(s["a"], 1 / s["scale"]),
    "invgamma": lambda s: f.InverseGamma(s["a"], s["scale"]),
    "beta": lambda s: f.Beta(s["a"], s["b"]),
    "expon": lambda s: f.Exponential(1 / s["scale"]),
    "t": lambda s: f.StudentT(s["df"], s["loc"], s["scale"]),
    "truncnorm": lambda s: f.TruncatedNormal(s["loc"], s["scale"], s["loc"] + s["a"] * s["scale"], s["loc"] + s["b"] * s["scale"]),
    "weibull_min": lambda s: f.Weibull(s["c"], s["scale"]),
    "cauchy": lambda s: f.Cauchy(s["loc"], s["scale"]),
    "halfnorm": lambda s: f.HalfNormal(s["scale"]),
    "laplace": lambda s: f.Laplace(s["loc"], s["scale"]),
    "triang": lambda s: f.Triangular(s["loc"], s["loc"] + s["c"] * s["scale"], s["loc"] + s["scale"]),
}
FROM_ZERO = ("lognorm", "loguniform", "reciprocal", "gamma", "invgamma", "beta", "expon", "weibull_min", "halfnorm")

# The attributes of a torch distribution, in the order of the family's settings.
TORCH: dict[str, tuple[type[f.Marginal], tuple[str, ...]]] = {
    "Normal": (f.Normal, ("loc", "scale")),
    "Uniform": (f.Uniform, ("low", "high")),
    "LogNormal": (f.LogNormal, ("loc", "scale")),
    "Gamma": (f.Gamma, ("concentration", "rate")),
    "InverseGamma": (f.InverseGamma, ("concentration", "rate")),
    "Beta": (f.Beta, ("concentration1", "concentration0")),
    "Exponential": (f.Exponential, ("rate",)),
    "StudentT": (f.StudentT, ("df", "loc", "scale")),
    "Weibull": (f.Weibull, ("concentration", "scale")),
    "Cauchy": (f.Cauchy, ("loc", "scale")),
    "HalfNormal": (f.HalfNormal, ("scale",)),
    "Laplace": (f.Laplace, ("loc", "scale")),
}


def families(value: Any) -> Optional[list[f.Marginal]]:
    """The families of each dimension of a SciPy or torch distribution; None for anything else.

    >>> import scipy.stats
    >>> families(scipy.stats.uniform(1, 3))
    [Uniform(low=1.0, high=4.0)]
    >>> families("normal") is None
    True
    """
    if isinstance(value, f.Marginal):
        return [value]
    if hasattr(value, "dist") and hasattr(value, "args") and hasattr(value, "kwds"):
        return [_scipy(value)]
    if _is_torch(value):
        # sbi's MultipleIndependent is a list of distributions.
        parts = getattr(value, "dists", [value])
        return [family for part in parts for family in _torch(part)]
    return None


def normal(value: Any) -> Optional[tuple[Any, Any]]:
    """Mean and covariance of a multivariate normal distribution of SciPy or torch; None for anything else."""
    if _is_torch(value) and type(value).__name__ == "MultivariateNormal":
        return _plain(value.mean), _plain(value.covariance_matrix)
    if type(value).__name__ == "multivariate_normal_frozen":
        return value.mean, value.cov
    return None


def _plain(tensor: Any) -> Any:
    """A tensor's numbers as lists, whatever its device."""
    for step in ("detach", "cpu", "tolist"):
        tensor = getattr(tensor, step)() if hasattr(tensor, step) else tensor
    return tensor


def _scipy(frozen: Any) -> f.Marginal:
    name = str(getattr(frozen.dist, "name", type(frozen.dist).__name__))
    if name not in SCIPY:
        raise InputError(f"scipy.stats.{name} is not a family that kelfi has; the families are {', '.join(f.FAMILIES)}")
    shapes = [shape.strip() for shape in (frozen.dist.shapes or "").split(",") if shape.strip()]
    given = {**dict(zip([*shapes, "loc", "scale"], frozen.args)), **frozen.kwds}
    try:
        settings = {"loc": 0.0, "scale": 1.0, **{key: float(number) for key, number in given.items()}}
    except (TypeError, ValueError) as error:
        raise InputError(f"scipy.stats.{name} has a setting that is not a single number; give one distribution for each parameter") from error
    moved = name in FROM_ZERO and settings["loc"] != 0
    if moved or (name == "beta" and settings["scale"] != 1):
        raise InputError(f"scipy.stats.{name} with loc = {settings['loc']} and scale = {settings['scale']} is not one of kelfi's families")
    return SCIPY[name](settings)


def _is_torch(value: Any) -> bool:
    """Whether one of its classes is torch's; sbi's BoxUniform descends from torch's Independent."""
    return any(kind.__module__.startswith("torch.distributions") for kind in type(value).__mro__)


def _torch(value: Any) -> list[f.Marginal]:
    if hasattr(value, "base_dist") and hasattr(value, "reinterpreted_batch_ndims"):
        return _torch(value.base_dist)
    kinds = [kind.__name__ for kind in type(value).__mro__ if kind.__name__ in TORCH]
    if not kinds:
        raise InputError(f"torch's {type(value).__name__} is not a family that kelfi has; the families are {', '.join(f.FAMILIES)}")
    made, attributes = TORCH[kinds[0]]
    columns = [_list(getattr(value, attribute)) for attribute in attributes]
    longest = max(map(len, columns))
    return [made(*(column[d if len(column) > 1 else 0] for column in columns)) for d in range(longest)]


def _list(tensor: Any) -> list[float]:
    """A tensor's numbers, whatever its shape and device."""
    flat: list[float] = []
    pending = [_plain(tensor)]
    while pending:
        item = pending.pop()
        if isinstance(item, (list, tuple)):
            pending.extend(reversed(item))
        else:
            flat.append(float(item))
    return flat
