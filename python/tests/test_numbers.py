"""Numbers that cannot be absurd: moments, densities, shares and quantiles are those of the clipped density."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kelfi


@pytest.fixture(scope="module")
def ragged():
    """A posterior of two parameters with large negative parts."""
    prior = kelfi.Prior(a=kelfi.Uniform(-3.0, 3.0), b=kelfi.Uniform(-3.0, 3.0))
    theta = prior.sample(60, seed=2)
    x = theta + 0.3 * np.random.default_rng(2).normal(size=theta.shape)
    found = kelfi.fit(theta, x, [2.0, -1.0], prior, epsilon=0.25, length_scale=0.5, regularization=1e-6)
    assert found.negative_mass > 0.2
    return found


def test_moments_lie_in_the_prior_and_agree_with_the_samples(ragged):
    samples = ragged.sample(20_000, seed=1)
    error = 5 * (samples.std(axis=0) * np.hypot(ragged.mean_error(), 1 / np.sqrt(len(samples)))).max()
    assert ragged.mean_error() < 0.02
    assert_allclose(ragged.mean(), samples.mean(axis=0), atol=error)
    assert_allclose(ragged.std(), samples.std(axis=0), rtol=0.05)
    assert_allclose(ragged.covariance(), np.cov(samples.T), atol=0.05 * ragged.std().max() ** 2)
    assert_allclose(np.sqrt(np.diag(ragged.covariance())), ragged.std())
    for d, name in enumerate(ragged.names):
        summary = ragged.summary()[name]
        assert summary["mean"] == ragged.mean()[d] and summary["sd"] == ragged.std()[d] and -3.0 < summary["mean"] < 3.0
        assert_allclose(ragged.quantile([0.1, 0.5, 0.9])[:, d], np.quantile(samples[:, d], [0.1, 0.5, 0.9]), atol=0.1 * ragged.std()[d])
    # The closed forms are there under their own names, and differ.
    assert abs(ragged.signed_mean() - ragged.mean()).max() > 0.05 * ragged.std().max()
    assert ragged.signed_covariance().shape == (2, 2)


def test_shares_rise_from_zero_to_one_and_quantiles_invert_them(ragged, either):
    for posterior in (ragged, either):
        for name in posterior.names:
            ends = posterior.quantile([0.0005, 0.9995])[:, posterior.names.index(name)]
            shares = posterior.cdf(name, [-np.inf, *np.linspace(*ends, 300), np.inf])
            assert shares[0] == 0.0 and shares[-1] == 1.0 and (np.diff(shares) >= 0.0).all()
            probabilities = np.linspace(0.01, 0.99, 50)
            back = posterior.cdf(name, posterior.quantile(probabilities)[:, posterior.names.index(name)])
            assert_allclose(back, probabilities, atol=2e-3)
            density = posterior.marginal(name, np.linspace(*ends, 300))
            assert (density >= 0.0).all()
            assert_allclose(density.sum() * (ends[1] - ends[0]) / 299, 1.0, atol=0.05)


def test_outside_the_support_there_is_nothing_and_nan_is_an_error(ragged, either):
    outside = [[3.1, 0.0], [0.0, -np.inf]]
    assert_allclose(ragged.pdf(outside), 0.0)
    assert_allclose(ragged.value(outside), 0.0)
    assert (ragged.log_prob(outside) == -np.inf).all()
    mixed = np.vstack([outside[0], ragged.map()])
    assert ragged.log_prob(mixed)[0] == -np.inf and np.isfinite(ragged.log_prob(mixed)[1])
    assert_allclose(ragged.log_prob(mixed)[1], ragged.log_prob(ragged.map())[0])
    assert (either.log_prob([[-1.0, 2.0], [20.0, 2.0]]) == -np.inf).all()
    assert_allclose(either.pdf([[-1.0, 2.0], [20.0, 2.0]]), 0.0)
    assert_allclose(either.marginal("rate", [-1.0, 20.0]), 0.0)
    for posterior in (ragged, either):
        for ask in (posterior.value, posterior.pdf, posterior.log_prob):
            with pytest.raises(kelfi.InputError, match="nan"):
                ask([[np.nan, 1.0]])


def test_what_is_the_same_in_all_simulations_is_predicted_as_itself(ragged, either):
    for posterior in (ragged, either):
        theta = posterior.simulations[0]
        assert_allclose(posterior.predictive(np.ones(len(theta))), 1.0, atol=1e-9)
        assert_allclose(posterior.predictive(np.full(len(theta), -7e5)), -7e5)
        # A parameter as recorded output: its posterior mean, within what the regression can do.
        predicted = posterior.predictive(theta)
        assert (abs(predicted - posterior.mean()) < 0.5 * posterior.std() + 0.05 * theta.std(axis=0)).all()
        assert_allclose(posterior.predictive(theta + 1e3), predicted + 1e3, rtol=1e-6)


def test_the_mode_is_at_least_as_high_as_any_of_ten_thousand_samples(ragged, either):
    for posterior in (ragged, either):
        best = posterior.log_prob(posterior.sample(10_000, seed=4)).max()
        assert posterior.log_prob(posterior.map())[0] >= best - 1e-9


def test_two_separate_modes_are_told():
    prior = kelfi.Prior(a=kelfi.Uniform(-3.0, 3.0))
    theta = prior.sample(500, seed=3)
    x = theta**2 + 0.2 * np.random.default_rng(3).normal(size=theta.shape)
    posterior = kelfi.fit(theta, x, [4.0], prior, model="kernel-means")
    modes = posterior.modes()
    assert len(modes) == 2 and abs(modes[0].weight - 0.5) < 0.2
    assert sorted(round(mode.mean["a"]) for mode in modes) == [-2, 2]
    check = next(check for check in posterior.checks if check.name == "modes")
    assert check.status == "warn" and "two separate modes, around a = " in check.message
    assert check.message in repr(posterior)
    assert len(kelfi.fit(theta, theta, [1.0], prior, epsilon=0.3, length_scale=0.5, regularization=1e-3).modes()) == 1
