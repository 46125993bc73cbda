"""The front door: simulations, an observation and a prior in; a posterior out."""

from __future__ import annotations

from typing import Any, Optional, Union

from . import _arrays as arrays
from . import _kelfi
from .errors import InputError
from .posterior import Posterior
from .prior import Prior, require_prior


def fit(
    theta: Any,
    x: Any,
    x_o: Any,
    prior: Prior,
    *,
    model: str = "auto",
    objective: str = "loo",
    ard: Optional[bool] = None,
    epsilon: Any = None,
    length_scale: Any = None,
    regularization: Union[float, str, None] = None,
    kernel: str = "gaussian",
    solver: str = "auto",
    seed: int = 1,
) -> Posterior:
    """Learns all hyperparameters that are not given and builds the posterior.

    theta: (m, D) parameters, all finite. x: (m, n) statistics; a row with NaN is a failed simulation. x_o: (n,) the observation.

    model: "auto" or "kernel-means". objective: "loo" (leave-one-out posterior score) or "mkml" (the paper's evidence).
    ard: one tolerance per statistic and one length scale per parameter (True), one for all (False), or one tolerance per
    statistic and one length scale for all (None). epsilon: float or (n,), in the units of the statistics. length_scale: float or
    (D,), in prior standard deviations. regularization: float, or "tied" for the paper's 1e-3 length scales. kernel: "gaussian",
    "matern32" or "matern52". solver: "auto" or "exact".

    >>> problem = kelfi.problems.get("exponential_gamma")
    >>> theta, x = problem.simulate(100, seed=1)
    >>> posterior = kelfi.fit(theta, x, problem.x_o, problem.prior, ard=False)
    >>> posterior.hyperparameters["objective"]
    'loo'
    """
    _choice("model", model, ("auto", "kernel-means"))
    _choice("solver", solver, ("auto", "exact"))
    prior = require_prior(prior)
    theta, x = arrays.simulations(theta, x, prior.dimension)
    observed = arrays.observation(x_o, x.shape[1])
    if epsilon is None:
        epsilon = "common" if ard is False else "each"
    else:
        epsilon = arrays.scales("epsilon", epsilon, x.shape[1], "statistics")
    if length_scale is None:
        length_scale = "each" if ard else "common"
    else:
        length_scale = arrays.scales("length_scale", length_scale, prior.dimension, "parameters")
    if regularization is None:
        regularization = "free"
    elif not isinstance(regularization, str):
        regularization = arrays.regularization_of(regularization)
    native, learned = _kelfi.fit(
        theta,
        x,
        observed,
        prior._native,
        str(objective),
        epsilon,
        length_scale,
        regularization,
        str(kernel),
        arrays.seed_of(seed),
    )
    return Posterior(native, learned)


def _choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        words = " or ".join(f'"{word}"' for word in allowed)
        raise InputError(f"{name} = {value!r} is not allowed: in this version it must be {words}")
