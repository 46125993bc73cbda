"""Numbers that summarise a posterior: moments, quantiles, modes, evidence."""

from __future__ import annotations

from typing import Any, NamedTuple, Union

import numpy as np

from .. import _arrays as arrays
from .. import _kelfi
from .._arrays import Array
from ..errors import InputError
from .held import Held

class Mode(NamedTuple):
    """One of several separate parts of a posterior. Made by `Posterior.modes`."""

    weight: float
    """Its share of the posterior."""
    mean: dict[str, float]
    """The mean of each parameter within it."""


class Numbers(Held):
    """What the parameters are, in a few numbers."""

    def mean(self) -> Array:
        """Means (D,) of the clipped, normalised density, as `pdf`, quantiles and samples are."""
        return self._native.mean()

    def mean_error(self) -> float:
        """Monte Carlo standard error of `mean` in posterior standard deviations; 0.0 where it is exact."""
        return self._native.mean_error()

    def covariance(self) -> Array:
        """Covariance (D, D) of the clipped, normalised density."""
        return self._native.covariance()

    def signed_mean(self) -> Array:
        """Means (D,) with the negative parts of q(θ|y) included, as the paper has them: exact sums, which may lie outside the prior."""
        return self._native.signed_mean()

    def signed_covariance(self) -> Array:
        """Covariance (D, D) with the negative parts of q(θ|y) included: exact sums, in which a variance may be negative."""
        return self._native.signed_covariance()

    def modes(self) -> list[Mode]:
        """The separate modes, the heaviest first: one for a posterior in one piece. With several, the mean lies between them."""
        return [Mode(weight, dict(zip(self.names, map(float, centre)))) for weight, centre in self._native.modes()]

    def std(self) -> Array:
        """Standard deviations (D,)."""
        return self._native.std()

    def quantile(self, probabilities: Any) -> Array:
        """Quantiles of each parameter: (k, D) for k probabilities, (D,) for a single one."""
        found = self._native.quantile(arrays.vector("probabilities", probabilities))
        return found[0] if np.ndim(probabilities) == 0 else found

    def interval(self, share: float = 0.95, calibrated: bool = False) -> Array:
        """Central intervals (D, 2): low and high of each parameter, with this share of its marginal between them.

        Calibrated ones are wider where leaving out the simulations near the observation in turn finds them too narrow or shifted: they
        end where they hold the truth for this share of these simulations.
        """
        inside = arrays.number("share", share)
        if not 0.0 < inside < 1.0:
            raise InputError(f"share = {inside} is not allowed: it must lie between 0 and 1")
        if calibrated:
            return self._native.calibrated_interval(inside)
        ends = self._native.quantile(np.array([0.5 * (1.0 - inside), 0.5 * (1.0 + inside)]))
        return np.ascontiguousarray(ends.T)

    def predictive(self, f: Any) -> Union[float, Array]:
        """Posterior mean of an output recorded with every simulation, f (m,), without new runs; of several at once for f (m, k)."""
        recorded = arrays.numbers("f", f)
        m = len(self._native.theta)
        if recorded.ndim not in (1, 2) or recorded.shape[0] != m:
            raise InputError(f"f has shape {recorded.shape} but there are {m} simulations: shape ({m},) or ({m}, k) is needed")
        arrays.finite("f", recorded.reshape(m, -1))
        if recorded.ndim == 1:
            return self._native.predictive(recorded)
        return np.array([self._native.predictive(np.ascontiguousarray(column)) for column in recorded.T])

    @property
    def log_evidence(self) -> float:
        """ln q(y): how well prior and simulator explain the observation.

        With the kernel means model it is the evidence at the tolerance: of an observation blurred by Gaussian noise of that size.
        """
        return self._native.log_evidence()

    @property
    def log_evidence_error(self) -> float:
        """Standard error of `log_evidence` from having these simulations and no others. It does not know of the tolerance."""
        return self._native.log_evidence_error()

    @property
    def negative_mass(self) -> float:
        """How much of the surrogate posterior is negative (location-scale: was cut off at zero), as a share of its positive mass."""
        return self._native.negative_mass()

    def summary(self) -> dict[str, dict[str, Any]]:
        """Mean, sd, mode and quantiles of each parameter, and `calibrated_95`, the ends of its calibrated interval, where it could be
        calibrated: the numbers of summary.json, under the same names."""
        keys = ("mean", "sd", "mode", "q025", "q50", "q975")
        found: dict[str, dict[str, Any]] = {}
        for name, numbers, calibrated in _kelfi.summary(self._native):
            found[name] = dict(zip(keys, numbers))
            if calibrated is not None:
                found[name]["calibrated_95"] = calibrated
        return found
