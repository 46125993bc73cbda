"""The paper's sums in 40-digit arithmetic, through Python."""

import json
from pathlib import Path

import numpy as np
import pytest

import kelfi
from kelfi import _kelfi

# Every entry within this of the largest, as in the Rust test.
RELATIVE = 1e-9
GOLDEN = Path(__file__).resolve().parents[2] / "crates/kelfi/tests/data/golden.json"
CASES = json.loads(GOLDEN.read_text())["cases"]


def close(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= RELATIVE * max(np.abs(expected).max(), np.finfo(float).tiny)


@pytest.mark.parametrize("index", range(len(CASES)))
def test_golden_case(index):
    case = CASES[index]
    expect = case["expect"]
    prior = kelfi.Prior([kelfi.Normal(mean, std) for mean, std in zip(case["prior_mean"], case["prior_std"])])
    model = kelfi.KernelMeansLikelihood(
        case["theta"],
        case["x"],
        case["y"],
        prior,
        epsilon=case["epsilon"],
        length_scale=np.divide(case["length_scale"], case["prior_std"]),
        regularization=case["regularization"],
    )
    close(model.weights, expect["weights"])
    close(model.marginal_likelihood, expect["marginal_likelihood"])
    close(model.value(case["query"]), expect["likelihood"])
    if len(case["theta"]) > 1:
        likelihood, marginal = model.leave_one_out()
        close(likelihood, expect["loo_likelihood"])
        close(marginal, expect["loo_marginal_likelihood"])
    if expect["log_marginal_likelihood"] is None:
        with pytest.raises(kelfi.InferenceError, match="marginal likelihood is not positive"):
            model.log_marginal_likelihood
        with pytest.raises(RuntimeError):
            model.posterior()
        return
    close(model.log_marginal_likelihood, expect["log_marginal_likelihood"])
    for name, value in model.gradient().items():
        close(value, expect["gradient"][name])
    posterior = model.posterior()
    close(posterior.value(case["query"]), expect["posterior"])
    close(posterior.embedding(case["query"]), expect["posterior_embedding"])
    close(posterior.signed_mean(), expect["posterior_mean"])
    close(posterior.signed_covariance(), expect["posterior_covariance"])
    picks = expect["herding_indices"]
    candidates = np.array(case["candidates"])
    samples, indices = posterior._native.super_samples(len(picks), candidates, 0, 1)
    assert indices == picks
    # z and back: to rounding.
    np.testing.assert_allclose(posterior.super_samples(len(picks), candidates=candidates), candidates[picks], rtol=1e-12)
    assert samples.shape == candidates[picks].shape


def test_there_are_24_cases_and_the_native_module_has_the_version():
    assert len(CASES) == 24
    assert kelfi.__version__ == _kelfi.__version__ == "0.1.0"
