"""Rounds in a store: killed in any of them, they go on and end with the same bits."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import simulators
from numpy.testing import assert_array_equal

import kelfi

X_O = [1.0, 1.0]
SETTINGS = {"num_simulations": 90, "rounds": 3, "seed": 5, "model": "location-scale"}
PRIOR = kelfi.Prior(a=kelfi.Normal(0, 1), b=kelfi.Normal(0, 1))

SCRIPT = """
import os, signal, sys
import simulators, kelfi, kelfi._driving
made = []
def dying(theta, seed):
    made.append(seed)
    if len(made) > int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return simulators.noisy(theta, seed)
kelfi._driving.WRITE_EVERY = 0.0
prior = kelfi.Prior(a=kelfi.Normal(0, 1), b=kelfi.Normal(0, 1))
kelfi.infer(dying, prior, [1.0, 1.0], num_simulations=90, rounds=3, seed=5, model="location-scale", store=sys.argv[1], accept_changed_simulator=True)
"""


def bits(posterior):
    return np.concatenate([*posterior.simulations, posterior.sample(len(posterior.simulations[0]), seed=1)], axis=1)


@pytest.fixture(scope="module")
def undisturbed():
    return bits(kelfi.infer(simulators.noisy, PRIOR, X_O, **SETTINGS))


@pytest.mark.parametrize("calls", [10, 50, 75])
def test_killed_in_any_round_it_ends_with_the_same_bits(calls, undisturbed, tmp_path):
    path = tmp_path / "run.sqlite"
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(path), str(calls)], cwd=os.path.dirname(__file__), timeout=120)
    assert done.returncode == -signal.SIGKILL
    stored = kelfi.read_store(path)[0]
    assert 0 < len(stored.theta) <= calls
    with pytest.warns(UserWarning, match="another version"):
        found = kelfi.infer(simulators.noisy, PRIOR, X_O, store=path, accept_changed_simulator=True, **SETTINGS)
    assert_array_equal(bits(found), undisturbed)


def test_a_complete_store_gives_the_answer_without_a_call(undisturbed, tmp_path):
    path = tmp_path / "run.sqlite"
    assert_array_equal(bits(kelfi.infer(simulators.noisy, PRIOR, X_O, store=path, **SETTINGS)), undisturbed)

    def never(theta):
        raise AssertionError("called")

    assert_array_equal(bits(kelfi.infer(never, PRIOR, X_O, store=path, **SETTINGS)), undisturbed)
    with pytest.raises(kelfi.StoreError, match="its seed is 5"):
        kelfi.infer(simulators.noisy, PRIOR, X_O, store=path, **{**SETTINGS, "seed": 6})
    more = kelfi.infer(simulators.noisy, PRIOR, X_O, store=path, **{**SETTINGS, "num_simulations": 100})
    assert len(more.simulations[0]) <= 100 and len(kelfi.read_store(path)[0].theta) == 100


def test_asking_and_telling_goes_on_from_a_store(tmp_path):
    def settings(store):
        return {"num_simulations": 60, "rounds": 2, "seed": 3, "model": "location-scale", "store": store}

    def results(theta):
        return np.array([simulators.noisy(row, int.from_bytes(row.tobytes()[:8], "little")) for row in theta])

    whole = kelfi.Rounds(PRIOR, X_O, **settings(None))
    while not whole.finished:
        theta = whole.ask()
        whole.tell(theta, results(theta))
    path = tmp_path / "asked.sqlite"
    asked = 0
    for _ in range(40):
        with kelfi.Rounds(PRIOR, X_O, **settings(path)) as rounds:
            if rounds.finished:
                break
            theta = rounds.ask(7)
            rounds.tell(theta[::-1][:4], results(theta[::-1][:4]))  # the others are lost with the process, and asked for again
            asked += len(theta)
    with kelfi.Rounds(PRIOR, X_O, **settings(path)) as rounds:
        assert_array_equal(rounds.theta, whole.theta)
        assert_array_equal(rounds.x, whole.x)
        assert_array_equal(bits(rounds.posterior()), bits(whole.posterior()))
    assert asked > 60


def test_failed_simulations_are_made_again_if_wanted(tmp_path):
    path, seeds = tmp_path / "run.sqlite", kelfi._kelfi.simulator_seeds(5, 0, 90)
    broken = {int(seed) for seed in seeds[::9]}

    def simulator(theta, seed):
        if seed in broken:
            raise ArithmeticError("too cold")
        return simulators.noisy(theta, seed)

    kelfi.infer(simulator, PRIOR, X_O, store=path, **SETTINGS)
    assert len(kelfi.read_store(path)[0].failures) == 10
    broken.clear()
    kelfi.infer(simulator, PRIOR, X_O, store=path, **SETTINGS)
    assert len(kelfi.read_store(path)[0].failures) == 10
    kelfi.infer(simulator, PRIOR, X_O, store=path, retry_failed=True, **SETTINGS)
    assert kelfi.read_store(path)[0].failures == {} and len(kelfi.read_store(path)[0].theta) == 90


def test_what_simulate_made_is_the_first_round(tmp_path):
    path = tmp_path / "run.sqlite"
    kelfi.simulate(simulators.noisy, PRIOR, 70, seed=5, store=path)
    kelfi.infer(simulators.noisy, PRIOR, X_O, store=path, **SETTINGS)
    stored = kelfi.read_store(path)[0].theta
    assert_array_equal(stored[:70], PRIOR.sample(70, seed=5))
    assert len(stored) == 90 and not np.isin(stored[70:, 0], PRIOR.sample(90, seed=5)[:, 0]).any()


def test_a_killed_dask_worker_changes_no_bit_of_rounds(undisturbed):
    distributed = pytest.importorskip("distributed")
    import dask
    from test_dask import _Path

    with dask.config.set({"distributed.worker.daemon": True}), distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        folder = os.path.dirname(simulators.__file__)
        client.run(lambda: sys.path.insert(0, folder))
        client.register_plugin(_Path(folder))
        victim, killed = next(iter(client.run(os.getpid).values())), []

        import threading

        def kill():
            time.sleep(0.15)
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

        thread = threading.Thread(target=kill)
        thread.start()
        found = bits(kelfi.infer(simulators.slow, PRIOR, X_O, executor=client.get_executor(), **SETTINGS))
        thread.join()
        assert killed
    assert_array_equal(found, undisturbed)
