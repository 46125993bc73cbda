"""Priors: fifteen families, written as in problem files."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kelfi

FAMILIES = [
    kelfi.Normal(0, 1),
    kelfi.Uniform(-1, 2),
    kelfi.LogNormal(0, 0.5),
    kelfi.LogUniform(0.01, 10),
    kelfi.Gamma(2, 3),
    kelfi.InverseGamma(3, 2),
    kelfi.Beta(2, 3),
    kelfi.Exponential(2),
    kelfi.StudentT(3, 1, 2),
    kelfi.TruncatedNormal(0, 1, low=-1),
    kelfi.Weibull(1.5, 2),
    kelfi.Cauchy(0, 1),
    kelfi.HalfNormal(2),
    kelfi.Laplace(0, 1),
    kelfi.Triangular(0, 1, 3),
]
NAMES = [family.family for family in FAMILIES]


def test_there_are_fifteen():
    assert len(set(NAMES)) == 15


@pytest.mark.parametrize("family", FAMILIES, ids=NAMES)
def test_every_family_draws_inverts_and_integrates(family):
    prior = kelfi.Prior(a=family)
    p = np.linspace(0.05, 0.95, 7)
    assert_allclose(prior.cdf(prior.quantile(p))[:, 0], p, rtol=1e-9)
    low, high = prior.quantile([0.1, 0.9])[:, 0]
    grid = np.linspace(low, high, 4001)
    density = np.exp(prior.log_prob(grid))
    # The error of the trapezium rule on 4,000 intervals, largest for the steep log-uniform.
    assert_allclose(np.sum(0.5 * (density[1:] + density[:-1]) * np.diff(grid)), 0.8, atol=1e-4)
    draws = prior.sample(2000, seed=1)
    # Four standard errors of a share of one half.
    assert abs((draws < prior.quantile(0.5)).mean() - 0.5) < 4 * 0.5 / 2000**0.5
    assert_array_equal(draws[:10], prior.sample(10, seed=1))
    assert pickle.loads(pickle.dumps(prior)) == prior == copy.deepcopy(prior)
    assert kelfi.Marginal.from_dict(family.to_dict()) == family
    assert eval(repr(prior), {**vars(kelfi), "inf": np.inf}) == prior


def test_names_come_from_keywords_mappings_or_positions():
    a, b = kelfi.Normal(0, 1), kelfi.Uniform(0, 1)
    assert kelfi.Prior(x=a, y=b) == kelfi.Prior({"x": a, "y": b})
    assert kelfi.Prior([a, b]).names == ["theta_1", "theta_2"]
    assert kelfi.Prior(x=a, y=b) != kelfi.Prior(y=a, x=b)


def test_correlated_and_sampled_priors():
    normal = kelfi.Prior.multivariate_normal([1, 2], [[1, 0.8], [0.8, 1]], names=["a", "b"])
    draws = normal.sample(4000, seed=1)
    assert_allclose(np.cov(draws.T), [[1, 0.8], [0.8, 1]], atol=0.1)
    assert_allclose(normal.quantile(0.5), [1, 2], atol=1e-12)
    sampled = kelfi.Prior.from_samples(draws)
    assert pickle.loads(pickle.dumps(sampled)) == sampled
    with pytest.raises(RuntimeError, match="draws"):
        sampled.log_prob([[0, 0]])
    with pytest.raises(ValueError, match="2 names but 3"):
        kelfi.Prior.from_samples(np.ones((4, 3)), names=["a", "b"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: kelfi.Normal(0, 0),
        lambda: kelfi.Normal(np.nan, 1),
        lambda: kelfi.Normal("zero", 1),
        lambda: kelfi.Uniform(2, 1),
        lambda: kelfi.LogUniform(0, 1),
        lambda: kelfi.TruncatedNormal(0, 1, low=np.inf),
        lambda: kelfi.Prior(),
        lambda: kelfi.Prior([]),
        lambda: kelfi.Prior(a=3),
        lambda: kelfi.Prior(3),
        lambda: kelfi.Prior([kelfi.Normal(0, 1)], b=kelfi.Normal(0, 1)),
        lambda: kelfi.Prior({"": kelfi.Normal(0, 1)}),
        lambda: kelfi.Prior.multivariate_normal([0, 0], [[1, 2], [2, 1]]),
        lambda: kelfi.Prior(a=kelfi.Normal(0, 1)).quantile(1.5),
        lambda: kelfi.Prior(a=kelfi.Normal(0, 1)).sample(-1),
        lambda: kelfi.Prior(a=kelfi.Normal(0, 1)).sample(10**15),
        lambda: kelfi.Prior(a=kelfi.Normal(0, 1)).sample(1.5),
        lambda: kelfi.Prior(a=kelfi.Normal(0, 1)).sample(1, seed=-1),
        lambda: kelfi.Prior(a=kelfi.Normal(0, 1)).sample(1, seed=2**64),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(make):
    with pytest.raises(ValueError) as raised:
        make()
    assert isinstance(raised.value, kelfi.KelfiError) and len(str(raised.value)) > 10
