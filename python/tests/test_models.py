"""Either model through the same door: choice, answers, written form, refusals."""

import copy
import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kelfi

KEYS = {"chosen", "reason", "kernel_means", "location_scale", "difference"}


@pytest.fixture(scope="module")
def auto(prior, data):
    theta, x, x_o = data
    return kelfi.fit(theta, x, x_o, prior, seed=3)


def test_each_model_is_the_one_asked_for_and_has_nothing_to_compare(posterior, location_scale):
    assert (posterior.model, location_scale.model) == ("kernel-means", "location-scale")
    assert posterior.hyperparameters["model"] == "kernel-means"
    assert posterior.comparison is None and location_scale.comparison is None
    assert "kernel-means" in repr(posterior) and "location-scale" in repr(location_scale)


def test_auto_takes_the_model_with_the_higher_score_and_says_so(auto, posterior, location_scale):
    comparison = auto.comparison
    assert comparison.keys() == KEYS
    mean, error = comparison["difference"]
    assert_allclose(mean, comparison["location_scale"][0] - comparison["kernel_means"][0], rtol=1e-9)
    assert error > 0 and f"{abs(mean):.2f}" in comparison["reason"]
    assert auto.model == comparison["chosen"] == ("location-scale" if mean > 0 else "kernel-means")
    # Linear and Gaussian with little noise: what regressions are made for.
    assert auto.model == "location-scale" and comparison["location_scale"][0] == location_scale.hyperparameters["score"]
    assert_array_equal(auto.sample(20, seed=1), location_scale.sample(20, seed=1))
    comparison.clear()
    assert auto.comparison.keys() == KEYS


def test_auto_with_a_tolerance_given_is_kernel_means(prior, data):
    theta, x, x_o = data
    fixed = kelfi.fit(theta, x, x_o, prior, epsilon=0.3, length_scale=0.4, regularization=1e-3)
    assert fixed.model == fixed.comparison["chosen"] == "kernel-means"
    assert "tolerance" in fixed.comparison["reason"] and fixed.comparison["difference"] is None


def test_both_models_find_the_parameters(either):
    samples = either.sample(2000, seed=1)
    # Exact means (conjugate normal). Kernel means of 120 simulations are wide and off centre by some of their own width.
    for found, exact in [(np.log(samples[:, 0]), 0.3), (samples[:, 1], 2.192)]:
        assert abs(found.mean() - exact) < 0.5 * found.std()
    low, high = either.interval(0.95).T
    assert (low < [np.exp(0.3), 2.192]).all() and ([np.exp(0.3), 2.192] < high).all()
    assert_allclose(either.mean()[1], samples[:, 1].mean(), atol=0.2 * either.std()[1])


def test_calibrated_intervals_of_either_model_hold_one_another_and_the_truth(either):
    half, most = either.interval(0.5, calibrated=True), either.interval(0.95, calibrated=True)
    assert half.shape == most.shape == (2, 2)
    assert (most[:, 0] <= half[:, 0]).all() and (half[:, 0] < half[:, 1]).all() and (half[:, 1] <= most[:, 1]).all()
    assert (most[:, 0] < [np.exp(0.3), 2.192]).all() and ([np.exp(0.3), 2.192] < most[:, 1]).all()
    assert_array_equal(most, either.interval(0.95, calibrated=True))
    with pytest.raises(ValueError, match="between 0 and 1"):
        either.interval(1.0, calibrated=True)


def test_calibrated_intervals_are_wider_where_a_tolerance_is_far_too_small(prior, data):
    theta, x, x_o = data
    narrow = kelfi.fit(theta, x, x_o, prior, epsilon=0.02, length_scale=0.15, regularization=1e-4)
    own, calibrated = np.diff(narrow.interval(0.8)), np.diff(narrow.interval(0.8, calibrated=True))
    assert (calibrated > 1.2 * own).all()
    samples = narrow.sample(2000, seed=1, calibrated=True)
    assert_allclose(np.quantile(samples, [0.1, 0.9], axis=0).T, narrow.interval(0.8, calibrated=True), rtol=0.15)
    # One rising map for every parameter: the order stays, though close neighbours may become equal.
    order = np.argsort(narrow.sample(2000, seed=1)[:, 0])
    assert (np.diff(samples[order, 0]) >= 0).all()


