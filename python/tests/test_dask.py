"""A real Dask scheduler with worker processes, one of which is killed in the middle."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import simulators
from numpy.testing import assert_array_equal

import kelfi

distributed = pytest.importorskip("distributed")


def test_a_killed_dask_worker_changes_nothing(prior):
    expected = kelfi.simulate(simulators.noisy, prior, 400, seed=5)
    import dask

    with dask.config.set({"distributed.worker.daemon": True}), distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        folder = os.path.dirname(simulators.__file__)
        client.run(lambda: __import__("sys").path.insert(0, folder))
        client.register_plugin(_Path(folder))
        victim = next(iter(client.run(os.getpid).values()))
        killed = []

        def kill():
            time.sleep(0.8)
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

        thread = threading.Thread(target=kill)
        thread.start()
        found = kelfi.simulate(simulators.slow, prior, 400, seed=5, executor=client.get_executor())
        assert killed, "the simulations were over before the worker was killed"
        thread.join()
    assert_array_equal(found.theta, expected.theta)
    assert_array_equal(found.x, expected.x)
    assert found.failures == {} and found.calls == 400


def test_a_simulation_that_kills_its_dask_worker_fails_and_the_run_goes_on(prior):
    seeds = kelfi._kelfi.simulator_seeds(5, 0, 120)
    deadly = np.flatnonzero(seeds % 40 == 0)
    assert 1 <= len(deadly) <= 4
    import dask

    settings = {"distributed.worker.daemon": True, "distributed.scheduler.allowed-failures": 0}
    with dask.config.set(settings), distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        folder = os.path.dirname(simulators.__file__)
        client.run(lambda: __import__("sys").path.insert(0, folder))
        client.register_plugin(_Path(folder))
        found = kelfi.simulate(simulators.deadly, prior, 120, seed=5, executor=client.get_executor())
    assert sorted(found.failures) == deadly.tolist()
    assert "every worker that was given this simulation died" in found.failures[deadly[0]]
    good = ~np.isnan(found.x).any(axis=1)
    assert_array_equal(found.x[good], kelfi.simulate(simulators.noisy, prior, 120, seed=5).x[good])


class _Path(distributed.WorkerPlugin):
    """A worker that is started anew finds the simulators too."""

    def __init__(self, folder):
        self.folder = folder

    def setup(self, worker):
        import sys

        sys.path.insert(0, self.folder)
