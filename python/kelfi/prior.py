"""The prior of the parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

from . import _arrays as arrays
from . import _kelfi
from ._arrays import Array
from ._foreign import families, normal
from .errors import InputError
from .families import Marginal, Uniform


class Prior:
    """Independent parameters, by name or in a list (then named theta_1, theta_2, ...).

    Frozen SciPy distributions (`scipy.stats.norm(0, 1)`) and torch's are taken where a family is, and a torch distribution of several
    dimensions as a whole prior.

    >>> prior = Prior(rate=LogUniform(0.01, 10.0), delay=Normal(2.0, 0.5))
    >>> prior
    Prior(rate=LogUniform(low=0.01, high=10.0), delay=Normal(mean=2.0, std=0.5))
    >>> prior.sample(3, seed=1).shape
    (3, 2)
    >>> Prior([Normal(0, 1), Uniform(0, 1)]).names
    ['theta_1', 'theta_2']
    """

    def __init__(self, marginals: Union[Sequence[Any], Mapping[str, Any], Any, None] = None, /, **named: Any) -> None:
        if marginals is not None and named:
            raise InputError("parameters are given both in a list and by name; use one of the two")
        given = named if marginals is None else marginals
        whole = families(given)
        if whole is not None:
            given = whole
        if not isinstance(given, Mapping):
            try:
                given = {f"theta_{d}": marginal for d, marginal in enumerate(given, 1)}
            except TypeError as error:
                raise InputError(f"a prior is made of families such as kelfi.Normal(0, 1), not of {given!r}") from error
        parameters = [[str(name), _family(name, marginal).to_dict()] for name, marginal in given.items()]
        self._native = _kelfi.Prior(json.dumps({"independent": {"parameters": parameters}}))

    @classmethod
    def multivariate_normal(cls, mean: Any, covariance: Any, names: Optional[Sequence[str]] = None) -> Prior:
        """Correlated normal parameters.

        >>> Prior.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], names=["a", "b"]).names
        ['a', 'b']
        """
        centre = arrays.vector("mean", mean)
        matrix = arrays.finite("covariance", arrays.table("covariance", covariance, len(centre), "means"))
        written = {"names": _names(names, len(centre)), "mean": centre.tolist(), "covariance": _written(matrix)}
        return cls._from_json(json.dumps({"multivariate_normal": written}))

    @classmethod
    def from_samples(cls, samples: Any, names: Optional[Sequence[str]] = None) -> Prior:
        """A prior known by equally weighted draws only. It has no density, so neither has its posterior: work with samples."""
        draws = arrays.finite("samples", arrays.table("samples", samples))
        written = {"names": _names(names, draws.shape[1]), "draws": _written(draws)}
        return cls._from_json(json.dumps({"samples": written}))

    @classmethod
    def _wrap(cls, native: _kelfi.Prior) -> Prior:
        prior = cls.__new__(cls)
        prior._native = native
        return prior

    @classmethod
    def _from_json(cls, text: str) -> Prior:
        return cls._wrap(_kelfi.Prior(text))

    @property
    def names(self) -> list[str]:
        """Names of the parameters, in order."""
        return self._native.names

    @property
    def dimension(self) -> int:
        """Number of parameters D."""
        return len(self.names)

    def sample(self, num_samples: Union[int, tuple[int, ...]], seed: Optional[int] = None) -> Array:
        """Draws (num_samples, D). Row j depends on (seed, j) only, as on the command line; without a seed a fresh one is taken.

        >>> prior = Prior(rate=LogUniform(0.01, 10.0))
        >>> bool((prior.sample(10, seed=1) == prior.sample(20, seed=1)[:10]).all())
        True
        """
        if isinstance(num_samples, tuple):  # sbi's and torch's habit: sample((n,))
            if len(num_samples) != 1:
                raise InputError(f"num_samples = {num_samples} is not allowed: give a number n, or (n,)")
            (num_samples,) = num_samples
        return self._native.sample(arrays.count("num_samples", num_samples), arrays.seed_of(seed))

    def log_prob(self, theta: Any) -> Array:
        """ln p(θ) of each row (k,); -inf outside the support.

        >>> Prior(a=Uniform(0, 2)).log_prob([[1.0], [3.0]])
        array([-0.69314718,        -inf])
        """
        return self._native.log_prob(arrays.points("theta", theta, self.names))

    def quantile(self, probabilities: Any) -> Array:
        """Quantiles of each parameter: (k, D) for k probabilities, (D,) for a single one.

        >>> Prior(a=Uniform(0, 2), b=Uniform(0, 4)).quantile(0.5)
        array([1., 2.])
        """
        found = self._native.quantile(arrays.vector("probabilities", probabilities))
        return found[0] if np.ndim(probabilities) == 0 else found

    def cdf(self, theta: Any) -> Array:
        """P(Θ_d ≤ θ_d) of each parameter, row for row (k, D)."""
        return self._native.cdf(arrays.points("theta", theta, self.names))

    def to_dict(self) -> dict[str, Any]:
        """The written form, as in saved models."""
        written: dict[str, Any] = json.loads(self._native.to_json())
        return written

    def __repr__(self) -> str:
        ((kind, written),) = self.to_dict().items()
        if kind == "independent":
            return "Prior(" + ", ".join(f"{name}={Marginal.from_dict(family)!r}" for name, family in written["parameters"]) + ")"
        return f"<Prior: {kind} of {', '.join(self.names)}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prior) and self._native.to_json() == other._native.to_json()

    def __hash__(self) -> int:
        return hash(self._native.to_json())

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Prior._from_json, (self._native.to_json(),)


class BoxUniform(Prior):
    """Independent uniform parameters between low (D,) and high (D,).

    >>> BoxUniform([0, 0], [1, 2], names=["a", "b"])
    Prior(a=Uniform(low=0.0, high=1.0), b=Uniform(low=0.0, high=2.0))
    """

    def __init__(self, low: Any, high: Any, names: Optional[Sequence[str]] = None) -> None:
        below, above = arrays.vector("low", low), arrays.vector("high", high)
        if len(below) != len(above):
            raise InputError(f"low has {len(below)} values and high {len(above)}; give one of each for each parameter")
        called = _names(names, len(below))
        super().__init__({name: Uniform(a, b) for name, a, b in zip(called, below, above)})


def _family(name: Any, value: Any) -> Marginal:
    """The family of one parameter, kelfi's own or a foreign one."""
    found = families(value)
    if found is None:
        raise InputError(f"the prior of {name} is {value!r}; a family such as kelfi.Normal(0, 1) is needed")
    if len(found) != 1:
        raise InputError(f"the prior of {name} has {len(found)} dimensions; give one distribution for each parameter")
    return found[0]


def require_prior(prior: Any) -> Prior:
    """`prior` if it is one; a list or mapping of families, or a foreign distribution, is made one."""
    if isinstance(prior, Prior):
        return prior
    correlated = normal(prior)
    if correlated is not None:
        return Prior.multivariate_normal(*correlated)
    if isinstance(prior, (list, tuple, Mapping)) or families(prior) is not None:
        return Prior(prior)
    raise InputError(f"prior is {type(prior).__name__}; a kelfi.Prior is needed")


def _names(names: Optional[Sequence[str]], dimension: int) -> list[str]:
    found = [f"theta_{d}" for d in range(1, dimension + 1)] if names is None else [str(name) for name in names]
    if len(found) != dimension:
        raise InputError(f"there are {len(found)} names but {dimension} parameters; give one name for each")
    return found


def _written(matrix: Array) -> dict[str, Any]:
    return {"rows": matrix.shape[0], "columns": matrix.shape[1], "values": matrix.ravel().tolist()}
