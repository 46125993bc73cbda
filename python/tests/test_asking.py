"""Other questions to the same simulations, foreign priors, and the same numbers as the command line."""

import json
import os
import subprocess
import types
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import kelfi

ROOT = Path(__file__).resolve().parents[2]
OTHER = [0.6, 1.9, 0.5]


def test_samples_and_densities_at_another_observation_are_those_of_condition(either):
    at = either.condition(OTHER)
    assert isinstance(at, kelfi.Posterior) and at.model == either.model
    np.testing.assert_array_equal(either.sample(50, seed=2, x=OTHER), at.sample(50, seed=2))
    assert not np.array_equal(either.sample(50, seed=2), at.sample(50, seed=2))
    theta = either.prior.sample(20, seed=4)
    np.testing.assert_array_equal(either.log_prob(theta, x=OTHER), at.log_prob(theta))
    batch = either.sample_batched(30, [OTHER, either.x_o], seed=5)
    assert batch.shape == (30, 2, 2)
    np.testing.assert_array_equal(batch[:, 0], at.sample(30, seed=5))
    np.testing.assert_array_equal(batch[:, 1], either.condition(either.x_o).sample(30, seed=5))
    with pytest.raises(ValueError, match="statistics"):
        either.sample_batched(30, [[1.0, 2.0]])


def test_what_condition_gives_offers_everything_that_a_fit_does(either):
    at = either.condition(OTHER)
    # Where nothing was learned, nothing can have ended on a bound.
    assert {check.name for check in at.checks} | {"hyperparameter_at_bound"} == {check.name for check in either.checks}
    assert at.summary().keys() == either.summary().keys()
    again = kelfi.Posterior.from_json(at.to_json())
    np.testing.assert_array_equal(again.sample(20, seed=1), at.sample(20, seed=1))
    other = at.with_prior(kelfi.Prior(rate=kelfi.LogUniform(0.005, 20.0), delay=kelfi.Normal(2.0, 0.6)))
    np.testing.assert_array_equal(other.x_o, OTHER)


def test_another_prior_is_a_fit_with_it(either, data):
    theta, x, x_o = data
    prior = kelfi.Prior(rate=kelfi.LogUniform(0.01, 10.0), delay=kelfi.Normal(2.1, 0.4))
    found, expected = either.with_prior(prior), kelfi.fit(theta, x, x_o, prior, model=either.model, seed=3)
    np.testing.assert_array_equal(found.sample(40, seed=1), expected.sample(40, seed=1))
    loaded = kelfi.Posterior.from_json(either.to_json()).with_prior(prior)
    np.testing.assert_array_equal(loaded.sample(40, seed=1), expected.sample(40, seed=1))


def test_a_prior_that_leaves_out_or_goes_beyond_simulations_says_so(location_scale):
    narrow = kelfi.Prior(rate=kelfi.LogUniform(0.1, 10.0), delay=kelfi.Normal(2.0, 0.5))
    with pytest.warns(UserWarning, match="of 120 simulations are left out"):
        assert len(location_scale.with_prior(narrow).simulations[0]) < 120
    wide = location_scale.with_prior(kelfi.Prior(rate=kelfi.LogUniform(1e-6, 1e4), delay=kelfi.Normal(2.0, 0.5)))
    told = {check.name: check for check in wide.checks}["prior_draws"]
    assert told.status != "ok" and "narrower region than the prior" in told.message
    with pytest.raises(ValueError, match="none of the 120 simulations"):
        location_scale.with_prior(kelfi.Prior(rate=kelfi.Uniform(-2, -1), delay=kelfi.Normal(2.0, 0.5)))
    with pytest.raises(ValueError, match="parameters are a but"):
        location_scale.with_prior(kelfi.Prior(a=kelfi.Normal(0, 1)))


def test_a_box_is_a_prior_of_uniforms():
    box = kelfi.BoxUniform([0.0, -1.0], [1.0, 3.0])
    assert box == kelfi.Prior([kelfi.Uniform(0, 1), kelfi.Uniform(-1, 3)])
    assert box.names == ["theta_1", "theta_2"]
    with pytest.raises(ValueError, match="low has 1 values and high 2"):
        kelfi.BoxUniform([0.0], [1.0, 2.0])


