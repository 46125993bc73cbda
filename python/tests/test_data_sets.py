"""Outputs that are data sets: x of shape (m, N, d), or a list of arrays (N, d)."""

import numpy as np
import pytest

import kelfi

PRIOR = kelfi.Prior(mean=kelfi.Normal(0, 2))


def measure(theta, seed):
    """Twenty to thirty pairs around (mean, -mean), the second in small units; seeds that 10 divides fail."""
    generator = np.random.default_rng(seed)
    if seed % 10 == 0:
        raise RuntimeError("broken")
    noise = generator.normal(size=(generator.integers(20, 31), 2))
    return (noise + [theta[0], -theta[0]]) * [1.0, 1000.0]


OBSERVED = measure([1.0], seed=12345)


@pytest.fixture(scope="module")
def simulated():
    return kelfi.simulate(measure, PRIOR, 80, seed=1)


@pytest.fixture(scope="module")
def posterior(simulated):
    return kelfi.fit(simulated.theta, simulated.x, OBSERVED, PRIOR)


def test_data_sets_are_simulated_with_rows_of_their_own_number(simulated):
    assert len(simulated.x) == 80 and len({len(rows) for rows in simulated.x}) > 3
    assert simulated.failures and all(np.isnan(simulated.x[row]).all() for row in simulated.failures)
    assert all(rows.shape[1] == 2 for rows in simulated.x)


def test_the_posterior_finds_the_mean_and_says_which_model(posterior):
    assert posterior.model == "kernel-means" and "raw data sets" in posterior.comparison["reason"]
    assert abs(posterior.mean()[0] - 1.0) < 0.5 and posterior.std()[0] < 0.7
    assert posterior.x_o.shape == OBSERVED.shape
    assert len(posterior.hyperparameters["epsilon"]) == 1
    assert {check.name for check in posterior.checks} >= {"support", "failed_simulations", "calibration"}


def test_an_array_of_equal_sets_is_the_same_as_their_list():
    theta = PRIOR.sample(40, seed=2)
    x = np.stack([np.random.default_rng(i).normal(size=(15, 1)) + t for i, t in enumerate(theta)])
    one, other = (kelfi.fit(theta, given, x[3], PRIOR, seed=1) for given in (x, list(x)))
    assert np.array_equal(one.sample(20, seed=1), other.sample(20, seed=1))
    assert np.array_equal(kelfi.fit(theta, x, x[3].ravel(), PRIOR, seed=1).mean(), one.mean())


def test_saved_and_loaded_it_has_the_same_bits_and_its_data_sets(posterior, simulated, tmp_path):
    posterior.save(tmp_path / "p.json")
    again = kelfi.load(tmp_path / "p.json")
    assert np.array_equal(again.sample(20, seed=1), posterior.sample(20, seed=1))
    theta, x = again.simulations
    assert np.array_equal(theta, simulated.theta)
    assert all(np.array_equal(a, b, equal_nan=True) or np.isnan(b).all() for a, b in zip(x, simulated.x))


def test_other_observations_priors_and_samples(posterior):
    moved = posterior.condition(measure([-1.5], seed=77))
    assert moved.mean()[0] < -0.8
    other = measure([-1.5], seed=77)
    assert posterior.sample_batched(5, [OBSERVED, other], seed=1).shape == (5, 2, 1)
    assert posterior.log_prob([[0.5]], x=other).shape == (1,)
    narrow = posterior.with_prior(kelfi.Prior(mean=kelfi.Uniform(-3, 3)))
    assert abs(narrow.mean()[0] - 1.0) < 0.6


def test_infer_makes_rounds_and_a_store_keeps_rows(tmp_path):
    found = kelfi.infer(measure, PRIOR, OBSERVED, num_simulations=90, rounds=2, seed=1)
    assert found.model == "kernel-means" and abs(found.mean()[0] - 1.0) < 0.5
    path = tmp_path / "store.sqlite"
    first = kelfi.simulate(measure, PRIOR, 30, seed=1, store=path)
    again = kelfi.simulate(measure, PRIOR, 40, seed=1, store=path)
    assert again.calls == 10
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first.x, again.x))
    read, parameters, columns = kelfi.read_store(path)
    assert (parameters, len(columns)) == (["mean"], 2)
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(read.x, again.x))


def test_batches_may_give_lists_of_data_sets():
    def batch(theta, seed):
        return [np.random.default_rng(s).normal(size=(int(s % 3) + 2, 1)) + t for s, t in zip(seed, theta)]

    theta, x = kelfi.simulate(batch, PRIOR, 12, seed=1, batched=True, batch_size=5)
    assert len(x) == len(theta) == 12 and all(rows.shape[1] == 1 for rows in x)


def test_what_does_not_fit_is_refused_with_both_shapes(simulated, posterior):
    theta, x = simulated
    with pytest.raises(kelfi.InputError, match="2 columns"):
        kelfi.fit(theta, x, [1.0, 2.0, 3.0], PRIOR)
    with pytest.raises(kelfi.InputError, match="80 data sets"):
        kelfi.fit(theta[:5], x, OBSERVED, PRIOR)
    with pytest.raises(kelfi.InputError, match="same d"):
        kelfi.fit(theta[:2], [np.zeros((3, 2)), np.zeros((3, 1))], OBSERVED, PRIOR)
    with pytest.raises(kelfi.InputError, match="finite"):
        kelfi.fit(theta, x, OBSERVED * np.nan, PRIOR)
    with pytest.raises(kelfi.KelfiError, match="raw data sets"):
        kelfi.fit(theta, x, OBSERVED, PRIOR, model="location-scale")
    with pytest.raises(kelfi.InputError, match="shape"):
        posterior.condition([1.0, 2.0])
