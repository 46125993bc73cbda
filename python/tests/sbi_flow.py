"""sbi's minimal example with two lines changed, then sbi's own tools on the posterior. Run by test_sbi.py where sbi is installed."""

import warnings

import matplotlib

matplotlib.use("agg")
warnings.filterwarnings("ignore")

import torch
from sbi.analysis import pairplot
from sbi.diagnostics import check_sbc, check_tarp, run_sbc, run_tarp
from sbi.utils import BoxUniform, MultipleIndependent

from kelfi import KELFI  # instead of: from sbi.inference import NPE

torch.manual_seed(1)
prior = BoxUniform(low=-2 * torch.ones(3), high=2 * torch.ones(3))


def simulator(theta):
    return theta + 1.0 + torch.randn_like(theta) * 0.1


num_simulations = 400
theta = prior.sample((num_simulations,))
x = simulator(theta)

inference = KELFI(prior=prior)  # instead of: NPE(prior=prior)
inference = inference.append_simulations(theta, x)
density_estimator = inference.train()
posterior = inference.build_posterior(density_estimator)

theta_true = torch.tensor([[0.5, -0.5, 1.0]])
x_o = simulator(theta_true)
samples = posterior.sample((2000,), x=x_o, show_progress_bars=False)
assert isinstance(samples, torch.Tensor) and samples.shape == (2000, 3) and samples.dtype == torch.float32
assert (samples.mean(0) - (x_o[0] - 1.0)).abs().max() < 0.05 and 0.07 < samples.std(0).min() and samples.std(0).max() < 0.13
assert posterior.log_prob(samples[:5], x=x_o).shape == (5,) and posterior.map(x=x_o).shape == (3,)
figure, axes = pairplot(samples, points=theta_true, limits=[[-2, 2]] * 3, figsize=(4, 4))
assert len(axes) == 3

# Calibration asks about a hundred observations: learned once, for x_o.
focused = inference.train(x_o).build_posterior()
truths = prior.sample((100,))
observations = simulator(truths)
ranks, averaged = run_sbc(truths, observations, focused, num_posterior_samples=200, show_progress_bar=False)
assert ranks.shape == (100, 3) and averaged.shape == (100, 3)
values = check_sbc(ranks, truths, averaged, num_posterior_samples=200)
assert (values["ks_pvals"] > 1e-3).all(), values
coverage, levels = run_tarp(truths, observations, focused, num_posterior_samples=200, show_progress_bar=False)
assert check_tarp(coverage, levels)[1] > 1e-3
density, _ = run_sbc(truths[:20], observations[:20], focused, num_posterior_samples=100, reduce_fns=focused.log_prob, show_progress_bar=False)
assert density.shape[0] == 20

mixed = MultipleIndependent([torch.distributions.Uniform(torch.zeros(1), torch.ones(1)), torch.distributions.Gamma(torch.ones(1), torch.ones(1))])
assert repr(KELFI(mixed)._prior) == "Prior(theta_1=Uniform(low=0.0, high=1.0), theta_2=Gamma(shape=1.0, rate=1.0))"
correlated = torch.distributions.MultivariateNormal(torch.zeros(2), torch.tensor([[1.0, 0.5], [0.5, 1.0]]))
assert KELFI(correlated)._prior.names == ["theta_1", "theta_2"]
print("sbi's tools take the posterior")