def test_simulations_narrower_than_the_prior_are_told(prior, data):
    theta, x, x_o = data
    inside = theta[:, 1] > np.median(theta[:, 1])
    told = {check.name: check for check in kelfi.fit(theta[inside], x[inside], x_o, prior).checks}
    assert told["prior_draws"].status != "ok" and "narrower region than the prior" in told["prior_draws"].message
    all_equal = np.repeat(theta[:1], len(theta), axis=0)
    with pytest.raises(kelfi.InputError, match="made at the same parameters"):
        kelfi.fit(all_equal, x, x_o, prior)


def test_the_location_scale_posterior_is_near_the_exact_one(location_scale):
    samples = location_scale.sample(4000, seed=1)
    # Rate is log-uniform, wide beside the noise: ln rate ~ N(0.3, 0.2²). Delay: N(2, ½²) with noise 0.1 at 2.2.
    precision = 1 / 0.1**2 + 1 / 0.5**2
    exact = [(0.3, 0.2), ((2.2 / 0.1**2 + 2.0 / 0.5**2) / precision, precision**-0.5)]
    for found, (mean, std) in zip([np.log(samples[:, 0]), samples[:, 1]], exact):
        # 117 simulations tell mean and spread to about a tenth of a standard deviation.
        assert abs(found.mean() - mean) < 0.35 * std
        assert 0.7 < found.std() / std < 1.4


def test_location_scale_hyperparameters(location_scale):
    found = location_scale.hyperparameters
    assert found.keys() == {"model", "objective", "score", "score_standard_error", "epsilon", "shape", "statistics", "at_bound"}
    assert (found["model"], found["objective"]) == ("location-scale", "loo")
    assert found["score"] > 1.0 and found["score_standard_error"] > 0
    assert found["epsilon"].shape == (3,) and (found["epsilon"] > 0).all()
    assert found["shape"].keys() == {"length_scale", "ridge", "tolerance", "growth", "centres"} and 0 < found["shape"]["tolerance"] <= 1
    assert [one["index"] for one in found["statistics"]] == [0, 1, 2]
    for one in found["statistics"]:
        assert one.keys() == {"index", "scale", "mean", "spread_varies", "heavy_tails", "explained"}
        assert one["scale"] in ("identity", "square root", "logarithm", "asinh")
        assert one["mean"] in ("straight", "bumps", "sigmoids") and isinstance(one["spread_varies"], bool)
    # ln of a log-uniform rate is a straight line on the scale on which its prior is flat, a normal delay anyway.
    assert [one["mean"] for one in found["statistics"][:2]] == ["straight", "straight"]
    explained = [one["explained"] for one in found["statistics"]]
    assert min(explained[:2]) > 0.9 and explained[2] < 0.1
    signal_over_noise = np.sqrt(np.clip(explained, 0, None) / (1 - np.clip(explained, 0, None)))
    assert_allclose(location_scale.relevance, signal_over_noise, rtol=1e-9)


def test_a_statistic_that_bends_is_told(prior, data):
    theta, x, x_o = data
    # ln of the rate is negative or positive: its square falls and rises on any scale.
    found = kelfi.fit(theta, x[:, :1] ** 2, x_o[:1] ** 2, prior, model="location-scale")
    assert found.hyperparameters["statistics"][0]["mean"] in ("bumps", "sigmoids")


def test_a_statistic_that_never_varies_takes_no_part(prior, data):
    theta, x, x_o = data
    still = np.where(np.isnan(x[:, :1]), np.nan, 4.0)
    found = kelfi.fit(theta, np.hstack([still, x]), [4.0, *x_o], prior, model="location-scale")
    assert [one["index"] for one in found.hyperparameters["statistics"]] == [1, 2, 3]
    assert found.relevance[0] == 0.0 and found.relevance.shape == (4,)


