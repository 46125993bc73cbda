"""Kernel ABC, kernel Bayes' rule and K2-ABC in NumPy from their formulas, and scikit-learn's Gaussian processes, on fixed data.

Usage: arena_values.py > crates/kelfi-baselines/tests/peers/values.json   (needs numpy and scikit-learn)
"""
import json
import sys

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

# An odd number of distances has one middle.
M = 31


def data():
    """Two parameters, three statistics of them with a bend and noise, rounded so that every reader has the same bits."""
    rng = np.random.default_rng(20)
    z = rng.standard_normal((M, 2))
    x = np.column_stack([z[:, 0] + 0.3 * z[:, 1], np.sin(1.5 * z[:, 1]), z[:, 0] * z[:, 1]]) + 0.2 * rng.standard_normal((M, 3))
    return np.round(z, 6), np.round(x, 6), np.array([0.4, -0.3, 0.1])


def distances(a, b):
    return np.linalg.norm(a[:, None, :] - b[None, :, :], axis=2)


def median_length(points):
    return float(np.median(distances(points, points)[np.triu_indices(len(points), 1)]))


def gaussian(a, b, length):
    return np.exp(-0.5 * (distances(a, b) / length) ** 2)


def kernel_abc(x, y, ridge):
    """w = (G + m lambda I)^-1 k(y)."""
    length = median_length(x)
    return np.linalg.solve(gaussian(x, x, length) + M * ridge * np.eye(M), gaussian(x, y[None], length)[:, 0])


def kernel_bayes(z, x, y, prior_ridge, ridge):
    """mu = m (L + m eps I)^-1 m_pi; Lambda = diag(mu/m); w = Lambda G ((Lambda G)^2 + delta I)^-1 Lambda k(y), as published, not symmetrised."""
    gram_z = gaussian(z, z, median_length(z))
    mu = M * np.linalg.solve(gram_z + M * prior_ridge * np.eye(M), gram_z.mean(axis=1))
    assert mu.min() > 1e-3, "the data must not need the smallest mu"
    product = np.diag(mu / M) @ gaussian(x, x, median_length(x))
    right = np.diag(mu / M) @ gaussian(x, y[None], median_length(x))[:, 0]
    return product @ np.linalg.solve(product @ product + ridge * np.eye(M), right)


def discrepancy(a, b, length):
    """The unbiased quadratic MMD^2 of two samples of numbers."""

    def within(s):
        return (gaussian(s[:, None], s[:, None], length).sum() - len(s)) / (len(s) * (len(s) - 1))

    return within(a) + within(b) - 2 * gaussian(a[:, None], b[:, None], length).mean()


def processes(z, values, queries):
    """scikit-learn's predictions, ln evidence and its gradient at fixed hyperparameters, and the largest ln evidence it finds."""
    amplitude, noise, lengths = 1.3, 0.05, [0.8, 1.7]
    centred = values - values.mean()
    found = {}
    shapes = {"gaussian": RBF, "matern32": lambda l, b: Matern(l, b, nu=1.5), "matern52": lambda l, b: Matern(l, b, nu=2.5)}
    for name, shape in shapes.items():
        # The bounds of the search are those of the Rust code, in units of the targets' variance.
        v = values.var()
        kernel = ConstantKernel(amplitude, (v * np.exp(-6), v * np.exp(6))) * shape(lengths, (np.exp(-3), np.exp(4)))
        kernel = kernel + WhiteKernel(noise, (v * np.exp(-14), v * np.exp(2)))
        fixed = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0).fit(z, centred)
        mean, covariance = fixed.predict(queries, return_cov=True)
        # scikit-learn adds the white noise on the diagonal of a covariance.
        function = covariance - noise * np.eye(len(queries))
        ln_evidence, gradient = fixed.log_marginal_likelihood(fixed.kernel_.theta, eval_gradient=True)
        # Order of its theta: ln amplitude, ln length scales, ln noise.
        best = GaussianProcessRegressor(kernel, alpha=0.0, n_restarts_optimizer=8, random_state=0).fit(z, centred)
        found[name] = {
            "means": (mean + values.mean()).tolist(),
            "variances": np.diag(function).tolist(),
            "covariance_of_first_two": float(function[0, 1]),
            "ln_evidence": float(ln_evidence),
            "gradient": [float(gradient[0]), float(gradient[3]), float(gradient[1]), float(gradient[2])],
            "largest_ln_evidence": float(best.log_marginal_likelihood_value_),
        }
    return {"amplitude": amplitude, "noise": noise, "lengths": lengths, **found}


def main():
    z, x, y = data()
    queries = np.array([[0.1, -0.2], [0.5, 0.4], [2.5, -2.0]])
    samples = [x[:8, 0], x[8:20, 1] + 0.5]
    json.dump(
        {
            "z": z.tolist(),
            "x": x.tolist(),
            "y": y.tolist(),
            "median_of_x": median_length(x),
            "median_of_z": median_length(z),
            "kernel_abc": {"ridge": 1e-4, "weights": kernel_abc(x, y, 1e-4).tolist()},
            "kernel_bayes": {"prior_ridge": 1e-4, "ridge": 1e-4, "weights": kernel_bayes(z, x, y, 1e-4, 1e-4).tolist()},
            "discrepancy": {"a": samples[0].tolist(), "b": samples[1].tolist(), "length": 0.7, "squared": discrepancy(*samples, 0.7)},
            "processes": {"queries": queries.tolist(), **processes(z, x[:, 2], queries)},
        },
        sys.stdout,
        indent=1,
    )
    print()


if __name__ == "__main__":
    main()
