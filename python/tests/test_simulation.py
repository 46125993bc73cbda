"""Simulators as callables: the same result whatever executor, workers and order; failures kept; deaths survived."""

import multiprocessing
import pickle
import random
import threading
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
import simulators
from numpy.testing import assert_array_equal

import kelfi

M = 60
# Forking a process that has threads can hang it; spawning cannot.
SPAWN = multiprocessing.get_context("spawn")


def same(found, expected):
    assert_array_equal(found.theta, expected.theta)
    assert_array_equal(found.x, expected.x)
    assert found.failures == expected.failures


class Shuffled:
    """An executor that takes its tasks in a random order, once they are all there."""

    def __init__(self, expected):
        self.expected, self.tasks = expected, []

    def submit(self, function, *arguments):
        future = Future()
        self.tasks.append((future, function, arguments))
        if len(self.tasks) == self.expected:
            random.Random(1).shuffle(self.tasks)
            threading.Thread(target=self.work).start()
        return future

    def work(self):
        for future, function, arguments in self.tasks:
            future.set_result(function(*arguments))


@pytest.fixture(scope="module")
def serial(prior):
    return kelfi.simulate(simulators.capricious, prior, M, seed=5)


def test_parameters_and_seeds_are_pure_functions_of_run_seed_and_index(prior):
    seen = {}

    def simulator(theta, seed):
        seen[seed] = theta
        return [1.0]

    found = kelfi.simulate(simulator, prior, 20, seed=5)
    assert_array_equal(np.array(list(seen.values())), prior.sample(20, seed=5))
    assert list(seen) == kelfi._kelfi.simulator_seeds(5, 0, 20).tolist()
    assert found.calls == 20 and found.lost == 0 and found.seed == 5
    assert kelfi.simulate(lambda theta: theta, prior, 3).seed != kelfi.simulate(lambda theta: theta, prior, 3).seed


def test_failures_are_rows_of_nan_with_their_messages(serial):
    assert np.isnan(serial.x).any(axis=1).sum() == len(serial.failures) > 5
    assert_array_equal(np.isnan(serial.x).all(axis=1), np.isnan(serial.x).any(axis=1))
    messages = " ".join(serial.failures.values())
    for words in ("ArithmeticError: too cold", "statistic 0 is nan", "3 numbers where 2", "dtype"):
        assert words in messages
    assert serial.calls == M
    assert pickle.loads(pickle.dumps(serial)).failures == serial.failures
    theta, x = serial
    assert theta is serial.theta and x is serial.x


@pytest.mark.parametrize("workers", [1, 4])
def test_threads_give_what_a_loop_gives(prior, serial, workers):
    with ThreadPoolExecutor(workers) as executor:
        same(kelfi.simulate(simulators.capricious, prior, M, seed=5, executor=executor), serial)


def test_processes_give_what_a_loop_gives(prior, serial):
    with ProcessPoolExecutor(2, mp_context=SPAWN) as executor:
        same(kelfi.simulate(simulators.capricious, prior, M, seed=5, executor=executor), serial)


def test_completion_in_any_order_changes_nothing(prior, serial):
    same(kelfi.simulate(simulators.capricious, prior, M, seed=5, executor=Shuffled(M)), serial)


def test_batches_give_what_single_calls_give_and_one_bad_row_spoils_no_other(prior):
    expected = kelfi.simulate(simulators.noisy, prior, M, seed=5)
    for size in (1, 7, 100):
        same(kelfi.simulate(simulators.batch, prior, M, seed=5, batched=True, batch_size=size), expected)

    def touchy(theta, seed):
        if (seed % 9 == 0).any():
            raise ValueError("no")
        return simulators.batch(theta, seed)

    found = kelfi.simulate(touchy, prior, M, seed=5, batched=True, batch_size=20)
    good = ~np.isnan(found.x).any(axis=1)
    assert 0 < len(found.failures) < 20
    assert_array_equal(found.x[good], expected.x[good])


def test_a_worker_that_dies_loses_nothing(prior, tmp_path, monkeypatch):
    monkeypatch.setenv("KELFI_TEST_MARK", str(tmp_path))
    with ProcessPoolExecutor(2, mp_context=SPAWN) as executor:
        found = kelfi.simulate(simulators.dies_once, prior, M, seed=5, executor=executor)
    assert (tmp_path / "died").exists() and found.lost >= 1
    same(found, kelfi.simulate(simulators.noisy, prior, M, seed=5))
    assert found.calls == M


