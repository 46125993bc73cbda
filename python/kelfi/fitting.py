"""The front door: simulations, an observation and a prior in; a posterior out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

from . import _arrays as arrays
from . import _kelfi
from ._data_sets import DataSets, tolerances_of
from ._data_sets import native as outputs
from ._progress import Progress
from ._repeats import whole_repeats
from .options import DEFAULTS, FitOptions, settings_of, with_options
from .posterior import Posterior
from .prior import Prior, require_prior

if TYPE_CHECKING:
    from typing_extensions import Unpack


@with_options(DEFAULTS)
def fit(
    theta: Any,
    x: Any,
    x_o: Any,
    prior: Prior,
    *,
    statistics: Optional[Sequence[str]] = None,
    repeats: Optional[int] = None,
    progress: Optional[bool] = None,
    **options: Unpack[FitOptions],
) -> Posterior:
    """Chooses the model, learns all hyperparameters that are not given and builds the posterior.

    theta: (m, D) parameters, all finite. x: (m, n) statistics; a row with NaN is a failed simulation. x_o: (n,) the observation.
    x of shape (m, N, d), or a list of m arrays (N, d) whose N may differ, are iid data sets, compared as distributions by the kernel
    means model; x_o then is one (N, d).
    Columns of data frames, and the entries of an x_o given by name, are matched by name to the prior's parameters and to the statistics
    (those of x, or `statistics`); their order does not matter.
    repeats: an output is so many independent repeats of the same statistics, repeat by repeat: x is (m, repeats * d), x_o (repeats * d,).
    The location-scale model multiplies their likelihoods; the others take them as different statistics.

    model: "kernel-means" (the paper's), "location-scale" (regressions of each statistic's mean and spread; often sharper from few
    simulations), "summaries" (location-scale on learned summaries of the statistics), or "auto": the first two, then the one whose
    leave-one-out posteriors give the true parameters more density; see
    `Posterior.comparison`. seed: of the search and of integrals without a closed form. progress: a line that shows how far it is, by
    default on a terminal and in notebooks.

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
    given = outputs(x, whole_repeats(repeats, x.shape[-1], isinstance(x, DataSets)))
    settings, kept = settings_of(tolerances_of(x), prior.dimension, options)
    with Progress("learning", 0, progress) as bar:
        native, learned, comparison = _kelfi.fit(theta, given, observed, prior._native, *settings, bar.reach)
    return Posterior(native if names is None else native.named(names), learned, comparison, names, kept)
