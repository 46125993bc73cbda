"""More memory than there is: an exception with the figure before it is taken, and an interpreter that goes on."""

import numpy as np
import pytest

import kelfi


@pytest.fixture
def plain():
    rng = np.random.default_rng(1)
    theta = rng.normal(size=(100_000, 1))
    return theta, theta + 0.1 * rng.normal(size=theta.shape), [0.3], kelfi.Prior([kelfi.Normal(0, 1)])


@pytest.mark.parametrize("model, fitted", [("kernel-means", "100,000"), ("location-scale", "1,000"), ("auto", "100,000")])
def test_more_memory_than_there_is_is_refused_with_the_figure(plain, model, fitted, monkeypatch):
    """Of many simulations the location-scale model sees some only; `auto` then tries the other model, on all."""
    monkeypatch.setenv("KELFI_MEMORY", "100MB")
    with pytest.raises(kelfi.OutOfMemoryError, match=rf"needs about .* of memory for {fitted} simulations.*; 100 MB is available") as raised:
        kelfi.fit(*plain, model=model)
    assert isinstance(raised.value, MemoryError) and isinstance(raised.value, kelfi.KelfiError)
    assert "would fit" in str(raised.value)


def test_a_model_with_everything_given_is_refused_as_well(plain, monkeypatch):
    monkeypatch.setenv("KELFI_MEMORY", "100MB")
    with pytest.raises(MemoryError, match="the kernel means model needs about .* for 100,000 simulations"):
        kelfi.KernelMeansLikelihood(*plain, epsilon=0.1, length_scale=1.0, regularization=1e-3)


def test_a_word_that_is_nearly_one_is_answered_with_it():
    theta = np.linspace(-1, 1, 30)
    with pytest.raises(kelfi.InputError, match='did you mean "kernel-means"'):
        kelfi.fit(theta, theta, [0.3], kelfi.Prior([kelfi.Normal(0, 1)]), model="kernel_means")
    with pytest.raises(kelfi.InputError) as raised:
        kelfi.fit(theta, theta, [0.3], kelfi.Prior([kelfi.Normal(0, 1)]), model="xyzzy")
    assert "did you mean" not in str(raised.value)
