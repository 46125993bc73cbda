# %% [markdown]
# # On a Dask cluster
# Any Dask client gives an executor. Here the cluster is this machine; on a real one, give `Client` the scheduler's address.
# Workers may come, go and die meanwhile: the result is the one of a plain loop with the same seed.
#
# MPI works alike: `with mpi4py.futures.MPIPoolExecutor() as executor:`.

# %%
import numpy as np
from numpy.typing import NDArray

import kelfi


def simulator(theta: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    return theta + 0.1 * np.random.default_rng(seed).normal(size=2)


def main() -> None:
    from dask.distributed import Client, LocalCluster

    prior = kelfi.Prior(a=kelfi.Normal(0, 1), b=kelfi.Normal(0, 1))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        theta, x = kelfi.simulate(simulator, prior, 200, executor=client.get_executor(), seed=1)
    again, same = kelfi.simulate(simulator, prior, 200, seed=1)
    assert (theta == again).all() and (x == same).all()
    print(kelfi.fit(theta, x, [0.5, -0.5], prior))


# %% [markdown]
# The guard is needed in a script, since worker processes import it.

# %%
if __name__ == "__main__":
    main()
