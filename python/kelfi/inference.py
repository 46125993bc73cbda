"""The field's habits: an inference object that collects simulations, and everything in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, Optional, Union

import numpy as np

from . import _arrays as arrays
from ._arrays import Array
from ._data_sets import Outputs, joined
from ._frames import in_order, names_of
from .errors import InputError
from .fitting import fit
from .posterior import Posterior
from .prior import Prior, require_prior
from .rounds import Rounds, drive, how_many
from .simulation import run


class KELFI:
    """Inference the way sbi's users write it.

    >>> problem = kelfi.problems.get("exponential_gamma")
    >>> inference = kelfi.KELFI(problem.prior)
    >>> theta, x = problem.simulate(100, seed=1)
    >>> posterior = inference.append_simulations(theta, x).train(problem.x_o, ard=False).build_posterior()
    >>> posterior.sample((3,), seed=1).shape
    (3, 1)
    """

    def __init__(self, prior: Prior) -> None:
        self._prior = require_prior(prior)
        self._rounds: list[tuple[Array, Outputs]] = []
        self._posterior: Optional[Posterior] = None
        self._statistics: Optional[list[str]] = None

    def append_simulations(self, theta: Any, x: Any) -> KELFI:
        """Adds simulations; a row of x with NaN is a failed one. May be called again."""
        known = self._statistics if names_of(x) is not None and self._statistics is not None else None
        theta, x, names = arrays.simulations(theta, x, self._prior.names, known)
        if self._rounds and self._rounds[0][1].shape[1:] != x.shape[1:]:
            raise InputError(f"x has shape {x.shape} but the simulations before have shape {self._rounds[0][1].shape}: statistics must agree")
        self._rounds.append((theta, x))
        self._statistics = names if self._statistics is None else self._statistics
        return self

    def get_simulations(self) -> tuple[Array, Outputs]:
        """All simulations so far: theta (m, D) and x (m, n)."""
        if not self._rounds:
            raise InputError("there are no simulations yet; call append_simulations first")
        theta, x = zip(*self._rounds)
        return np.concatenate(theta), joined(x)

    def train(self, x_o: Any, **options: Any) -> KELFI:
        """Chooses the model and learns its hyperparameters for this observation; options as for `kelfi.fit`."""
        theta, x = self.get_simulations()
        self._posterior = fit(theta, x, x_o, self._prior, statistics=self._statistics, **options)
        return self

    def build_posterior(self, x_o: Any = None) -> Posterior:
        """The posterior at the observation of `train`, or at another one with the same model and hyperparameters."""
        if self._posterior is None:
            raise InputError("nothing is learned yet; call train(x_o) first")
        return self._posterior if x_o is None else self._posterior.condition(x_o)


def infer(
    simulator: Callable[..., Any],
    prior: Prior,
    x_o: Any,
    num_simulations: int = 1000,
    *,
    rounds: Union[int, str] = "auto",
    executor: Optional[Executor] = None,
    seed: Optional[int] = None,
    batched: bool = False,
    batch_size: int = 100,
    store: Union[str, os.PathLike[str], None] = None,
    statistics: Optional[Sequence[str]] = None,
    progress: Optional[bool] = None,
    retry_failed: bool = False,
    accept_changed_simulator: bool = False,
    **options: Any,
) -> Posterior:
    """Simulates, learns and infers in one call. Other options as for `kelfi.simulate` and `kelfi.fit`.

    rounds: "auto" or how many; see `kelfi.Rounds`. rounds=1 simulates draws of the prior alone: `kelfi.simulate`, then `kelfi.fit`.
    An x_o of several rows (N, d) is a data set; the simulator then returns such rows too. With a `store` there is one round. The answer depends neither on the executor nor on the order in which calls end.

    >>> def simulator(theta, seed):
    ...     return theta + 0.1 * np.random.default_rng(seed).normal(size=1)
    >>> posterior = kelfi.infer(simulator, kelfi.Prior(a=kelfi.Normal(0, 1)), [0.5], num_simulations=100, seed=1, ard=False)
    >>> bool(abs(posterior.mean()[0] - 0.5) < 0.1)
    True
    """
    x_o = in_order("x_o", x_o, statistics, "statistic")
    observed = arrays.numbers("x_o", x_o)
    in_rows = arrays.is_data_set(observed)
    columns = observed.shape[1] if in_rows else max(1, observed.size)
    wanted = how_many(rounds)
    if store is not None and wanted not in ("auto", "1"):
        raise InputError(f"rounds = {rounds} was asked for with a store, which keeps one round\n  leave out rounds or store")
    if store is None and wanted != "1":
        seed = arrays.seed_of(seed)
        machine = Rounds(prior, x_o, num_simulations, rounds, seed=seed, statistics=statistics, **options)
        return drive(machine, simulator, executor, seed, batched, batch_size, progress)
    more = {"retry_failed": retry_failed, "accept_changed_simulator": accept_changed_simulator, "in_rows": in_rows}
    found = run(simulator, prior, num_simulations, executor, seed, batched, batch_size, store, statistics, progress, columns, **more)
    return fit(found.theta, found.x, x_o, prior, seed=found.seed, statistics=statistics, **options)
