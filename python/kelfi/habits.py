"""The field's habits: inference in the steps and under the names that sbi's users know."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _arrays as arrays
from ._arrays import Array
from ._data_sets import DataSets, Outputs, joined, tolerances_of
from ._frames import names_of
from ._repeats import whole_repeats
from ._tensors import is_tensor, like
from .errors import InputError
from .fitting import fit
from .options import DEFAULTS, FitOptions, settings_of, with_options
from .posterior import Posterior
from .posterior.samples import batch
from .prior import Prior, require_prior

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Fits at so many observations are kept.
KEPT = 16


class KELFI:
    """Inference the way sbi's users write it.

    prior: kelfi's own, sbi's BoxUniform, or frozen SciPy or torch distributions in a list.

    >>> problem = kelfi.problems.get("exponential_gamma")
    >>> inference = kelfi.KELFI(problem.prior)
    >>> theta, x = problem.simulate(100, seed=1)
    >>> posterior = inference.append_simulations(theta, x).train(ard=False).build_posterior()
    >>> posterior.sample((3,), x=problem.x_o, seed=1).shape
    (3, 1)
    """

    def __init__(self, prior: Any, *, show_progress_bars: Optional[bool] = None) -> None:
        self._prior = require_prior(prior)
        self._progress = show_progress_bars
        self._rounds: list[tuple[Array, Outputs]] = []
        self._posterior: Union[Posterior, UnobservedPosterior, None] = None
        self._statistics: Optional[list[str]] = None

    def append_simulations(self, theta: Any, x: Any, proposal: Any = None) -> KELFI:
        """Adds simulations; a row of x with NaN is a failed one. May be called again.

        What is learned is a likelihood, so theta may come from anywhere the prior allows: sbi's `proposal` is accepted and not needed.
        """
        known = self._statistics if names_of(x) is not None and self._statistics is not None else None
        theta, x, names = arrays.simulations(theta, x, self._prior.names, known)
        if self._rounds and self._rounds[0][1].shape[1:] != x.shape[1:]:
            raise InputError(f"x has shape {x.shape} but earlier simulations have shape {self._rounds[0][1].shape}: the number of statistics must be the same")
        self._rounds.append((theta, x))
        self._statistics = names if self._statistics is None else self._statistics
        return self

    def get_simulations(self) -> tuple[Array, Outputs]:
        """All simulations so far: theta (m, D) and x (m, n)."""
        if not self._rounds:
            raise InputError("there are no simulations yet; call append_simulations first")
        theta, x = zip(*self._rounds)
        return np.concatenate(theta), joined(x)

    @with_options(DEFAULTS)
    def train(self, x_o: Any = None, *, repeats: Optional[int] = None, **options: Unpack[FitOptions]) -> KELFI:
        """Chooses the model and learns its hyperparameters for this observation; repeats and options as for `kelfi.fit`.

        Without an observation this waits: the posterior then learns for each observation it is asked about, as `kelfi.fit` does, which takes
        its time for each. With one, other observations are asked with what was learned for it, see `Posterior.condition`.
        """
        theta, x = self.get_simulations()
        settings_of(tolerances_of(x), self._prior.dimension, options)  # what is wrong with them is said now
        whole_repeats(repeats, x.shape[-1], isinstance(x, DataSets))

        def at(observed: Any) -> Posterior:
            found = fit(theta, x, observed, self._prior, statistics=self._statistics, repeats=repeats, progress=self._progress, **options)
            found._like = observed if is_tensor(observed) else None
            return found

        self._posterior = UnobservedPosterior(self._prior, lambda value: arrays.observed(value, x, self._statistics), at) if x_o is None else at(x_o)
        return self

    def build_posterior(self, x_o: Any = None) -> Any:
        """The posterior at the observation of `train`, or at another one with the same model and hyperparameters; after a `train` without an
        observation one that is told it later (`UnobservedPosterior`). What `train` gave may be handed over, as in sbi."""
        trained = x_o if isinstance(x_o, KELFI) else self
        if trained._posterior is None:
            raise InputError("nothing has been learned yet; call train() first")
        if x_o is None or isinstance(x_o, KELFI):
            return trained._posterior
        if isinstance(trained._posterior, UnobservedPosterior):
            return trained._posterior.at(x_o)
        return trained._posterior.condition(x_o)


class UnobservedPosterior:
    """A posterior that has not been told its observation: give it as `x=`, or once by `set_default_x`.

    Every observation is learned for as `kelfi.fit` does; the last ones are kept. With a default observation it has everything that a
    `Posterior` has.
    """

    def __init__(self, prior: Prior, read: Callable[[Any], Array], fitted: Callable[[Any], Posterior]) -> None:
        self._prior, self._read, self._fitted = prior, read, fitted
        self._kept: OrderedDict[bytes, Posterior] = OrderedDict()
        self._x: Any = None

    @property
    def prior(self) -> Prior:
        """The prior."""
        return self._prior

    @property
    def default_x(self) -> Any:
        """The observation taken where none is given, or None."""
        return self._x

    def set_default_x(self, x: Any) -> UnobservedPosterior:
        """Takes x where no observation is given. Returns itself."""
        self._read(x)
        self._x = x
        return self

    def at(self, x: Any = None) -> Posterior:
        """The posterior at this observation, or at the default one."""
        given = self._x if x is None else x
        if given is None:
            raise InputError("this posterior has no observation yet; give x=..., or call set_default_x(x) once")
        key = self._read(given).tobytes()
        if key not in self._kept:
            self._kept[key] = self._fitted(given)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def sample(self, num_samples: Union[int, tuple[int, ...]] = 1000, seed: Optional[int] = None, *, x: Any = None, **options: Any) -> Array:
        """Samples of the posterior at x; options as for `Posterior.sample`."""
        return like(self.at(x).sample(num_samples, seed, **options), x, self._x)

    def sample_batched(
        self, num_samples: Union[int, tuple[int, ...]], x: Any, seed: Optional[int] = None, *, show_progress_bars: Optional[bool] = None
    ) -> Array:
        """Samples (num_samples, k, D) of the posteriors at k observations x (k, n), each learned for. All begin from the same seed."""
        rows = [self._read(row) for row in x]
        return like(batch(self._fitted, num_samples, rows, arrays.seed_of(seed), show_progress_bars), x, self._x)

    def log_prob(self, theta: Any, x: Any = None) -> Array:
        """ln density (k,) of the posterior at x."""
        return like(self.at(x).log_prob(theta), theta, x, self._x)

    def potential(self, theta: Any, x: Any = None) -> Array:
        """ln q(x|θ)p(θ) (k,)."""
        return like(self.at(x).potential(theta), theta, x, self._x)

    def map(self, x: Any = None, *, show_progress_bars: Optional[bool] = None) -> Array:
        """The parameters (D,) with the largest density at x."""
        return like(self.at(x).map(), x, self._x)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.at(), name)

    def __repr__(self) -> str:
        if self._x is None:
            return f"<UnobservedPosterior of {', '.join(self._prior.names)}: give x=..., or call set_default_x(x)>"
        return repr(self.at())
