"""Simulators that take too long are ended, wherever they run, and nothing else changes."""

import os
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
import simulators
from numpy.testing import assert_array_equal

import kelfi

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.mark.parametrize("pool", [None, ThreadPoolExecutor, ProcessPoolExecutor])
def test_a_straggler_is_a_failed_simulation(pool, prior):
    seeds = kelfi._kelfi.simulator_seeds(5, 0, 30)
    late = np.flatnonzero(seeds % 11 == 0)
    assert 1 <= len(late) <= 6
    began = time.monotonic()
    executor = None if pool is None else pool(2)
    found = kelfi.simulate(simulators.sometimes_endless, prior, 30, seed=5, timeout=1.0, executor=executor)
    if executor is not None:
        executor.shutdown()
    assert sorted(found.failures) == late.tolist() and time.monotonic() - began < 60
    assert found.failures[late[0]] == "timeout: it took longer than 1 seconds"
    kept = np.setdiff1d(np.arange(30), late)
    assert_array_equal(found.x[kept], kelfi.simulate(simulators.noisy, prior, 30, seed=5).x[kept])


def test_a_crash_within_a_limit_is_a_failed_simulation_and_exceptions_keep_their_message(prior):
    found = kelfi.simulate(simulators.deadly, prior, 120, seed=5, timeout=30)
    seeds = kelfi._kelfi.simulator_seeds(5, 0, 120)
    assert sorted(found.failures) == np.flatnonzero(seeds % 40 == 0).tolist()
    assert all("signal 9" in said for said in found.failures.values())
    found = kelfi.simulate(simulators.capricious, prior, 60, seed=5, timeout=30)
    assert found.failures == kelfi.simulate(simulators.capricious, prior, 60, seed=5).failures


@pytest.mark.parametrize("wrong", [{"timeout": 0}, {"timeout": "soon"}, {"timeout": float("nan")}, {"timeout": 1, "batched": True}])
def test_wrong_limits_are_refused(prior, wrong):
    with pytest.raises(kelfi.InputError, match="timeout"):
        kelfi.simulate(simulators.noisy, prior, 5, **wrong)
