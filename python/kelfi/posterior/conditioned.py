"""The same simulations asked about another observation or with another prior."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import Array
from .._tensors import like
from ..errors import InputError
from ..prior import require_prior
from .held import Held

if TYPE_CHECKING:
    from typing_extensions import Self

    from . import Posterior


class Conditioned(Held):
    """Another observation, another prior."""

    def condition(self, x_o: Any) -> Self:
        """The posterior at another observation: same simulations, model and hyperparameters, nothing learned anew."""
        observed = self._observation(x_o)
        posterior = type(self)(self._native.condition(observed), statistics=self._statistics, options=self._options)
        if self._learned is not None:
            # The scores were the former observation's.
            posterior._learned = {**self._learned, "score": None, "score_standard_error": None}
            if "log_marginal_likelihood" in self._learned:
                posterior._learned["log_marginal_likelihood"] = posterior._native.log_evidence()
        return posterior

    @property
    def default_x(self) -> Array:
        """The observation, as sbi calls it."""
        return like(self.x_o, self._like)

    def set_default_x(self, x: Any) -> Self:
        """Makes this the posterior at observation x, see `condition`. Returns itself."""
        other = self.condition(x)
        self._native, self._learned, self._comparison = other._native, other._learned, None
        self._last, self._like = None, x
        return self

    def with_prior(self, prior: Any) -> Posterior:
        """The posterior with another prior from the same simulations, learned afresh with the options of `kelfi.fit`.

        Simulations that the new prior does not allow are left out, with a warning; the check `prior_draws` tells where the new prior
        reaches beyond the simulations.
        """
        from ..fitting import fit

        new = require_prior(prior)
        if new.names != self.names:
            raise InputError(f"the prior's parameters are {', '.join(new.names)} but those of the simulations {', '.join(self.names)}")
        theta, x = self.simulations
        allowed = np.isfinite(new.log_prob(theta))
        if not allowed.any():
            raise InputError(f"none of the {len(theta)} simulations lies where the prior allows it; simulate from this prior")
        if not allowed.all():
            told = f"{int((~allowed).sum())} of {len(theta)} simulations are left out: the prior does not allow their parameters"
            warnings.warn(told, UserWarning, stacklevel=2)
        options = self._options or {"model": self.model, "seed": self._native.seed}
        return fit(theta[allowed], x[allowed], self.x_o, new, statistics=self._statistics, **options)

    def _at(self, x: Any) -> Self:
        """This posterior, or the one at another observation; the last one is kept."""
        if x is None:
            return self
        observed = self._observation(x)
        key = observed.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = (key, self.condition(observed))
        return self._last[1]
