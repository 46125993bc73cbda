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


@pytest.fixture(scope="module")
def rust():
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not on the PATH")
    command = ["cargo", "run", "--quiet", "-p", "kelfi-python", "--example", "reference"]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def found():
    problem = kelfi.problems.get("banana")
    theta, x = problem.simulate(80, seed=SEED)
    posterior = kelfi.fit(theta, x, problem.x_o, problem.prior, seed=SEED)
    return {
        "theta": theta,
        "x": x,
        "seeds": _kelfi.simulator_seeds(SEED, 0, 5),
        "epsilon": posterior.hyperparameters["epsilon"],
        "length_scale": posterior.hyperparameters["length_scale"],
        "regularization": posterior.hyperparameters["regularization"],
        "log_evidence": posterior.log_evidence,
        "mean": posterior.mean(),
        "covariance": posterior.covariance(),
        "map": posterior.map(),
        "quantile": posterior.quantile([0.025, 0.5, 0.975])[:, 0],
        "pdf": posterior.pdf(theta),
        "independent": posterior.sample(50, seed=SEED),
        "herding": posterior.super_samples(20, candidates=500, seed=SEED),
    }


def test_python_gives_the_same_bits_as_rust(rust):
    python = found()
    assert python.keys() == rust.keys()
    for name, value in python.items():
        assert np.array_equal(np.ravel(value), np.ravel(rust[name])), name


def test_the_number_of_threads_changes_no_bit():
    try:
        kelfi.set_threads(1)
        one = found()
        kelfi.set_threads(3)
        three = found()
    finally:
        kelfi.set_threads(0)
    assert all(np.array_equal(one[name], three[name]) for name in one)
