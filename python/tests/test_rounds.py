"""Rounds: asked and told by hand, and driven by `kelfi.infer`."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
import simulators
from numpy.testing import assert_array_equal

import kelfi

X_O = np.array([2.5, -2.0])
NOISE = 0.05


@pytest.fixture
def prior():
    return kelfi.Prior(a=kelfi.Normal(0, 1), b=kelfi.Normal(0, 1))


def results(theta):
    """x = theta + noise that is a function of theta, whatever the order of the rows."""
    seeds = [int.from_bytes(row.tobytes()[:8], "little") for row in theta]
    return np.array([row + NOISE * np.random.default_rng(seed).normal(size=2) for row, seed in zip(theta, seeds)]).reshape(-1, 2)


def driven(prior, rounds, order=None, portion=None, budget=160):
    machine = kelfi.Rounds(prior, X_O, budget, rounds, model="location-scale", seed=3)
    while not machine.finished:
        theta = np.concatenate([machine.ask(7), machine.ask()])
        assert machine.ask().shape == (0, 2) and not machine.finished
        theta = theta if order is None else theta[order.permutation(len(theta))]
        for part in np.array_split(theta, portion or 1):
            machine.tell(part, results(part))
    return machine


def exact():
    precision = 1 + NOISE**-2
    return X_O * NOISE**-2 / precision, precision**-0.5


def divergence(posterior):
    """Kullback-Leibler divergence of the exact posterior from a Gaussian with this one's moments."""
    mean, deviation = exact()
    theirs = posterior.std()
    terms = np.log(theirs / deviation) + (deviation**2 + (posterior.mean() - mean) ** 2) / (2 * theirs**2) - 0.5
    return float(terms.sum())


def test_rounds_beat_one_round_of_as_many_simulations(prior):
    several, one = driven(prior, 3), driven(prior, 1)
    assert len(several.theta) == len(one.theta) == 160
    assert divergence(several.posterior()) < 0.5 * divergence(one.posterior())
    assert divergence(several.posterior()) < 0.2


def test_the_order_and_the_parts_of_what_is_told_change_no_bit(prior):
    plain, shuffled = driven(prior, 3), driven(prior, 3, np.random.default_rng(1), 5)
    assert_array_equal(plain.theta, shuffled.theta)
    assert_array_equal(plain.x, shuffled.x)
    assert_array_equal(plain.posterior().sample(20, seed=1), shuffled.posterior().sample(20, seed=1))


def test_the_history_tells_every_round(prior):
    machine = driven(prior, 3)
    assert machine.posterior().mean().shape == (2,)
    assert [round["round"] for round in machine.history] == [0, 1, 2]
    assert sum(round["simulations"] for round in machine.history) == 160
    first, *_, last = machine.history
    assert first["movement"] is None and first["wide"] == first["simulations"] and last["movement"]["shift"] >= 0
    (low, high), _ = last["intervals"]
    assert low < exact()[0][0] < high and last["used"] <= 160


def test_one_round_is_fit_of_the_same_simulations(prior):
    machine = driven(prior, 1, budget=60)
    assert_array_equal(machine.theta, prior.sample(60, seed=3))
    same = kelfi.fit(machine.theta, machine.x, X_O, prior, model="location-scale", seed=3)
    assert_array_equal(machine.posterior().sample(20, seed=1), same.sample(20, seed=1))


def test_a_part_of_a_round_gives_a_posterior_and_the_round_goes_on(prior):
    machine = kelfi.Rounds(prior, X_O, 160, 2, model="location-scale", seed=3)
    with pytest.raises(kelfi.InputError, match="no simulations yet"):
        machine.posterior()
    theta = machine.ask()
    machine.tell(theta[:40], results(theta[:40]))
    part = kelfi.fit(theta[:40], results(theta[:40]), X_O, prior, model="location-scale", seed=3)
    assert_array_equal(machine.posterior().mean(), part.mean())
    machine.tell(theta[40:], results(theta[40:]))
    assert len(machine.theta) == len(theta) and len(machine.ask()) == 160 - len(theta)


