"""Simulators as Python callables: many calls, anywhere, with the same result whatever made them and in whatever order."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _arrays as arrays
from . import _kelfi
from ._caller import CALL_DEFAULTS, Caller, CallOptions
from ._data_sets import from_native
from ._progress import Progress
from ._table import Simulations, Table
from .options import with_options
from .prior import Prior, require_prior

if TYPE_CHECKING:
    from typing_extensions import Unpack


@with_options(CALL_DEFAULTS)
def simulate(
    simulator: Callable[..., Any],
    prior: Prior,
    num_simulations: int,
    *,
    seed: Optional[int] = None,
    store: Union[str, os.PathLike[str], None] = None,
    statistics: Optional[Sequence[str]] = None,
    progress: Optional[bool] = None,
    retry_failed: bool = False,
    accept_changed_simulator: bool = False,
    **calling: Unpack[CallOptions],
) -> Simulations:
    """Draws parameters and calls the simulator at each: theta (m, D) and x (m, n), whatever the executor.

    simulator(theta) gets one parameter vector (D,) and returns (n,); with batched=True it gets (k, D) and returns (k, n). A data set
    is returned as its rows (N, d), whose number may differ; x then is a list of them. If it has a
    parameter `seed`, it is given the 64-bit seed of (run seed, index), or an array (k,) of them. θ_j and seed_j depend on the run's
    seed and j only, as on the command line (there `seed64`). numpy.random.default_rng takes the seed; numpy.random.seed needs
    `seed % 2**32`. An exception or a value that is not finite makes a failed simulation: a row of NaN, with
    its message in `failures`.

    timeout: seconds after which a simulation is ended and counts as failed; each is then made in a process of its own.
    executor: any `concurrent.futures.Executor`; num_workers: so many processes of our own; without either, calls are made here. store: an
    SQLite file, the same as the command line's; what it holds already is not simulated again, failures only with retry_failed=True. If
    the simulator's source is another one than that of the last simulations in the store, nothing is added to them unless
    accept_changed_simulator=True. statistics: their names in the store. progress: a line that shows how far it is, by default on a
    terminal and in notebooks.

    >>> def simulator(theta, seed):
    ...     noise = np.random.default_rng(seed).normal(size=2)
    ...     return theta + 0.1 * noise
    >>> prior = kelfi.Prior(a=kelfi.Normal(0, 1), b=kelfi.Normal(0, 1))
    >>> theta, x = kelfi.simulate(simulator, prior, 20, seed=1)
    >>> theta.shape, x.shape
    ((20, 2), (20, 2))
    """
    with Caller(simulator, **calling) as caller:
        more = {"retry_failed": retry_failed, "accept_changed_simulator": accept_changed_simulator}
        return run(caller, prior, num_simulations, seed, store, statistics, progress, None, **more)


def run(
    caller: Caller,
    prior: Prior,
    num_simulations: int,
    seed: Optional[int],
    store: Union[str, os.PathLike[str], None],
    statistics: Optional[Sequence[str]],
    progress: Optional[bool],
    columns: Optional[int],
    retry_failed: bool = False,
    accept_changed_simulator: bool = False,
    in_rows: Optional[bool] = None,
) -> Simulations:
    """`simulate` where the number of statistics, and whether there are rows of them, may be known."""
    m = arrays.count("num_simulations", num_simulations, least=1)
    with Table(require_prior(prior), m, seed, store, statistics, columns, in_rows, caller.simulator) as table:
        table.prepare(bool(retry_failed), bool(accept_changed_simulator))
        missing = table.missing()
        with Progress("simulations", m, progress, m - len(missing)) as bar:
            for task, outcomes in caller.calls(missing, table.theta, _kelfi.simulator_seeds(table.seed, 0, m)):
                table.add(task.indices, outcomes)
                bar.update(len(task.indices))
    return table.simulations(caller.lost)


def read_store(path: Union[str, os.PathLike[str]]) -> tuple[Simulations, list[str], list[str]]:
    """The simulations in a store, by whomever made, with the names of parameters and statistics. Reading changes nothing."""
    found = _kelfi.Store.read(Path(path))
    _, parameters, statistics, seed = found.problem()
    indices, theta, x, failures = found.table()
    found.close()
    x = from_native(x)
    rows = {int(index): row for row, index in enumerate(indices)}
    return Simulations(theta, x, {rows[i]: message for i, _, message in failures}, 0, 0, seed), parameters, statistics