def test_checks_of_either_and_chains_where_there_are_chains(posterior, location_scale):
    names = [{check.name for check in one.checks} for one in (posterior, location_scale)]
    common = {"negative_mass", "support", "effective_simulations", "hyperparameter_at_bound", "failed_simulations"}
    common |= {"range", "calibration", "predictive"}
    assert common <= names[0] and common | {"chains"} <= names[1] and "chains" not in names[0]
    failed = next(check for check in location_scale.checks if check.name == "failed_simulations")
    assert failed.value == 3 / 120 and failed.message.startswith("3 of 120")


@pytest.mark.parametrize("model", ["kernel-means", "location-scale"])
def test_what_the_simulator_cannot_produce_fails_by_name(prior, data, model):
    theta, x, x_o = data
    still = np.where(np.isnan(x[:, :1]), np.nan, 4.0)
    for observed, said in (([4.5, *x_o], "it is 4 in every simulation"), ([4.0, x_o[0], 1e4 * x_o[1], x_o[2]], "the simulations lie")):
        found = kelfi.fit(theta, np.hstack([still, x]), observed, prior, model=model)
        check = next(check for check in found.checks if check.name == "range")
        assert check.status == "fail" and said in check.message, check


def test_the_evidence_has_the_error_of_having_these_simulations(posterior, location_scale):
    assert 0.01 < posterior.log_evidence_error < 1.0
    assert 0.01 < location_scale.log_evidence_error < 1.0
    # Density of x_o: ln rate uniform over ln 1000, delay's statistic N(2, ½² + 0.1²), noise N(0, 1).
    variance = 0.5**2 + 0.1**2
    exact = -np.log(np.log(1000)) - 0.5 * (0.2**2 / variance + np.log(2 * np.pi * variance)) - 0.5 * np.log(2 * np.pi)
    assert abs(location_scale.log_evidence - exact) < 0.3


def test_where_simulations_fail_is_avoided(prior):
    theta = prior.sample(200, seed=5)
    x = theta[:, 1:] + 0.3 * np.random.default_rng(5).normal(size=(200, 1))
    fails = theta[:, 0] > 1.0
    some = np.where(fails[:, None], np.nan, x)
    whole, partly = (kelfi.fit(theta, values, [2.1], prior, model="location-scale") for values in (x, some))
    share = [(posterior.sample(2000, seed=1)[:, 0] > 1.0).mean() for posterior in (whole, partly)]
    # The statistic says nothing about the rate: a third of the prior lies above 1.
    assert abs(share[0] - 1 / 3) < 0.1 and share[1] < 0.1


def test_saving_pickling_and_copying_keep_every_bit_of_location_scale(auto, location_scale, tmp_path):
    for original in (auto, location_scale):
        original.save(tmp_path / "p.json")
        assert json.loads((tmp_path / "p.json").read_text())["format"] == 2
        for other in (kelfi.load(tmp_path / "p.json"), pickle.loads(pickle.dumps(original)), copy.deepcopy(original)):
            assert (other.model, other.comparison) == (original.model, original.comparison)
            for method in ("independent", "herding", "slice"):
                assert_array_equal(other.sample(20, seed=1, method=method), original.sample(20, seed=1, method=method))
            assert other.checks == original.checks and repr(other) == repr(original)
            assert other.log_evidence == original.log_evidence
            assert_array_equal(other.relevance, original.relevance)
            assert other.hyperparameters.keys() == original.hyperparameters.keys()
            assert other.hyperparameters["score"] == original.hyperparameters["score"]
            assert other.hyperparameters["statistics"] == original.hyperparameters["statistics"]


def test_a_file_of_the_first_format_still_loads(posterior):
    written = json.loads(posterior.to_json())
    assert written["format"] == 1 and written["hyperparameters"].keys() == {"epsilon", "length_scale", "regularization", "family"}
    # Written before there was a choice of models.
    del written["comparison"]
    old = kelfi.Posterior.from_json(json.dumps(written))
    assert old.model == "kernel-means" and old.comparison is None
    assert_array_equal(old.sample(20, seed=1), posterior.sample(20, seed=1))
    assert old.hyperparameters["optima"][0]["epsilon"].shape == (3,)