def test_failed_simulations_are_told_as_nan(prior):
    machine, failed = kelfi.Rounds(prior, X_O, 120, 2, model="location-scale", seed=3), 0
    while not machine.finished:
        theta = machine.ask()
        x = results(theta)
        x[::10] = np.nan
        failed += len(x[::10])
        machine.tell(theta, x)
    assert np.isnan(machine.x).any(axis=1).sum() == failed > 0
    assert len(machine.x) == 120 and abs(machine.posterior().mean() - exact()[0]).max() < 4 * NOISE


def test_what_was_not_asked_for_is_refused_and_nothing_changes(prior):
    machine = kelfi.Rounds(prior, X_O, 60, 2, seed=3)
    theta = machine.ask(4)
    for wrong, match in ((theta + 1e-9, "row 0 of theta was not asked for"), (theta[[0, 0]], "row 1 of theta was already told")):
        with pytest.raises(kelfi.InputError, match=match):
            machine.tell(wrong, results(wrong))
    with pytest.raises(kelfi.InputError, match="x_o has 2 statistics"):
        machine.tell(theta, np.zeros((4, 3)))
    assert len(machine.theta) == 0
    machine.tell(theta[:2], results(theta[:2]))
    with pytest.raises(kelfi.InputError, match="row 0 of theta was already told"):
        machine.tell(theta[1:], results(theta[1:]))
    unseen = prior.sample(6, seed=3)[5:]
    with pytest.raises(kelfi.InputError, match="was not asked for"):
        machine.tell(unseen, results(unseen))
    assert len(machine.theta) == 2


def test_a_single_number_is_a_simulation_of_one_parameter():
    machine = kelfi.Rounds(kelfi.Prior(a=kelfi.Normal(0, 1)), 0.5, 4, 1)
    first = float(machine.ask()[0, 0])
    machine.tell(first, 0.25)
    machine.tell([], [])
    assert_array_equal(machine.theta, [[first]])
    assert_array_equal(machine.x, [[0.25]])


@pytest.mark.parametrize("wrong", [{"rounds": 0}, {"rounds": "many"}, {"rounds": 1.5}, {"num_simulations": 0}, {"model": "best"}])
def test_wrong_settings_are_refused(prior, wrong):
    with pytest.raises(kelfi.InputError):
        kelfi.Rounds(prior, X_O, **wrong)


def test_infer_gives_the_same_bits_wherever_the_simulator_runs(prior):
    def found(executor):
        settings = {"num_simulations": 100, "rounds": 2, "seed": 5, "model": "location-scale"}
        posterior = kelfi.infer(simulators.noisy, prior, [1.0, 1.0], executor=executor, **settings)
        return np.concatenate([*posterior.simulations, posterior.sample(100, seed=1)], axis=1)

    serial = found(None)
    for kind in (ThreadPoolExecutor, ProcessPoolExecutor):
        with kind(2) as executor:
            assert_array_equal(found(executor), serial)


def test_infer_of_a_simulator_that_always_fails_says_why(prior):
    def broken(theta):
        raise ArithmeticError("too cold")

    with pytest.raises(kelfi.SimulationError, match="too cold"):
        kelfi.infer(broken, prior, [1.0, 1.0], num_simulations=20, seed=1)


def test_one_round_in_a_store_is_one_round(prior, tmp_path):
    path = tmp_path / "run.sqlite"
    stored = kelfi.infer(simulators.noisy, prior, [1.0, 1.0], num_simulations=40, rounds=1, store=path, seed=1, model="location-scale")
    alone = kelfi.infer(simulators.noisy, prior, [1.0, 1.0], num_simulations=40, rounds=1, seed=1, model="location-scale")
    assert_array_equal(stored.mean(), alone.mean())
