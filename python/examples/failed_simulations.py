# %% [markdown]
# # Failed simulations stay
# A simulator that crashes for some parameters tells something: the observation did not come from there. An exception or a NaN
# becomes a row of NaN, with its message kept.

# %%
import numpy as np
from numpy.typing import NDArray

import kelfi


def population(theta: NDArray[np.float64], seed: int) -> list[float]:
    """Logarithm of a population after ten years of growth, unless it dies out."""
    size = 100.0
    for shock in np.random.default_rng(seed).normal(theta[0], 0.2, size=10):
        size *= np.exp(shock)
        if size < 20:
            raise RuntimeError("the population died out")
    return [float(np.log(size))]


prior = kelfi.Prior(growth=kelfi.Normal(0.0, 0.2))
simulations = kelfi.simulate(population, prior, 300, seed=1)
print(simulations)
row, message = next(iter(simulations.failures.items()))
print(f"for instance simulation {row}, growth {simulations.theta[row, 0]:.2f}: {message}")

# %%
posterior = kelfi.fit(*simulations, [np.log(60.0)], prior)
print(posterior)
assert len(simulations.failures) > 20
assert np.isnan(simulations.x).any(axis=1).sum() == len(simulations.failures)
