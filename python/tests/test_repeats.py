"""Outputs that are independent repeats of the same statistics."""

import json

import numpy as np
import pytest

import kelfi

REPEATS = 4
PRIOR = kelfi.Prior(mean=kelfi.Normal(0, 1), tilt=kelfi.Normal(0, 1))


def simulate(theta, noise):
    """Four pairs around the mean, with a correlation of tanh tilt."""
    correlation = np.tanh(theta[:, 1])[:, None]
    first, second = noise.normal(size=(2, len(theta), REPEATS))
    pairs = np.stack([first, correlation * first + np.sqrt(1 - correlation**2) * second], axis=-1)
    return (theta[:, :1, None] + pairs).reshape(len(theta), 2 * REPEATS)


@pytest.fixture(scope="module")
def simulations():
    theta = PRIOR.sample(200, seed=1)
    return theta, simulate(theta, np.random.default_rng(1))


X_O = simulate(np.array([[0.5, 1.0]]), np.random.default_rng(7))[0]


def test_fit_takes_repeats_and_keeps_them_in_a_file(simulations, tmp_path):
    theta, x = simulations
    posterior = kelfi.fit(theta, x, X_O, PRIOR, repeats=REPEATS, model="location-scale")
    apart = kelfi.fit(theta, x, X_O, PRIOR, repeats=1, model="location-scale")
    assert not np.array_equal(posterior.mean(), apart.mean())
    # Without a word they are recognised.
    recognised = kelfi.fit(theta, x, X_O, PRIOR, model="location-scale")
    assert np.array_equal(posterior.mean(), recognised.mean())
    assert "4 independent repeats of 2 statistics" in next(check.message for check in recognised.checks if check.name == "repeats")
    posterior.save(tmp_path / "p.json")
    saved = json.loads((tmp_path / "p.json").read_text())
    assert '"repeats": 4' in json.dumps(saved) or '"repeats":4' in json.dumps(saved)
    again = kelfi.load(tmp_path / "p.json")
    assert np.array_equal(again.sample(50, seed=2), posterior.sample(50, seed=2))
    # Another order of the repeats, here and there, changes nothing that could be seen.
    turned = np.roll(x.reshape(len(x), REPEATS, 2), 1, axis=1).reshape(x.shape)
    other = kelfi.fit(theta, turned, np.roll(X_O.reshape(REPEATS, 2), 2, axis=0).ravel(), PRIOR, repeats=REPEATS, model="location-scale")
    grid = PRIOR.sample(20, seed=3)
    assert np.allclose(other.log_prob(grid) - other.log_prob(grid)[0], posterior.log_prob(grid) - posterior.log_prob(grid)[0], atol=1e-5)


def test_one_repeat_is_none_to_the_bit(simulations):
    theta, x = simulations
    units = np.arange(1, x.shape[1] + 1)  # of their own, so that none are recognised
    one, none = (kelfi.fit(theta, x * units, X_O * units, PRIOR, model="location-scale", **more) for more in ({"repeats": 1}, {}))
    assert np.array_equal(one.sample(50, seed=1), none.sample(50, seed=1))


def test_rounds_and_infer_and_sbi_habits_take_repeats(simulations):
    def simulator(theta, seed):
        return simulate(theta[None], np.random.default_rng(seed))[0]

    options = {"num_simulations": 120, "rounds": 2, "seed": 1, "model": "location-scale"}
    found = kelfi.infer(simulator, PRIOR, X_O, repeats=REPEATS, **options)
    assert abs(found.mean()[0] - X_O.mean()) < 0.5
    rounds = kelfi.Rounds(PRIOR, X_O, 120, 2, repeats=REPEATS, seed=1, model="location-scale")
    noise = np.random.default_rng(4)
    while not rounds.finished:
        asked = rounds.ask()
        rounds.tell(asked, simulate(asked, noise))
    assert abs(rounds.posterior().mean()[0] - X_O.mean()) < 0.5
    theta, x = simulations
    habits = kelfi.KELFI(PRIOR).append_simulations(theta, x).train(X_O, repeats=REPEATS, model="location-scale").build_posterior()
    plain = kelfi.fit(theta, x, X_O, PRIOR, repeats=REPEATS, model="location-scale")
    assert np.array_equal(habits.mean(), plain.mean())


def test_the_kernel_means_model_says_that_it_takes_repeats_as_statistics(simulations):
    theta, x = simulations
    checks = {check.name: check for check in kelfi.fit(theta[:60], x[:60], X_O, PRIOR, repeats=REPEATS, model="kernel-means", ard=False).checks}
    assert "as 8 different statistics" in checks["repeats"].message


def test_what_cannot_be_repeats_is_refused(simulations):
    theta, x = simulations
    for repeats, words in ((3, "8 statistics, which are not 3 repeats"), (0, "between 1"), (2.5, "not a whole number")):
        with pytest.raises(kelfi.InputError, match=words):
            kelfi.fit(theta, x, X_O, PRIOR, repeats=repeats)
        with pytest.raises(kelfi.InputError, match=words):
            kelfi.Rounds(PRIOR, X_O, repeats=repeats)
    with pytest.raises(kelfi.InputError, match="rows are repeats already"):
        kelfi.fit(theta, x.reshape(len(x), 4, 2), X_O.reshape(4, 2), PRIOR, repeats=4)
