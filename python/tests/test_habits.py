"""sbi's flow as its users write it, without sbi: names, shapes, torch tensors in and out (played by a class of the same habits)."""

import sys
import types

import numpy as np
import pytest
import simulators
from numpy.testing import assert_array_equal
from scipy import stats

import kelfi


@pytest.fixture(scope="module")
def simulations():
    prior = kelfi.BoxUniform(low=-2 * np.ones(2), high=2 * np.ones(2))
    theta = prior.sample((150,), seed=1)
    return prior, theta, theta + 1.0 + 0.1 * np.random.default_rng(1).normal(size=theta.shape)


@pytest.fixture(scope="module")
def unobserved(simulations):
    prior, theta, x = simulations
    inference = kelfi.KELFI(prior=prior)
    estimator = inference.append_simulations(theta, x).train(model="location-scale")
    return inference.build_posterior(estimator)


X_O = np.array([[1.2, 0.7]])


def test_the_minimal_example_of_sbi_runs_with_its_names(unobserved, simulations):
    prior, theta, x = simulations
    samples = unobserved.sample((1000,), x=X_O, show_progress_bars=False, seed=1)
    assert samples.shape == (1000, 2)
    assert abs(samples.mean(axis=0) - [0.2, -0.3]).max() < 0.1
    assert unobserved.sample((3, 4), x=X_O, seed=1).shape == (3, 4, 2)
    assert unobserved.log_prob(samples[:5], x=X_O).shape == (5,)
    direct = kelfi.fit(theta, x, X_O, prior, model="location-scale")
    assert_array_equal(samples, direct.sample(1000, seed=1))
    assert abs(unobserved.map(x=X_O) - direct.map()).max() == 0.0


def test_a_default_observation_stands_for_x(unobserved):
    fresh = kelfi.UnobservedPosterior(unobserved.prior, unobserved._read, unobserved._fitted)
    for ask in (lambda: fresh.sample((5,)), lambda: fresh.map(), lambda: fresh.mean(), lambda: fresh.log_prob([[0.0, 0.0]])):
        with pytest.raises(kelfi.InputError, match="no observation yet"):
            ask()
    assert "give x=" in repr(fresh) and fresh.default_x is None
    assert fresh.set_default_x(X_O) is fresh
    assert_array_equal(fresh.sample((5,), seed=1), unobserved.sample((5,), x=X_O, seed=1))
    assert_array_equal(fresh.mean(), unobserved.at(X_O).mean())
    assert "mean" in repr(fresh)
    with pytest.raises(kelfi.InputError, match="x_o has shape"):
        fresh.set_default_x([1.0, 2.0, 3.0])


def test_potential_is_log_prob_but_for_a_constant(unobserved, either):
    theta = unobserved.sample(20, x=X_O, seed=1)
    difference = unobserved.potential(theta, x=X_O) - unobserved.log_prob(theta, x=X_O)
    np.testing.assert_allclose(difference, difference[0], rtol=1e-9)
    theta = either.sample(20, seed=1)
    difference = either.potential(theta) - either.log_prob(theta)
    np.testing.assert_allclose(difference, difference[0], rtol=1e-9)
    assert either.potential([[-1.0, 2.0]])[0] == -np.inf


def test_sample_batched_has_the_samples_of_each_observation(unobserved):
    batch = unobserved.sample_batched((30,), x=np.concatenate([X_O, X_O + 0.5]), seed=3, show_progress_bars=False)
    assert batch.shape == (30, 2, 2)
    assert_array_equal(batch[:, 1], unobserved.sample(30, x=X_O + 0.5, seed=3))


