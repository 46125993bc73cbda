# %% [markdown]
# # From sbi to kelfi
# sbi's minimal example runs with two lines changed: the import, and the line that makes the inference.
#
# | sbi | kelfi |
# |---|---|
# | `from sbi.inference import NPE` | `from kelfi import KELFI` |
# | `inference = NPE(prior=prior)` | `inference = KELFI(prior=prior)` |
#
# `prior` may stay sbi's `BoxUniform` or a list of torch distributions. `append_simulations`, `train`, `build_posterior`, `sample`, `log_prob`,
# `sample_batched`, `map`, `potential` and `set_default_x` have the names and arguments you know, tensors in give tensors out, and
# sbi's `pairplot`, `run_sbc` and `run_tarp` take the posterior. Here everything is NumPy, so that the example runs without torch.

# %%
import numpy as np
from numpy.typing import NDArray

from kelfi import KELFI, BoxUniform

prior = BoxUniform(low=-2 * np.ones(3), high=2 * np.ones(3))


def simulator(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """All parameters at once, one a row."""
    return theta + 1.0 + 0.1 * np.random.default_rng(1).normal(size=theta.shape)


theta = prior.sample((300,), seed=1)
x = simulator(theta)

# %%
inference = KELFI(prior=prior)
inference.append_simulations(theta, x).train()
posterior = inference.build_posterior()

# %% [markdown]
# Samples at an observation. kelfi learns its few settings for the observation it is asked about, when it is asked; `train(x_o)` learns them
# once for x_o, and other observations are then quick (`run_sbc` asks about hundreds).

# %%
x_o = np.array([0.8, 0.6, 0.4])
samples = posterior.sample((2000,), x=x_o, seed=1)
print(samples.mean(axis=0), posterior.log_prob(samples[:3], x=x_o))
assert abs(samples.mean(axis=0) - (x_o - 1.0)).max() < 0.05

# %% [markdown]
# With a default observation there is more: intervals, checks, figures, and a table in notebooks.

# %%
posterior.set_default_x(x_o)
print(posterior)
for check in posterior.checks:
    print(check.status, check.name)
