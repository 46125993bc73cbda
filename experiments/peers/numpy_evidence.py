"""Seconds per plain gradient step of ln q(y) in (ln epsilon, ln beta, ln lambda): the authors' procedure in NumPy/SciPy.

Usage: numpy_evidence.py SIMULATIONS PARAMETERS STATISTICS STEPS
"""
import sys
import time

import numpy as np
from scipy.linalg import cho_factor, cho_solve

m, dimension, statistics, steps = (int(argument) for argument in sys.argv[1:5])
rng = np.random.default_rng(1)
z = rng.standard_normal((m, dimension))
x = z[:, np.arange(statistics) % dimension] + 0.3 * rng.standard_normal((m, statistics))
y = x[0] + 0.1
log_epsilon = np.zeros(statistics)
log_beta = np.zeros(dimension)
log_lambda = np.log(1e-3)
differences = (z[:, None, :] - z[None, :, :]) ** 2
identity = np.eye(m)


def step():
    """One value and gradient, then a step uphill."""
    global log_epsilon, log_beta, log_lambda
    epsilon, beta, ridge = np.exp(log_epsilon), np.exp(log_beta), m * np.exp(log_lambda)
    gram = np.exp(-0.5 * differences @ (1 / beta**2))
    squares = (y - x) ** 2 / epsilon**2
    log_kappa = -0.5 * squares.sum(1) - np.log(epsilon).sum()
    kappa = np.exp(log_kappa - log_kappa.max())
    nu2 = beta**2 + 1
    mu = np.prod(beta / np.sqrt(nu2)) * np.exp(-0.5 * (z**2 / nu2).sum(1))
    factor = cho_factor(gram + ridge * identity, lower=True)
    v, w = cho_solve(factor, np.stack([kappa, mu], 1)).T
    q = kappa @ w
    outer = gram * np.outer(v, w)
    slopes = np.array([(outer * differences[:, :, d]).sum() / beta[d] ** 2 for d in range(dimension)])
    mu_slopes = mu[:, None] * (1 / nu2 + beta**2 * z**2 / nu2**2)
    log_epsilon = log_epsilon + 1e-3 * (w * kappa) @ (squares - 1) / q
    log_beta = log_beta + 1e-3 * (v @ mu_slopes - slopes) / q
    log_lambda = log_lambda - 1e-3 * ridge * (v @ w) / q


step()
start = time.perf_counter()
for _ in range(steps):
    step()
print((time.perf_counter() - start) / steps)
