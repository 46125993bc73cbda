"""The front door: simulations, an observation and a prior in; a posterior out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union

from . import _arrays as arrays
from . import _kelfi
from ._data_sets import DataSets
from ._data_sets import native as outputs
from .errors import InputError
from .posterior import Posterior
from .prior import Prior, require_prior

MODELS = ("auto", "kernel-means", "location-scale")
SOLVERS = ("auto", "exact", "low-rank")


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
    statistics: Optional[Sequence[str]] = None,
) -> Posterior:
    """Chooses the model, learns all hyperparameters that are not given and builds the posterior.

    theta: (m, D) parameters, all finite. x: (m, n) statistics; a row with NaN is a failed simulation. x_o: (n,) the observation.
    x of shape (m, N, d), or a list of m arrays (N, d) whose N may differ, are iid data sets, compared as distributions by the kernel
    means model; x_o then is one (N, d).
    Columns of data frames, and the entries of an x_o given by name, are matched by name to the prior's parameters and to the statistics
    (those of x, or `statistics`); their order does not matter.

    model: "kernel-means" (the paper's), "location-scale" (regressions of each statistic's mean and spread; often sharper from few
    simulations), or "auto": both, then the one whose leave-one-out posteriors give the true parameters more density; see
    `Posterior.comparison`. seed: of the search and of integrals without a closed form.

    All other options are the kernel means model's; "auto" then uses it if a value, "mkml" or another kernel is given.
    objective: "loo" (leave-one-out posterior score) or "mkml" (the paper's evidence).
    ard: one tolerance per statistic and one length scale per parameter (True), one for all (False), or one tolerance per
    statistic and one length scale for all (None). epsilon: float or (n,), in the units of the statistics. length_scale: float or
    (D,), in prior standard deviations. regularization: float, or "tied" for the paper's 1e-3 length scales. kernel: "gaussian",
    "matern32" or "matern52". solver: "exact", "low-rank" (some simulations stand for all, with a certified error), or "auto": exact up
    to 5,000 simulations, low-rank above.

    >>> problem = kelfi.problems.get("exponential_gamma")
    >>> theta, x = problem.simulate(100, seed=1)
    >>> posterior = kelfi.fit(theta, x, problem.x_o, problem.prior, ard=False)
    >>> posterior.model == posterior.comparison["chosen"]
    True
    >>> kelfi.fit(theta, x, problem.x_o, problem.prior, model="location-scale").model
    'location-scale'
    """
    prior = require_prior(prior)
    theta, x, names = arrays.simulations(theta, x, prior.names, statistics)
    observed = arrays.observed(x_o, x, names)
    given = {"model": model, "objective": objective, "ard": ard, "epsilon": epsilon, "length_scale": length_scale}
    given.update(regularization=regularization, kernel=kernel, solver=solver, seed=seed)
    # Data sets have one tolerance, of their discrepancy.
    tolerances = 1 if isinstance(x, DataSets) else x.shape[1]
    settings, options = settings_of(tolerances, prior.dimension, **given)
    native, learned, comparison = _kelfi.fit(theta, outputs(x), observed, prior._native, *settings)
    return Posterior(native if names is None else native.named(names), learned, comparison, names, options)


Settings = tuple[str, str, Any, Any, Any, str, str, int]


def settings_of(
    statistics: int,
    parameters: int,
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
) -> tuple[Settings, dict[str, Any]]:
    """The options of `fit` as the native module takes them, and as a posterior remembers them."""
    _choice("model", model, MODELS)
    _choice("solver", solver, SOLVERS)
    if model == "location-scale":
        _refuse_options_of_kernel_means(
            objective=objective != "loo",
            ard=ard is not None,
            epsilon=epsilon is not None,
            length_scale=length_scale is not None,
            regularization=regularization is not None,
            kernel=kernel != "gaussian",
            solver=solver != "auto",
        )
    if epsilon is None:
        epsilon = "common" if ard is False else "each"
    else:
        epsilon = arrays.scales("epsilon", epsilon, statistics, "statistics")
    if length_scale is None:
        length_scale = "each" if ard else "common"
    else:
        length_scale = arrays.scales("length_scale", length_scale, parameters, "parameters")
    if regularization is None:
        regularization = "free"
    elif not isinstance(regularization, str):
        regularization = arrays.regularization_of(regularization)
    options = {
        "model": model,
        "objective": objective,
        "ard": ard,
        "epsilon": None if isinstance(epsilon, str) else epsilon,
        "length_scale": None if isinstance(length_scale, str) else length_scale,
        "regularization": None if regularization == "free" else regularization,
        "kernel": kernel,
        "solver": solver,
        "seed": seed,
    }
    settings = (model, str(objective), epsilon, length_scale, regularization, str(kernel), solver, arrays.seed_of(seed))
    return settings, options


def _choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        words = " or ".join(f'"{word}"' for word in allowed)
        meant = _kelfi.meant_by(value, list(allowed)) if isinstance(value, str) else None
        hint = "" if meant is None else f'\n  did you mean "{meant}"?'
        raise InputError(f"{name} = {value!r} is not allowed: in this version it must be {words}{hint}")


def _refuse_options_of_kernel_means(**given: bool) -> None:
    names = [name for name, is_given in given.items() if is_given]
    if names:
        raise InputError(
            f'model = "location-scale" was asked for with {", ".join(names)}, which only the kernel means model has'
            '\n  leave it out, or use model="kernel-means"'
        )
