"""Python and Rust give the same bits, and threads change nothing."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import kelfi
from kelfi import _kelfi

ROOT = Path(__file__).resolve().parents[2]
SEED = 7
MODELS = ("kernel-means", "location-scale")


@pytest.fixture(scope="module")
def rust():
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not in PATH")
    command = ["cargo", "run", "--quiet", "-p", "kelfi-python", "--example", "reference"]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def answers(posterior, theta):
    """What both models answer."""
    slices = posterior.slice_samples(60, seed=SEED)
    return {
        "score": [posterior.hyperparameters["score"], posterior.hyperparameters["score_standard_error"]],
        "epsilon": posterior.hyperparameters["epsilon"],
        "relevance": posterior.relevance,
        "log_evidence": posterior.log_evidence,
        "log_evidence_error": posterior.log_evidence_error,
        "mean": posterior.mean(),
        "covariance": posterior.covariance(),
        "map": posterior.map(),
        "quantile": posterior.quantile([0.025, 0.5, 0.975])[:, 0],
        "pdf": posterior.pdf(theta),
        "independent": posterior.sample(50, seed=SEED),
        "herding": posterior.super_samples(20, candidates=500, seed=SEED),
        "slice": slices.samples,
        "r_hat": slices.r_hat,
        "effective": slices.effective,
    }


def fitted(model):
    problem = kelfi.problems.get("banana")
    theta, x = problem.simulate(80, seed=SEED)
    return theta, x, kelfi.fit(theta, x, problem.x_o, problem.prior, model=model, seed=SEED)


def found():
    fits = {model: fitted(model)[2] for model in MODELS}
    theta, x, auto = fitted("auto")
    return {
        "theta": theta,
        "x": x,
        "seeds": _kelfi.simulator_seeds(SEED, 0, 5),
        "length_scale": fits["kernel-means"].hyperparameters["length_scale"],
        "regularization": fits["kernel-means"].hyperparameters["regularization"],
        **{model: answers(fits[model], theta) for model in MODELS},
        "auto": auto.comparison,
    }


def assert_same(left, right, where=""):
    """The same names and the same bits."""
    if isinstance(left, dict):
        assert left.keys() == right.keys(), where
        for name in left:
            assert_same(left[name], right[name], f"{where} {name}")
    elif isinstance(left, str):
        assert left == right, where
    else:
        assert np.array_equal(np.ravel(left), np.ravel(right)), where


def test_python_gives_the_same_bits_as_rust(rust):
    assert_same(found(), {name: value for name, value in rust.items() if name != "files"})


@pytest.mark.parametrize("index, model", list(enumerate([*MODELS, "auto"])))
def test_a_model_file_of_the_command_line_loads_with_all_it_says(rust, index, model):
    loaded, own = kelfi.Posterior.from_json(rust["files"][index]), fitted(model)[2]
    assert (loaded.model, loaded.comparison) == (own.model, own.comparison)
    theirs, ours = loaded.hyperparameters, own.hyperparameters
    optima = theirs.pop("optima", []), ours.pop("optima", [])
    assert len(optima[0]) == len(optima[1])
    assert_same(optima[0][0] if optima[0] else {}, optima[1][0] if optima[1] else {})
    statistics = theirs.pop("statistics", None), ours.pop("statistics", None)
    assert statistics[0] == statistics[1]
    assert_same(theirs, ours)
    # Without the seed of its integrals, which that file does not have, the numbers of checks may differ.
    assert [check.name for check in loaded.checks] == [check.name for check in own.checks]


def test_the_number_of_threads_changes_no_bit():
    try:
        kelfi.set_threads(1)
        one = found()
        kelfi.set_threads(3)
        three = found()
    finally:
        kelfi.set_threads(0)
    assert_same(one, three)
