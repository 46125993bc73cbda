# %% [markdown]
# # Many observations, one fit
# Learn once, then ask for the posterior at other observations. Each costs a fraction of a fit.

# %%
import time

import numpy as np

import kelfi

problem = kelfi.problems.get("linear_gaussian")
theta, x = problem.simulate(300, seed=1)
began = time.perf_counter()
posterior = kelfi.fit(theta, x, problem.x_o, problem.prior)
print(f"learned in {time.perf_counter() - began:.2f} s")

# %%
others = problem.simulate(20, seed=2)
began = time.perf_counter()
means = np.array([posterior.condition(observed).mean() for observed in others.x])
print(f"{len(means)} more posteriors in {time.perf_counter() - began:.2f} s")

# %% [markdown]
# Held-out simulations also show whether the posterior is calibrated: each truth's place in its posterior should be uniform.

# %%
ranks = posterior.calibration(others.theta, others.x)
print("mean rank (0.5 is right):", ranks.mean(axis=0).round(2))
assert np.corrcoef(means.ravel(), others.theta.ravel())[0, 1] > 0.5
