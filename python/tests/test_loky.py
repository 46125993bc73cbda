"""loky's pools: a simulation that kills its worker fails after its retries, the others are made, and loky goes on."""

import os

import numpy as np
import pytest
import simulators
from numpy.testing import assert_array_equal

import kelfi

loky = pytest.importorskip("loky")
M = 60


@pytest.fixture(params=["reusable", "own"])
def pool(request, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(simulators.__file__))
    made = loky.get_reusable_executor(2) if request.param == "reusable" else loky.ProcessPoolExecutor(2)
    yield made
    made.shutdown(wait=True)
    loky.get_reusable_executor(2).shutdown(wait=True)


def test_a_simulation_that_kills_its_loky_worker_fails_and_the_run_goes_on(prior, pool):
    deadly = np.flatnonzero(kelfi._kelfi.simulator_seeds(5, 0, M) % 40 == 0)
    assert 1 <= len(deadly) <= 3
    with pytest.warns(RuntimeWarning, match="can no longer be used"):
        found = kelfi.simulate(simulators.deadly, prior, M, seed=5, executor=pool)
    assert sorted(found.failures) == deadly.tolist()
    assert "the worker died 3 times" in found.failures[deadly[0]]
    good = ~np.isnan(found.x).any(axis=1)
    assert_array_equal(found.x[good], kelfi.simulate(simulators.noisy, prior, M, seed=5).x[good])
