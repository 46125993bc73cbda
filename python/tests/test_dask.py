"""A real Dask scheduler with worker processes, one of which is killed in the middle."""

import os
import signal
import threading
import time

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


class _Path(distributed.WorkerPlugin):
    """A worker that is started anew finds the simulators too."""

    def __init__(self, folder):
        self.folder = folder

    def setup(self, worker):
        import sys

        sys.path.insert(0, self.folder)
