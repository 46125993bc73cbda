# %% [markdown]
# # A simulator of your own, on all cores
# A ball is thrown; where it lands and how long it flew are measured with some error. At which speed and angle did it leave the hand?

# %%
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

import kelfi


def throw(theta: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Distance in metres and time in seconds for a speed in m/s and an angle in degrees."""
    speed, angle = theta[0], np.radians(theta[1])
    time = 2 * speed * np.sin(angle) / 9.81
    noise = np.random.default_rng(seed).normal(size=2)
    return np.array([speed * np.cos(angle) * time, time]) + [0.5, 0.1] * noise


prior = kelfi.Prior(speed=kelfi.Normal(12.0, 3.0), angle=kelfi.Uniform(10.0, 60.0))

# %% [markdown]
# Any `concurrent.futures.Executor` will do: threads for simulators that wait or release the lock, processes for plain Python.
# The result is the same. With `store="throw.sqlite"` it would also survive an interruption.

# %%
with ThreadPoolExecutor(2) as executor:
    posterior = kelfi.infer(throw, prior, [14.7, 1.42], num_simulations=400, executor=executor, seed=7)
print(posterior)
print("most plausible:", dict(zip(posterior.names, posterior.map().round(2))))
print("model:", posterior.model)
print("relevance of distance and time:", posterior.relevance.round(1))

# %%
try:
    posterior.plot().savefig("throw.png")
except kelfi.MissingPackageError as error:
    print(error)
assert 11 < posterior.mean()[0] < 15 and 22 < posterior.mean()[1] < 45
