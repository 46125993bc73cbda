"""What a posterior holds, and what it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

from .. import _arrays as arrays
from .. import _kelfi
from .._arrays import Array
from .._data_sets import Outputs, from_native
from ..errors import InputError
from ..prior import Prior

if TYPE_CHECKING:
    from typing_extensions import Self


class Held:
    """The native half with how it was learned. The parts of `Posterior` build on it."""

    def __init__(
        self,
        native: _kelfi.Posterior,
        learned: Optional[dict[str, Any]] = None,
        comparison: Optional[dict[str, Any]] = None,
        statistics: Optional[list[str]] = None,
        options: Optional[dict[str, Any]] = None,
    ) -> None:
        self._native = native
        self._statistics = statistics
        self._learned = learned
        self._comparison = comparison
        self._options = options
        self._last: Optional[tuple[bytes, Self]] = None
        # A torch tensor it was given as its observation: then answers are tensors too.
        self._like: Any = None

    @property
    def prior(self) -> Prior:
        """The prior."""
        return Prior._wrap(self._native.prior)

    @property
    def model(self) -> str:
        """The surrogate likelihood it rests on: "kernel-means", "location-scale" or "summaries"."""
        return self._native.model

    @property
    def comparison(self) -> Optional[dict[str, Any]]:
        """How `model="auto"` chose: chosen, reason, and, each as (mean, standard error) in nats of posterior over prior density
        at the true parameters of left-out simulations near the observation, the scores kernel_means and location_scale and
        their difference (location-scale less kernel means); None for one that was not tried.

        None where the model was given, and after `condition`, since the scores were the former observation's.
        """
        return None if self._comparison is None else dict(self._comparison)

    @property
    def names(self) -> list[str]:
        """Names of the parameters, in order."""
        return self._native.prior.names

    @property
    def x_o(self) -> Array:
        """The observation (n,), or the rows (N, d) of an observed data set."""
        return self._native.observation

    @property
    def simulations(self) -> tuple[Array, Outputs]:
        """The simulations it rests on: theta (m, D) and x (m, n), or a list of data sets."""
        return self._native.theta, from_native(self._native.x)

    def _observation(self, x: Any) -> Array:
        """Another observation of the same kind."""
        if self.x_o.ndim == 2:
            return arrays.rows_of(x, self.x_o.shape[1], self._statistics)
        return arrays.observation(x, len(self.x_o), self._statistics)

    def _points(self, theta: Any) -> Array:
        return arrays.points("theta", theta, self.names)

    def _places(self, theta: Any) -> Array:
        return arrays.places("theta", theta, self.names)

    def _index(self, parameter: Union[str, int]) -> int:
        names = self.names
        if isinstance(parameter, str):
            if parameter not in names:
                raise InputError(f"there is no parameter {parameter!r}; the parameters are {', '.join(names)}")
            return names.index(parameter)
        index = arrays.count("parameter", parameter)
        if index >= len(names):
            raise InputError(f"parameter = {index} is not allowed: there are {len(names)}, counted from 0")
        return index