@pytest.mark.parametrize("key, value", [("comparison", 3), ("comparison", {}), ("learned", 3), ("hyperparameters", {})])
def test_a_tampered_file_of_location_scale_is_refused(location_scale, key, value):
    bad = {**json.loads(location_scale.to_json()), key: value}
    with pytest.raises(kelfi.InputError):
        kelfi.Posterior.from_json(json.dumps(bad))


def test_conditioning_is_the_same_fit_at_the_other_observation(auto, location_scale):
    other = [1.0, 1.9, 0.5]
    moved = auto.condition(other)
    assert moved.model == "location-scale" and moved.comparison is None
    assert_array_equal(moved.x_o, other)
    assert moved.hyperparameters["score"] is None and moved.hyperparameters["statistics"] == auto.hyperparameters["statistics"]
    samples = moved.sample(2000, seed=1)
    assert abs(np.log(samples[:, 0]).mean() - 1.0) < 0.15 and abs(samples[:, 1].mean() - 1.904) < 0.06
    assert_array_equal(moved.sample(20, seed=1), location_scale.condition(other).sample(20, seed=1))
    assert_array_equal(moved.condition(auto.x_o).sample(20, seed=1), auto.sample(20, seed=1))


def test_held_out_simulations_lie_anywhere_in_the_location_scale_posterior(location_scale, prior):
    theta = prior.sample(30, seed=9)
    noise = np.random.default_rng(9).normal(size=(30, 3))
    x = np.column_stack([np.log(theta[:, 0]), theta[:, 1], np.zeros(30)]) + [0.2, 0.1, 1.0] * noise
    ranks = location_scale.calibration(theta, x)
    # A mean of 30 uniform numbers has a standard deviation of 0.053.
    assert ranks.shape == (30, 2) and np.abs(ranks.mean(axis=0) - 0.5).max() < 0.2


def test_the_class_passes_the_model_on(prior, data, location_scale):
    theta, x, x_o = data
    trained = kelfi.KELFI(prior).append_simulations(theta, x).train(x_o, model="location-scale", seed=3)
    assert_array_equal(trained.build_posterior().sample(20, seed=1), location_scale.sample(20, seed=1))
    other = [1.0, 1.9, 0.5]
    assert_array_equal(trained.build_posterior(other).sample(20, seed=1), location_scale.condition(other).sample(20, seed=1))


def test_infer_passes_the_model_on():
    def simulator(theta, seed):
        return theta + 0.1 * np.random.default_rng(seed).normal(size=1)

    one = kelfi.Prior(a=kelfi.Normal(0, 1))
    found = kelfi.infer(simulator, one, [0.5], num_simulations=60, seed=1, model="location-scale")
    assert found.model == "location-scale" and abs(found.mean()[0] - 0.495) < 0.06


def test_shapes_and_densities_of_location_scale(location_scale, data):
    theta = data[0]
    pdf = location_scale.pdf(theta)
    assert pdf.shape == (120,) and (pdf >= 0).all()
    assert_allclose(np.log(pdf[pdf > 0]), location_scale.log_prob(theta)[pdf > 0])
    grid = np.geomspace(0.01, 10, 2001)
    density = location_scale.marginal("rate", grid)
    assert abs(np.sum(0.5 * (density[1:] + density[:-1]) * np.diff(grid)) - 1.0) < 0.02
    assert_allclose(location_scale.cdf("rate", location_scale.quantile([0.1, 0.5, 0.9])[:, 0]), [0.1, 0.5, 0.9], atol=0.01)
    assert location_scale.super_samples(8, seed=1).shape == (8, 2)
    assert location_scale.embedding(theta[:5]).shape == (5,)