def test_trained_at_an_observation_others_are_conditioned_on(simulations):
    prior, theta, x = simulations
    inference = kelfi.KELFI(prior).append_simulations(theta, x, proposal=prior)
    posterior = inference.train(X_O, model="location-scale").build_posterior()
    other = posterior.condition(X_O + 0.2)
    assert_array_equal(posterior.sample(20, x=X_O + 0.2, seed=1), other.sample(20, seed=1))
    assert_array_equal(posterior.set_default_x(X_O + 0.2).sample(20, seed=1), other.sample(20, seed=1))
    assert_array_equal(posterior.default_x, other.x_o)
    with pytest.raises(TypeError, match="training_batch_size"):
        inference.train(training_batch_size=50)
    with pytest.raises(kelfi.InputError, match="nothing has been learned"):
        kelfi.KELFI(prior).append_simulations(theta, x).build_posterior()


@pytest.mark.parametrize(
    "prior",
    [
        kelfi.BoxUniform([-2, -2], [2, 2]),
        [stats.uniform(-2, 4), stats.uniform(-2, 4)],
        kelfi.Prior([kelfi.Uniform(-2, 2)] * 2),
    ],
)
def test_priors_of_the_field_are_taken(prior, simulations):
    _, theta, x = simulations
    found = kelfi.KELFI(prior).append_simulations(theta[:60], x[:60]).train(X_O, epsilon=0.3, length_scale=0.5, regularization=1e-3)
    assert found.build_posterior().names == ["theta_1", "theta_2"]


def test_a_frozen_multivariate_normal_is_a_prior():
    made = kelfi.prior.require_prior(stats.multivariate_normal([1.0, 2.0], [[1.0, 0.5], [0.5, 2.0]]))
    assert made == kelfi.Prior.multivariate_normal([1.0, 2.0], [[1.0, 0.5], [0.5, 2.0]])


class Tensor:
    """As much of a torch tensor as kelfi looks at."""

    def __init__(self, values):
        self.values, self.dtype, self.device = np.asarray(values, dtype=np.float32), "float32", "cpu"

    def is_floating_point(self):
        return True

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


def test_tensors_in_tensors_out(monkeypatch, either):
    torch = types.ModuleType("torch")
    torch.Tensor, torch.as_tensor = Tensor, lambda array, dtype, device: Tensor(array)
    monkeypatch.setitem(sys.modules, "torch", torch)
    x = Tensor(either.x_o)
    for found in (either.sample((4,), x=x), either.sample_batched((4,), x=Tensor([either.x_o])), either.log_prob(either.sample(4), x=x), either.map(x=x)):
        assert isinstance(found, Tensor)
    assert isinstance(either.log_prob(Tensor(either.sample(4))), Tensor)
    assert isinstance(either.sample((4,)), np.ndarray)


def test_num_workers_makes_processes_that_change_no_bit(prior):
    here = kelfi.simulate(simulators.noisy, prior, 20, seed=1)
    there = kelfi.simulate(simulators.noisy, prior, 20, seed=1, num_workers=2)
    assert_array_equal(here.x, there.x)
    with pytest.raises(kelfi.InputError, match="leave num_workers out"):
        from concurrent.futures import ThreadPoolExecutor

        kelfi.simulate(simulators.noisy, prior, 20, executor=ThreadPoolExecutor(1), num_workers=2)


def test_the_options_are_shown_and_are_those_of_rust():
    import inspect
    import typing

    from kelfi import options

    for function in (kelfi.fit, kelfi.infer, kelfi.Rounds.__init__, kelfi.KELFI.train):
        shown = inspect.signature(function).parameters
        assert shown["model"].default == "auto" and shown["kernel"].default == "gaussian", function
    assert inspect.signature(kelfi.simulate).parameters["timeout"].default is None
    assert sorted(typing.get_args(options.Model)) == sorted(name for name, _ in kelfi._kelfi.models())
    assert list(typing.get_args(options.Kernel)) == kelfi._kelfi.kernels()
    assert list(typing.get_args(options.Solver)) == kelfi._kelfi.solvers()
    assert set(options.FitOptions.__annotations__) | set(options.ModelOptions.__annotations__) == set(options.DEFAULTS)
    with pytest.raises(TypeError, match="did you mean 'epsilon'"):
        options.complete({"epsilom": 1.0})