def test_a_simulation_that_kills_its_worker_every_time_is_a_failed_simulation(prior):
    seeds = kelfi._kelfi.simulator_seeds(5, 0, M)
    expected = np.flatnonzero(seeds % np.uint64(40) == 0)
    assert 1 <= len(expected) <= 3
    with ProcessPoolExecutor(2, mp_context=SPAWN) as executor:
        found = kelfi.simulate(simulators.deadly, prior, M, seed=5, executor=executor)
    assert sorted(found.failures) == expected.tolist()
    assert "the worker died 3 times" in found.failures[expected[0]]
    good = ~np.isnan(found.x).any(axis=1)
    assert_array_equal(found.x[good], kelfi.simulate(simulators.noisy, prior, M, seed=5).x[good])


def test_what_cannot_run_says_so(prior):
    with pytest.raises(kelfi.SimulationError, match="all 5 simulations failed; the first says: exit-code: KeyError: 'x'"):
        kelfi.simulate(lambda theta: {}["x"], prior, 5)
    with ProcessPoolExecutor(1, mp_context=SPAWN) as executor:
        with pytest.raises(kelfi.SimulationError, match="top level of a module"):
            kelfi.simulate(lambda theta: theta, prior, 5, executor=executor)
        executor.shutdown()
        with pytest.raises(kelfi.SimulationError, match="shut"):
            kelfi.simulate(simulators.noisy, prior, 5, executor=executor)
    for wrong in ({"simulator": 3}, {"executor": 3}, {"num_simulations": 0}, {"num_simulations": 2.5}, {"batch_size": 0, "batched": True}):
        with pytest.raises(kelfi.InputError):
            kelfi.simulate(**{"simulator": simulators.noisy, "prior": prior, "num_simulations": 3, **wrong})


def test_infer_is_simulate_and_fit(prior):
    posterior = kelfi.infer(simulators.noisy, prior, [3.0, 3.0], num_simulations=80, rounds=1, seed=5, ard=False)
    theta, x = kelfi.simulate(simulators.noisy, prior, 80, seed=5)
    assert_array_equal(posterior.mean(), kelfi.fit(theta, x, [3.0, 3.0], prior, seed=5, ard=False).mean())


def test_the_observation_says_how_many_statistics_there_are(prior):
    def first_is_wrong(theta, seed):
        return [1.0] if seed == first else simulators.noisy(theta, seed)

    first = int(kelfi._kelfi.simulator_seeds(5, 0, 1)[0])
    posterior = kelfi.infer(first_is_wrong, prior, [3.0, 3.0], num_simulations=30, seed=5, epsilon=0.5, length_scale=0.5, regularization=1e-2)
    assert np.isnan(posterior.simulations[1]).any(axis=1).sum() == 1
    assert len(kelfi.simulate(first_is_wrong, prior, 30, seed=5).failures) == 29


def test_a_store_resumes_and_is_the_command_lines(prior, serial, tmp_path):
    path = tmp_path / "run.sqlite"
    calls = []

    def interrupted(theta, seed):
        if len(calls) == 25:
            raise KeyboardInterrupt
        calls.append(seed)
        return simulators.capricious(theta, seed)

    with pytest.raises(KeyboardInterrupt):
        kelfi.simulate(interrupted, prior, M, seed=5, store=path)
    (part, parameters, statistics) = kelfi.read_store(path)
    assert len(part.theta) == 25 and parameters == ["rate", "delay"] and statistics == ["x_1", "x_2"] and part.seed == 5
    with pytest.raises(kelfi.StoreError, match="25 of 25 simulations in .* were made by another version of capricious"):
        kelfi.simulate(simulators.capricious, prior, M, seed=5, store=path)
    with pytest.warns(UserWarning, match="another version"):
        whole = kelfi.simulate(simulators.capricious, prior, M, seed=5, store=path, accept_changed_simulator=True)
    assert whole.calls == M - 25
    same(whole, serial)
    # Again, with the seed of the store and more simulations: only the new ones are called for.
    more = kelfi.simulate(simulators.capricious, prior, M + 5, store=path)
    assert more.calls == 5 and more.seed == 5
    assert_array_equal(more.x[:M], serial.x)
    import sqlite3

    rows = sqlite3.connect(path).execute("SELECT count(*), sum(status = 'ok') FROM simulation").fetchone()
    assert rows == (M + 5, (~np.isnan(more.x).any(axis=1)).sum())


