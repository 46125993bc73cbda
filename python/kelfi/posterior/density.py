"""Densities: of all parameters, of one, and its kernel mean embedding."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from .. import _arrays as arrays
from .._arrays import Array
from .._tensors import like
from .conditioned import Conditioned


class Density(Conditioned):
    """How plausible given parameters are."""

    def value(self, theta: Any) -> Array:
        """q(θ|y) of each row (k,): signed, since the kernel means surrogate is not a density; 0 outside the prior's support."""
        return self._native.value(self._places(theta))

    def pdf(self, theta: Any) -> Array:
        """The positive part of q(θ|y), normalised: a density (k,); 0 outside the prior's support."""
        return self._native.pdf(self._places(theta))

    def log_prob(self, theta: Any, x: Any = None) -> Array:
        """ln of `pdf`; -inf outside the prior's support and where the surrogate is not positive. With `x` at that observation."""
        return like(self._at(x)._native.log_prob(self._places(theta)), theta, x, self._like)

    def potential(self, theta: Any, x: Any = None) -> Array:
        """ln q(y|θ)p(θ) of each row (k,): `log_prob` before it is normalised; -inf where that is."""
        native = self._at(x)._native
        with np.errstate(divide="ignore"):
            found = np.log(np.maximum(native.value(self._places(theta)), 0.0)) + native.log_evidence()
        return like(found, theta, x, self._like)

    def map(self, x: Any = None, *, show_progress_bars: Optional[bool] = None) -> Array:
        """The parameters (D,) with the largest q(θ|y). With `x` at that observation. sbi's `show_progress_bars` is accepted; it is quick."""
        return like(self._at(x)._native.map(), x, self._like)

    def marginal(self, parameter: Union[str, int], grid: Any) -> Array:
        """Density of one parameter, by name or position, at each value of the grid."""
        return self._native.marginal(self._index(parameter), arrays.vector("grid", grid))

    def cdf(self, parameter: Union[str, int], values: Any) -> Array:
        """Share of one parameter's marginal below each value: rises from 0 to 1; infinite values are allowed."""
        return self._native.cdf(self._index(parameter), arrays.positions("values", values))

    def embedding(self, theta: Any) -> Array:
        """∫ ℓ(θ', θ) q(θ'|y) dθ' of each row: the kernel mean embedding that super-samples are herded to."""
        return self._native.embedding(self._points(theta))
