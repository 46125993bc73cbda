"""Everything in one call: simulate, learn, infer."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Optional, Union

from . import _arrays as arrays
from ._caller import CALL_DEFAULTS, Caller, CallOptions
from ._driving import drive
from ._frames import in_order
from ._kept import kept_of
from .fitting import fit
from .options import DEFAULTS, ModelOptions, divide, with_options
from .posterior import Posterior
from .prior import Prior, require_prior
from .rounds import Rounds, how_many
from .simulation import run

if TYPE_CHECKING:
    from typing_extensions import Unpack


class InferOptions(CallOptions, ModelOptions, total=False):
    """Options of `infer`: those of `simulate` and those of `fit`."""


@with_options(CALL_DEFAULTS, DEFAULTS)
def infer(
    simulator: Callable[..., Any],
    prior: Prior,
    x_o: Any,
    num_simulations: int = 1000,
    *,
    rounds: Union[int, Literal["auto"]] = "auto",
    seed: Optional[int] = None,
    store: Union[str, os.PathLike[str], None] = None,
    statistics: Optional[Sequence[str]] = None,
    repeats: Optional[int] = None,
    progress: Optional[bool] = None,
    retry_failed: bool = False,
    accept_changed_simulator: bool = False,
    **options: Unpack[InferOptions],
) -> Posterior:
    """Simulates, learns and infers in one call. Other options as for `kelfi.simulate` and `kelfi.fit`.

    rounds: "auto" or how many; see `kelfi.Rounds`. rounds=1 simulates draws of the prior alone: `kelfi.simulate`, then `kelfi.fit`.
    An x_o of several rows (N, d) is a data set; the simulator then returns such rows too.
    repeats: the simulator returns so many independent repeats of the same statistics, as numbers repeat by repeat; see `kelfi.fit`.
    With a `store` every round is kept before it is simulated, and every result: killed at any time and called again, it ends with the same
    bits. The answer depends neither on the executor nor on the order in which calls end.

    >>> def simulator(theta, seed):
    ...     return theta + 0.1 * np.random.default_rng(seed).normal(size=1)
    >>> posterior = kelfi.infer(simulator, kelfi.Prior(a=kelfi.Normal(0, 1)), [0.5], num_simulations=100, seed=1, ard=False)
    >>> bool(abs(posterior.mean()[0] - 0.5) < 0.1)
    True
    """
    names = None if statistics is None else [str(name) for name in statistics]
    x_o = in_order("x_o", x_o, names, "statistic")
    calling, model = divide(options, CALL_DEFAULTS)
    with Caller(simulator, **calling) as caller:
        if how_many(rounds) == "1":
            observed = arrays.numbers("x_o", x_o)
            in_rows = arrays.is_data_set(observed)
            columns = observed.shape[1] if in_rows else max(1, observed.size)
            more = {"retry_failed": retry_failed, "accept_changed_simulator": accept_changed_simulator, "in_rows": in_rows}
            found = run(caller, prior, num_simulations, seed, store, names, progress, columns, **more)
            return fit(found.theta, found.x, x_o, prior, seed=found.seed, statistics=names, repeats=repeats, progress=progress, **model)
        kept = None if store is None else kept_of(store, require_prior(prior), seed, names, simulator)
        if kept is None:
            seed = arrays.seed_of(seed)
        elif retry_failed:
            kept.forget_failures()
        settings = {**model, "seed": seed if kept is None else kept.seed}
        with Rounds(prior, x_o, num_simulations, rounds, statistics=names, repeats=repeats, store=kept, progress=progress, **settings) as machine:
            return drive(machine, caller, progress, bool(accept_changed_simulator))