def test_failures_in_a_store_are_made_again_when_asked(prior, serial, tmp_path):
    path = tmp_path / "run.sqlite"
    broken = [True]

    def simulator(theta, seed):
        if broken[0] and seed % 3 == 0:
            raise ValueError("not yet")
        return simulators.noisy(theta, seed)

    first = kelfi.simulate(simulator, prior, 20, seed=5, store=path)
    assert 0 < len(first.failures) < 20
    broken[0] = False
    assert len(kelfi.simulate(simulator, prior, 20, seed=5, store=path).failures) == len(first.failures)
    again = kelfi.simulate(simulator, prior, 20, seed=5, store=path, retry_failed=True)
    assert again.calls == len(first.failures) and not again.failures
    same(again, kelfi.simulate(simulators.noisy, prior, 20, seed=5))
    assert not kelfi.read_store(path)[0].failures


def test_a_changed_simulator_is_told_before_it_is_mixed_with_another(prior, tmp_path):
    path = tmp_path / "run.sqlite"

    def define(factor):
        space = {}
        exec(f"def simulator(theta):\n    return {factor} * theta\n", space)
        return space["simulator"]

    kelfi.simulate(define(1.0), prior, 5, seed=5, store=path)
    assert kelfi.simulate(define(1.0), prior, 6, seed=5, store=path).calls == 1
    with pytest.raises(kelfi.StoreError, match="6 of 6 simulations .* another version of simulator\n.*accept_changed_simulator"):
        kelfi.simulate(define(2.0), prior, 7, seed=5, store=path)
    with pytest.warns(UserWarning, match="6 of 6 simulations"):
        assert kelfi.simulate(define(2.0), prior, 6, seed=5, store=path).calls == 0
    with pytest.warns(UserWarning, match="6 of 6 simulations"):
        assert kelfi.simulate(define(2.0), prior, 7, seed=5, store=path, accept_changed_simulator=True).calls == 1
    # Accepted once, it is no reason to stop again.
    assert kelfi.simulate(define(2.0), prior, 8, seed=5, store=path).calls == 1


def test_a_store_whose_making_was_cut_short_is_made_anew(prior, tmp_path):
    path = tmp_path / "run.sqlite"
    path.write_bytes(b"")
    assert kelfi.simulate(simulators.noisy, prior, 5, seed=5, store=path).calls == 5
    assert kelfi.simulate(simulators.noisy, prior, 5, seed=5, store=path).calls == 0


def test_a_store_of_another_problem_is_refused(prior, tmp_path):
    path = tmp_path / "run.sqlite"
    kelfi.simulate(simulators.noisy, prior, 5, seed=5, store=path)
    other = kelfi.Prior(rate=kelfi.LogUniform(0.02, 10.0), delay=kelfi.Normal(2.0, 0.5))
    for changed in ({"seed": 6}, {"prior": other}, {"prior": kelfi.Prior([kelfi.Normal(0, 1)])}, {"statistics": ["a", "b"]}):
        with pytest.raises(kelfi.StoreError, match="\n"):
            kelfi.simulate(**{"simulator": simulators.noisy, "prior": prior, "num_simulations": 5, "seed": 5, "store": path, **changed})
    (tmp_path / "text").write_text("not a database, but long enough to look like a file of some kind")
    with pytest.raises(kelfi.StoreError):
        kelfi.simulate(simulators.noisy, prior, 5, store=tmp_path / "text")
    with pytest.raises(kelfi.StoreError):
        kelfi.read_store(tmp_path / "missing")
    assert kelfi.simulate(simulators.noisy, prior, 5, seed=5, store=path).calls == 0


def test_a_seed_of_64_bits_suits_default_rng_and_the_legacy_generator_is_told_what_to_do():
    prior = kelfi.Prior(rate=kelfi.Uniform(0.0, 1.0))

    def modern(theta, seed):
        assert seed > 0
        return [theta[0] + np.random.default_rng(seed).normal()]

    def legacy(theta, seed):
        np.random.seed(seed)
        return [theta[0] + np.random.normal()]

    assert kelfi.simulate(modern, prior, 5, seed=1).failures == {}
    with pytest.raises(kelfi.SimulationError, match=r"all 5 simulations failed.*seed % 2\*\*32"):
        kelfi.simulate(legacy, prior, 5, seed=1)
