"""Benchmark problems with known answers.

>>> "blowfly" in kelfi.problems.names()
True
>>> problem = kelfi.problems.get("exponential_gamma")
>>> theta, x = problem.simulate(50, seed=1)
>>> theta.shape, x.shape, problem.x_o.shape
((50, 1), (50, 1), (1,))
"""

from __future__ import annotations

from typing import Any, Optional

from . import _arrays as arrays
from . import _kelfi
from ._arrays import Array
from ._table import Simulations
from .prior import Prior


def names() -> list[str]:
    """Names of all problems."""
    return _kelfi.problem_names()


def get(name: str) -> Problem:
    """The problem with this name."""
    return Problem(name)


class Problem:
    """A simulator with a prior and an observation, and the truth where it is known. Calling it calls the simulator."""

    def __init__(self, name: str) -> None:
        self._native = _kelfi.Problem(str(name))

    @property
    def name(self) -> str:
        """Its name."""
        return self._native.name

    @property
    def description(self) -> str:
        """One line on what is simulated and what is asked."""
        return self._native.description

    @property
    def prior(self) -> Prior:
        """The prior."""
        return Prior._wrap(self._native.prior)

    @property
    def statistic_names(self) -> list[str]:
        """Names of the statistics."""
        return self._native.statistic_names

    @property
    def x_o(self) -> Array:
        """The observation (n,)."""
        return self._native.observation

    @property
    def truth(self) -> Optional[Array]:
        """The parameters (D,) that made the observation, where there are any."""
        return self._native.truth

    def __call__(self, theta: Any, seed: int) -> Array:
        """One call of the simulator: θ (D,) to statistics (n,). A failed run raises."""
        return self._native.call(arrays.vector("theta", theta), arrays.seed_of(seed))

    def simulate(self, num_simulations: int, seed: Optional[int] = None) -> Simulations:
        """Draws of the prior with a call of the simulator at each, on all cores: theta (m, D), x (m, n)."""
        m, run = arrays.count("num_simulations", num_simulations, least=1), arrays.seed_of(seed)
        theta, x, failures = self._native.simulate(m, run)
        return Simulations(theta, x, dict(failures), m, 0, run)

    def reference_samples(self, num_samples: int, x_o: Any = None, seed: Optional[int] = None) -> Array:
        """Draws of the exact posterior (num_samples, D), where there is a sampler."""
        observed = self.x_o if x_o is None else arrays.observation(x_o, len(self.x_o))
        return self._native.reference_samples(observed, arrays.count("num_samples", num_samples), arrays.seed_of(seed))

    def log_posterior(self, theta: Any, x_o: Any = None) -> Optional[Array]:
        """ln of the exact posterior of each row up to a constant, or None where it cannot be computed."""
        observed = self.x_o if x_o is None else arrays.observation(x_o, len(self.x_o))
        return self._native.log_posterior(arrays.points("theta", theta, self.prior.names), observed)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Problem, (self.name,)

    def __repr__(self) -> str:
        return f"<Problem {self.name}: {self.description}>"
