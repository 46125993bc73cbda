"""What a posterior answers, in shape and in number."""

import copy
import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kelfi

QUANTILES = [0.025, 0.5, 0.975]


def test_shapes_are_those_of_the_contract(posterior, data):
    theta = data[0]
    k = len(theta)
    assert posterior.value(theta).shape == posterior.pdf(theta).shape == posterior.log_prob(theta).shape == (k,)
    assert posterior.mean().shape == posterior.map().shape == posterior.std().shape == (2,)
    assert posterior.covariance().shape == posterior.interval(0.9).shape == (2, 2)
    assert posterior.quantile(QUANTILES).shape == (3, 2)
    assert posterior.quantile(0.5).shape == (2,)
    assert posterior.marginal("rate", np.linspace(0.1, 5, 11)).shape == (11,)
    assert posterior.relevance.shape == (3,)
    assert posterior.sample(7, seed=1).shape == posterior.sample((7,), seed=1, method="herding").shape == (7, 2)
    assert isinstance(posterior.log_evidence, float) and isinstance(posterior.negative_mass, float)
    assert isinstance(posterior.predictive(theta[:, 0]), float)
    assert posterior.predictive(theta).shape == (2,)


def test_densities_agree_with_each_other(posterior, data):
    theta = data[0]
    value, pdf = posterior.value(theta), posterior.pdf(theta)
    assert_allclose(np.log(pdf[pdf > 0]), posterior.log_prob(theta)[pdf > 0])
    assert ((pdf == 0) == (value <= 0)).all()
    grid = np.geomspace(0.01, 10, 2001)
    density = posterior.marginal("rate", grid)
    area = np.sum(0.5 * (density[1:] + density[:-1]) * np.diff(grid))
    assert abs(area - 1.0) < 1e-3
    assert_allclose(posterior.cdf("rate", posterior.quantile(QUANTILES)[:, 0]), QUANTILES, atol=1e-3)
    assert_array_equal(posterior.interval(0.95), posterior.quantile([0.025, 0.975]).T)


def test_samples_follow_the_quantiles_and_the_seed(posterior):
    samples = posterior.sample(4000, seed=1)
    below = (samples[:, None, :] < posterior.quantile(QUANTILES)[None]).mean(axis=0)
    # Joint samples and clipped marginals differ by the negative mass; sampling adds 3 standard errors of 1 %.
    assert np.abs(below - np.array(QUANTILES)[:, None]).max() < 0.03 + posterior.negative_mass
    assert_array_equal(samples, posterior.sample(4000, seed=1))
    assert (samples != posterior.sample(4000, seed=2)).any()
    assert (posterior.sample(10) != posterior.sample(10)).any()


def test_learned_hyperparameters_find_the_noise_statistic(posterior):
    hyperparameters = posterior.hyperparameters
    assert hyperparameters["epsilon"].shape == (3,) and hyperparameters["length_scale"].shape == (2,)
    assert posterior.relevance[2] < 0.5 * posterior.relevance[:2].min()
    assert {check.name for check in posterior.checks} >= {
        "negative_mass",
        "support",
        "effective_simulations",
        "hyperparameter_at_bound",
        "failed_simulations",
    }
    failed = next(check for check in posterior.checks if check.name == "failed_simulations")
    assert failed.value == 3 / 120 and failed.message.startswith("3 of 120")


@pytest.mark.parametrize("options", [{"ard": True}, {"ard": False}, {"objective": "mkml", "ard": False, "regularization": "tied"}])
def test_options_reach_the_search(prior, data, options):
    theta, x, x_o = data
    posterior = kelfi.fit(theta[:60], x[:60], x_o, prior, model="kernel-means", **options)
    found = posterior.hyperparameters
    spread = found["length_scale"]
    relevance = posterior.relevance
    assert (np.ptp(relevance) > 0.01 * relevance.max()) == options["ard"]
    if not options["ard"]:
        assert spread[0] == spread[1]
    assert found["objective"] == options.get("objective", "loo")
    if options.get("regularization") == "tied":
        assert_allclose(found["regularization"], 1e-3 * spread[0])


def test_fixed_hyperparameters_are_kept_and_agree_with_the_parts(prior, data):
    theta, x, x_o = data
    fixed = {"epsilon": [0.3, 0.2, 2.0], "length_scale": 0.4, "regularization": 1e-3}
    fitted = kelfi.fit(theta, x, x_o, prior, **fixed)
    parts = kelfi.KernelMeansLikelihood(theta, x, x_o, prior, **fixed).posterior()
    assert_array_equal(fitted.hyperparameters["epsilon"], fixed["epsilon"])
    assert_array_equal(fitted.mean(), parts.mean())
    assert fitted.hyperparameters["at_bound"] == [] and "objective" not in parts.hyperparameters


def test_condition_is_the_model_at_the_other_observation(posterior, prior, data):
    theta, x, _ = data
    other = [1.0, 1.9, 0.5]
    moved = posterior.condition(other)
    h = posterior.hyperparameters
    keys = ("epsilon", "length_scale", "regularization")
    rebuilt = kelfi.KernelMeansLikelihood(theta, x, other, prior, **{key: h[key] for key in keys}).posterior(seed=3)
    assert_array_equal(moved.mean(), rebuilt.mean())
    assert_array_equal(moved.x_o, other)
    assert moved.mean()[0] > posterior.mean()[0]


