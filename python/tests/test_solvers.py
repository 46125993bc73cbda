"""The solver of the kernel means model: exact and low-rank give the same answer, and a posterior says which it has."""

import numpy as np
import pytest

import kelfi

FIXED = {"model": "kernel-means", "epsilon": 0.4, "length_scale": 0.8, "regularization": 1e-3}


@pytest.fixture(scope="module")
def data():
    prior = kelfi.Prior(a=kelfi.Normal(0, 1), b=kelfi.Uniform(-1, 1))
    theta = prior.sample(300, seed=1)
    x = theta + 0.3 * np.random.default_rng(2).standard_normal(theta.shape)
    return prior, theta, x


def test_low_rank_gives_the_exact_answer_and_says_what_it_reached(data):
    prior, theta, x = data
    exact, low = (kelfi.fit(theta, x, [0.2, 0.1], prior, solver=solver, **FIXED) for solver in ("exact", "low-rank"))
    assert "low_rank" not in exact.hyperparameters
    reached = low.hyperparameters["low_rank"]
    assert reached["rank"] < 300 and reached["error"] <= 1e-6 and reached["evidence_error"] < 1e-5
    assert low.log_evidence == pytest.approx(exact.log_evidence, abs=1e-6)
    theta_o = np.array([[0.1, 0.0], [0.5, -0.5]])
    np.testing.assert_allclose(low.log_prob(theta_o), exact.log_prob(theta_o), atol=1e-2)


def test_a_saved_posterior_keeps_its_solver(data, tmp_path):
    prior, theta, x = data
    low = kelfi.fit(theta, x, [0.2, 0.1], prior, solver="low-rank", **FIXED)
    low.save(tmp_path / "p.json")
    loaded = kelfi.load(tmp_path / "p.json")
    assert loaded.hyperparameters["low_rank"] == low.hyperparameters["low_rank"]
    assert (loaded.sample(20, seed=1) == low.sample(20, seed=1)).all()


def test_too_high_a_rank_is_refused_with_figures_and_advice():
    prior = kelfi.Prior(**{f"t{d}": kelfi.Normal(0, 1) for d in range(4)})
    theta = prior.sample(2100, seed=1)
    with pytest.raises(kelfi.InferenceError, match="2000 pivots of 2100 simulations"):
        options = {**FIXED, "length_scale": 0.1, "regularization": 1e-6}
        kelfi.fit(theta, theta, [0.0] * 4, prior, solver="low-rank", **options)
