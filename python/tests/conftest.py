"""What the tests share: a small problem fitted once."""

import multiprocessing

import numpy as np
import pytest

import kelfi


def pytest_unconfigure(config):
    """Ends workers that a broken pool left behind: one that is started while its pool breaks is waited for without end when Python exits."""
    for worker in multiprocessing.active_children():
        worker.kill()


@pytest.fixture(scope="session")
def prior():
    return kelfi.Prior(rate=kelfi.LogUniform(0.01, 10.0), delay=kelfi.Normal(2.0, 0.5))


@pytest.fixture(scope="session")
def data(prior):
    """120 simulations, three of them failed, and an observation."""
    theta = prior.sample(120, seed=1)
    noise = np.random.default_rng(1).normal(size=(120, 3))
    x = np.column_stack([np.log(theta[:, 0]), theta[:, 1], np.zeros(120)]) + [0.2, 0.1, 1.0] * noise
    x[[5, 40, 77]] = np.nan
    return theta, x, np.array([0.3, 2.2, 0.0])


@pytest.fixture(scope="session")
def posterior(prior, data):
    """Of the kernel means model."""
    theta, x, x_o = data
    return kelfi.fit(theta, x, x_o, prior, model="kernel-means", seed=3)


@pytest.fixture(scope="session")
def location_scale(prior, data):
    """The same of the location-scale model."""
    theta, x, x_o = data
    return kelfi.fit(theta, x, x_o, prior, model="location-scale", seed=3)


@pytest.fixture(params=["kernel-means", "location-scale"])
def either(request):
    """One after the other."""
    return request.getfixturevalue({"kernel-means": "posterior", "location-scale": "location_scale"}[request.param])