def test_saving_pickling_and_copying_keep_every_bit(posterior, tmp_path):
    posterior.save(tmp_path / "p.json")
    assert [path.name for path in tmp_path.iterdir()] == ["p.json"]
    json.loads((tmp_path / "p.json").read_text())
    others = [
        kelfi.load(tmp_path / "p.json"),
        kelfi.load(str(tmp_path / "p.json")),
        pickle.loads(pickle.dumps(posterior)),
        copy.copy(posterior),
        copy.deepcopy(posterior),
    ]
    for other in others:
        assert_array_equal(other.mean(), posterior.mean())
        assert_array_equal(other.sample(20, seed=1), posterior.sample(20, seed=1))
        assert other.checks == posterior.checks
        assert other.hyperparameters["score"] == posterior.hyperparameters["score"]
        assert repr(other) == repr(posterior)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 99}', '{"format": 1}', "\x00", '{"format": 1, "learned": {}}'])
def test_a_file_that_is_no_posterior_is_refused(text, tmp_path):
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(kelfi.InputError):
        kelfi.load(tmp_path / "p.json")


def test_a_tampered_file_is_refused_and_does_no_harm(posterior, tmp_path):
    good = json.loads(posterior.to_json())
    for key, value in [("offsets", [0, 10**9]), ("theta", {"rows": 3, "columns": 1, "values": [1.0]})]:
        bad = json.loads(posterior.to_json())
        bad["recorded"]["Statistics"][key] = value
        with pytest.raises(kelfi.KelfiError):
            kelfi.Posterior.from_json(json.dumps(bad))
    assert_array_equal(kelfi.Posterior.from_json(json.dumps(good)).mean(), posterior.mean())


def test_sbi_habits(prior, data, posterior):
    theta, x, x_o = data
    inference = kelfi.KELFI(prior)
    with pytest.raises(ValueError, match="append_simulations first"):
        inference.train(x_o)
    inference.append_simulations(theta[:50], x[:50]).append_simulations(theta[50:], x[50:])
    with pytest.raises(ValueError, match="train"):
        inference.build_posterior()
    inference.train(x_o, model="kernel-means", seed=3)
    assert_array_equal(inference.build_posterior().mean(), posterior.mean())
    assert_array_equal(inference.build_posterior([1.0, 1.9, 0.5]).mean(), posterior.condition([1.0, 1.9, 0.5]).mean())
    with pytest.raises(ValueError, match=r"\(5, 2\).*\(50, 3\)"):
        inference.append_simulations(theta[:5], x[:5, :2])


def test_figures_and_arviz(posterior, data):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    theta, x, _ = data
    for kind, options in [("pairs", {"truth": [1, 2]}), ("relevance", {}), ("profile", {}), ("calibration", {"theta": theta[:4], "x": x[:4]})]:
        figure = posterior.plot(kind, **options)
        figure.canvas.draw()
        matplotlib.pyplot.close(figure)
    with pytest.raises(ValueError, match="pairs"):
        posterior.plot("pie")


@pytest.mark.filterwarnings("ignore::FutureWarning", "error::UserWarning")
@pytest.mark.parametrize("package", ["arviz", "arviz_base"])
def test_arviz_old_and_new(either, package, monkeypatch):
    pytest.importorskip(package)
    from kelfi import _arviz

    monkeypatch.setattr(_arviz, "_package", lambda: __import__(package))
    found = either.to_arviz(num_samples=399, seed=1)
    chains = 4 if either.model == "kernel-means" else 100
    assert found["posterior"]["rate"].shape == (chains, 400 // chains)
    assert_array_equal(np.asarray(found["posterior"]["delay"]).T.ravel(), either.sample(400, seed=1)[:, 1])
    assert_array_equal(np.asarray(found["observed_data"]["x_o"]), either.x_o)


def test_arviz_of_the_new_kind_also_answers_to_the_old_name(posterior, monkeypatch):
    """As ArviZ 1.3 does, whose from_dict takes all groups in one dictionary."""
    from kelfi import _arviz

    class New:
        InferenceData = dict

        @staticmethod
        def from_dict(data, *, name=None):
            return data

    monkeypatch.setattr(_arviz, "_package", lambda: New)
    assert posterior.to_arviz(num_samples=8, seed=1)["posterior"]["rate"].shape == (4, 2)


def test_optional_packages_are_not_imported_with_kelfi():
    import subprocess
    import sys

    code = "import sys, kelfi; print([name for name in ('matplotlib', 'arviz', 'tqdm', 'dask', 'pandas', 'torch', 'xarray', 'multiprocessing', 'concurrent.futures') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"


def test_importing_kelfi_costs_little_beside_numpy():
    import subprocess
    import sys

    code = "import time, numpy; began = time.process_time(); import kelfi; print(time.process_time() - began)"
    seconds = [float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout) for _ in range(3)]
    assert min(seconds) < 0.1


def test_problems_have_priors_observations_and_answers():
    assert len(kelfi.problems.names()) == 18
    problem = pickle.loads(pickle.dumps(kelfi.problems.get("linear-gaussian")))
    theta, x = problem.simulate(10, seed=1)
    assert x.shape == (10, len(problem.statistic_names)) and theta.shape == (10, problem.prior.dimension)
    assert problem.reference_samples(5, seed=1).shape == theta[:5].shape
    assert problem.log_posterior(theta).shape == (10,)
    assert_array_equal(problem(theta[0], seed=3), problem(theta[0], seed=3))
    with pytest.raises(ValueError, match="blowfly"):
        kelfi.problems.get("blowflies")
