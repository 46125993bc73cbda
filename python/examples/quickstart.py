# %% [markdown]
# # Quickstart
# Twenty waiting times had a mean of 2. At what rate do the events occur?

# %%
import numpy as np
from numpy.typing import NDArray

import kelfi


def simulator(theta: NDArray[np.float64], seed: int) -> list[float]:
    """The mean of twenty waiting times. Stands for a program that takes minutes."""
    waits = np.random.default_rng(seed).exponential(1 / theta[0], size=20)
    return [float(np.log(waits.mean()))]


# %% [markdown]
# The prior, and the posterior: `infer` simulates in rounds, first from the prior, then near the posterior found so far. Everything is learned from
# the simulations. (With simulations of your own: `kelfi.fit(theta, x, x_o, prior)`.)

# %%
prior = kelfi.Prior(rate=kelfi.LogUniform(0.01, 10.0))
posterior = kelfi.infer(simulator, prior, [np.log(2.0)], num_simulations=300, seed=1)
print(posterior)

# %% [markdown]
# Can it be trusted? The checks say so, with what to do if not.

# %%
for check in posterior.checks:
    print(f"{check.status:5} {check.name}: {check.message}")

# %%
samples = posterior.sample(2000, seed=1)
low, high = posterior.interval(0.95)[0]
print(f"mean {samples.mean():.2f}; the exact answer is 0.50, with 95 % between 0.31 and 0.74")
assert abs(posterior.mean()[0] - 0.5) < 0.08 and low < 0.4 < 0.6 < high
