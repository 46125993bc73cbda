# %% [markdown]
# # From sbi to kelfi
# The same steps under the same names. sbi's line stands above each of ours:
#
# | sbi | kelfi |
# |---|---|
# | `BoxUniform(low, high)` | `kelfi.Prior([kelfi.Uniform(-1, 1)] * 2)` |
# | `theta = prior.sample((1000,))` | `theta = prior.sample((1000,), seed=1)` |
# | `inference = NPE(prior)` | `inference = kelfi.KELFI(prior)` |
# | `inference.append_simulations(theta, x).train()` | `inference.append_simulations(theta, x).train(x_o)` |
# | `posterior = inference.build_posterior()` | `posterior = inference.build_posterior()` |
# | `posterior.sample((10_000,), x=x_o)` | `posterior.sample((10_000,), seed=1)` |
# | `posterior.log_prob(theta, x=x_o)` | `posterior.log_prob(theta)` |
#
# Two differences: hyperparameters are learned for an observation, so `train` takes it; and arrays are NumPy's, though tensors are read.

# %%
import numpy as np

import kelfi


def two_moons(theta, seed):
    """The crescent of sbi's benchmark."""
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(-np.pi / 2, np.pi / 2), rng.normal(0.1, 0.01)
    moon = [radius * np.cos(angle) + 0.25, radius * np.sin(angle)]
    return np.array(moon) + [-abs(theta[0] + theta[1]) / np.sqrt(2), (-theta[0] + theta[1]) / np.sqrt(2)]


prior = kelfi.Prior([kelfi.Uniform(-1, 1)] * 2)
theta, x = kelfi.simulate(two_moons, prior, 400, seed=1)

# %%
inference = kelfi.KELFI(prior)
inference.append_simulations(theta, x).train([0.0, 0.0])
posterior = inference.build_posterior()
samples = posterior.sample((2000,), seed=1)
print(posterior)
# Two moons: one on each side of the diagonal.
side = (samples.sum(axis=1) > 0).mean()
print(f"{side:.0%} of the samples lie in one moon, the others in the other")
assert 0.2 < side < 0.8
