"""Whether a posterior can be trusted, and what it was built with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from .. import _arrays as arrays
from .._arrays import Array
from .._progress import Progress
from .held import Held


@dataclass(frozen=True)
class Check:
    """A number that says whether the result can be trusted, with what it means and what to do."""

    name: str
    status: str
    value: float
    limit: float
    message: str
    """What was found and what to do, in a line."""
    question: str = ""
    """What it asks."""
    found: str = ""
    """What was found."""
    advice: str = ""
    """What to do; empty where nothing is to be done."""


class Checked(Held):
    """Checks, calibration and what was learned."""

    @property
    def checks(self) -> list[Check]:
        """Numbers that say whether the result can be trusted. Read them."""
        return [Check(*check) for check in self._native.checks()]

    def calibration(self, theta: Any, x: Any, *, progress: Optional[bool] = None) -> Array:
        """Where each θ lies in the posterior at its own x (k, D), for simulations that were not used to fit.

        Uniform between 0 and 1 if the posterior is calibrated. progress: as for `kelfi.fit`.
        """
        theta, x, _ = arrays.simulations(theta, x, self.names, self._statistics)
        rows = []
        with Progress("calibration", len(theta), progress) as bar:
            for truth, observed in zip(theta, x):
                at = self._native.condition(arrays.observed(observed, x))
                rows.append([at.cdf(d, truth[d : d + 1])[0] for d in range(len(self.names))])
                bar.update()
        return np.array(rows)

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """What the model was built with, and how that was chosen, if learned (objective, score, score_standard_error, ...).

        Kernel means: model, epsilon (n,), length_scale (D,) in prior standard deviations, regularization, kernel.
        Location-scale: model, epsilon (n,) where the observation fits best, shape (length_scale, ridge and tolerance of the
        residuals' distribution; length_scale None if it is the same everywhere), at_bound, and statistics: for each that takes
        part its index, scale ("identity", "square root", "logarithm" or "asinh"), how its mean bends
        ("straight", "bumps" or "sigmoids"), whether spread_varies, and the share explained of its variance.
        """
        found = dict(self._native.hyperparameters())
        if self._learned is not None:
            found.update(self._learned)
        return found

    @property
    def relevance(self) -> Array:
        """How much each statistic decides (n,): large for one that does, 0 for one that says nothing.

        Kernel means: spread over tolerance. Location-scale: signal over noise, √(R²/(1 - R²)), R² the share explained.
        """
        return self._native.relevance()

    def profile(self, epsilons: Any, length_scales: Any) -> Array:
        """ln q(y) for common length scales (rows) and tolerances (columns, in units of each statistic's spread).

        Of the kernel means model only.
        """
        return self._native.profile(arrays.vector("epsilons", epsilons), arrays.vector("length_scales", length_scales))