FROZEN = [
    stats.norm(1.0, 2.0),
    stats.uniform(loc=-1, scale=3),
    stats.lognorm(0.5, scale=np.exp(1.2)),
    stats.loguniform(0.1, 10.0),
    stats.gamma(2.5, scale=0.5),
    stats.invgamma(3.0, scale=2.0),
    stats.beta(2.0, 3.0),
    stats.expon(scale=0.25),
    stats.t(4, 1.0, 2.0),
    stats.truncnorm(-1.0, 2.0, loc=0.5, scale=2.0),
    stats.weibull_min(1.5, scale=2.0),
    stats.cauchy(0.5, 2.0),
    stats.halfnorm(scale=1.5),
    stats.laplace(0.3, 0.7),
    stats.triang(0.25, loc=-1, scale=4),
]


@pytest.mark.parametrize("frozen", FROZEN, ids=lambda frozen: frozen.dist.name)
def test_a_frozen_scipy_distribution_is_the_family_with_the_same_density(frozen):
    points = frozen.ppf([0.01, 0.3, 0.5, 0.8, 0.99])
    np.testing.assert_allclose(kelfi.Prior(a=frozen).log_prob(points[:, None]), frozen.logpdf(points), rtol=1e-9)
    np.testing.assert_allclose(kelfi.Prior([frozen]).quantile([0.3, 0.8])[:, 0], points[[1, 3]], rtol=1e-9)


def test_foreign_distributions_without_a_family_are_refused_by_name():
    with pytest.raises(ValueError, match="scipy.stats.vonmises is not a family that kelfi has"):
        kelfi.Prior(a=stats.vonmises(1.0))
    with pytest.raises(ValueError, match="loc = 2.0"):
        kelfi.Prior(a=stats.gamma(2.0, loc=2.0))
    with pytest.raises(ValueError, match="not a single number"):
        kelfi.Prior(a=stats.norm([0.0, 1.0], 1.0))
    with pytest.raises(ValueError, match="a family such as"):
        kelfi.Prior(a="normal")


def torch_like(name, bases=(), **settings):
    """A distribution with torch's names and attributes."""
    made = types.new_class(name, bases)
    made.__module__ = "torch.distributions." + name.lower()
    value = made()
    for key, setting in settings.items():
        setattr(value, key, setting)
    return value


def test_torch_distributions_are_taken_by_their_attributes():
    normal = torch_like("Normal", loc=np.array(1.0), scale=np.array(2.0))
    assert kelfi.Prior(a=normal) == kelfi.Prior(a=kelfi.Normal(1, 2))
    several = torch_like("Uniform", low=np.array([0.0, 1.0]), high=np.array([2.0, 3.0]))
    box = torch_like("Independent", base_dist=several, reinterpreted_batch_ndims=1)
    assert kelfi.Prior(box) == kelfi.BoxUniform([0, 1], [2, 3])
    with pytest.raises(ValueError, match="2 dimensions"):
        kelfi.Prior(a=several)
    with pytest.raises(ValueError, match="torch's Dirichlet is not a family"):
        kelfi.Prior(a=torch_like("Dirichlet"))


@pytest.mark.parametrize("model", ["kernel-means", "location-scale", "auto"])
def test_checks_and_summary_are_those_of_the_command_line_number_for_number(model, data, prior, tmp_path):
    command = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "kelfi"
    if not command.exists():
        pytest.skip("the command is not built")
    theta, x, x_o = data
    names = ["level", "lag", "noise"]
    (tmp_path / "p.toml").write_text(
        "seed = 3\n[[parameter]]\nname = 'rate'\nprior = { log_uniform = { low = 0.01, high = 10.0 } }\n"
        "[[parameter]]\nname = 'delay'\nprior = { normal = { mean = 2.0, std = 0.5 } }\n"
        f"[observation]\nvalues = {{ {', '.join(f'{n} = {float(y)!r}' for n, y in zip(names, x_o))} }}\n"
    )
    np.savez(tmp_path / "data.npz", **dict(zip(["rate", "delay"], theta.T)), **dict(zip(names, x.T)))
    for arguments in (["import", "p.toml", "data.npz"], ["run", "p.toml", "--model", model]):
        subprocess.run([str(command), *arguments, "-q"], cwd=tmp_path, check=False)
    written = json.loads((tmp_path / "p" / "summary.json").read_text())
    posterior = kelfi.fit(theta, x, x_o, prior, model=model, seed=3, statistics=names)
    for name, numbers in posterior.summary().items():
        assert {**numbers, "calibrated_95": list(numbers["calibrated_95"])} == written["parameters"][name]
    assert [vars(check) for check in posterior.checks] == written["checks"]