def test_what_only_kernel_means_has_is_refused_with_advice(location_scale):
    with pytest.raises(kelfi.InputError, match='model="kernel-means"'):
        location_scale.profile([0.1, 1.0], [0.5, 1.0])


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 0.3},
        {"length_scale": 0.3},
        {"regularization": 1e-3},
        {"objective": "mkml"},
        {"kernel": "matern52"},
        {"ard": True},
        {"solver": "exact"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_options_of_kernel_means_are_refused_with_location_scale(prior, data, options):
    theta, x, x_o = data
    with pytest.raises(kelfi.InputError, match=f'{next(iter(options))}, which only the kernel means.*\n.*model="kernel-means"'):
        kelfi.fit(theta, x, x_o, prior, model="location-scale", **options)


@pytest.mark.parametrize("model", ["neural", "", None, 3, ["auto"]])
def test_an_unknown_model_is_answered_with_all_there_are(prior, data, model):
    theta, x, x_o = data
    with pytest.raises(kelfi.InputError, match='"auto" or "location-scale" or "kernel-means"'):
        kelfi.fit(theta, x, x_o, prior, model=model)


def test_an_observation_outside_a_statistics_scale_is_refused_or_answered(prior):
    theta = prior.sample(100, seed=2)
    x = theta[:, :1] * np.exp(0.3 * np.random.default_rng(2).normal(size=(100, 1)))
    fitted = kelfi.fit(theta, x, [1.0], prior, model="location-scale")
    assert fitted.hyperparameters["statistics"][0]["scale"] == "logarithm"
    with pytest.raises(kelfi.InputError, match="observed statistic 1"):
        fitted.condition([-5.0])


def test_a_prior_known_by_draws_is_left_to_kernel_means(prior, data):
    theta, x, x_o = data
    draws = kelfi.Prior.from_samples(prior.sample(500, seed=2), names=["rate", "delay"])
    with pytest.raises(kelfi.InferenceError, match="given only as draws"):
        kelfi.fit(theta, x, x_o, draws, model="location-scale")
    found = kelfi.fit(theta, x, x_o, draws, ard=False)
    assert found.model == "kernel-means" and "draws" in found.comparison["reason"]
    with pytest.raises(kelfi.InferenceError, match="slice sampling"):
        found.sample(10, method="slice")


def test_slice_samples_of_kernel_means_agree_with_independent_ones(posterior):
    independent = posterior.sample(10_000, seed=1)
    samples, r_hat, effective = posterior.slice_samples(10_000, seed=2)
    assert samples.shape == (10_000, 2) and r_hat.shape == effective.shape == (2,)
    assert (r_hat < 1.05).all() and (effective > 1000).all() and (effective <= 10_000).all()
    # In the coordinates the chains move in, where neither tail is heavy.
    for one, other, worth in zip(np.c_[np.log(independent[:, 0]), independent[:, 1]].T, np.c_[np.log(samples[:, 0]), samples[:, 1]].T, effective):
        error = one.std() * np.sqrt(1 / 10_000 + 1 / worth)
        assert abs(one.mean() - other.mean()) < 4 * error
        # The standard deviation's own standard error, with its fourth moment.
        kurtosis = np.mean((one - one.mean()) ** 4) / one.var() ** 2
        assert abs(one.std() - other.std()) < 4 * error * np.sqrt((kurtosis - 1) / 4)


def test_slice_samples_follow_the_seed_and_are_what_sample_gives(either):
    found = either.slice_samples(50, seed=4)
    assert isinstance(found, kelfi.SliceSamples)
    assert_array_equal(found.samples, either.sample(50, seed=4, method="slice"))
    assert_array_equal(found.samples, either.sample((50,), seed=4, method="slice"))
    assert (found.samples != either.slice_samples(50, seed=5).samples).any()
    assert either.slice_samples(0, seed=1).samples.shape == (0, 2)
    with pytest.raises(kelfi.InputError, match='"independent" or "herding" or "slice"'):
        either.sample(5, method="gibbs")


def test_figures_of_location_scale(location_scale):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    for kind, words in [("pairs", "rate"), ("relevance", "signal / noise")]:
        figure = location_scale.plot(kind)
        figure.canvas.draw()
        assert words in [axis.get_xlabel() for axis in figure.axes]
        matplotlib.pyplot.close(figure)
    with pytest.raises(kelfi.InputError, match="kernel means"):
        location_scale.plot("profile")
