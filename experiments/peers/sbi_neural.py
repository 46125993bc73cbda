"""Samples by neural estimation with the package sbi, from simulations in files: the peer of `experiments field`.

Usage: sbi_neural.py NPE|NLE PRIOR THETA.csv X.csv OBSERVATION.csv SAMPLES.csv COUNT SEED

PRIOR is uniform:LOW:HIGH or normal:MEAN:STD, the same for every parameter. All settings are the package's own; NLE samples with its
vectorised slice sampler over 100 chains (thinning 1), faster here than its default of one chain. Prints the seconds from arrays to
samples, imports not counted.
"""
import os
import sys
import tempfile
import time
import warnings

import numpy as np
import torch
from sbi.inference import NLE, NPE
from sbi.utils import BoxUniform

warnings.filterwarnings("ignore")


def read(path):
    """A table of numbers below a header."""
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def prior_of(text, dimension):
    """The prior as a torch distribution."""
    kind, first, second = text.split(":")
    first, second = float(first) * torch.ones(dimension), float(second)
    if kind == "uniform":
        return BoxUniform(first, second * torch.ones(dimension))
    return torch.distributions.MultivariateNormal(first, second**2 * torch.eye(dimension))


def main():
    """Trains, samples, writes."""
    method, prior_text, theta_path, x_path, y_path, out, count, seed = sys.argv[1:]
    theta, x, y = read(theta_path), read(x_path), read(y_path)[0]
    out = os.path.abspath(out)
    logs = tempfile.TemporaryDirectory()
    os.chdir(logs.name)  # the package writes logs of its training into the working folder
    torch.manual_seed(int(seed))
    began = time.perf_counter()
    tensor = lambda values: torch.as_tensor(values, dtype=torch.float32)
    prior = prior_of(prior_text, theta.shape[1])
    inference = {"NPE": NPE, "NLE": NLE}[method](prior, show_progress_bars=False)
    inference.append_simulations(tensor(theta), tensor(x)).train()
    if method == "NPE":
        posterior = inference.build_posterior()
    else:
        chains = {"num_chains": 100, "thin": 1, "warmup_steps": 50, "init_strategy": "resample"}
        posterior = inference.build_posterior(mcmc_method="slice_np_vectorized", mcmc_parameters=chains)
    samples = posterior.sample((int(count),), x=tensor(y), show_progress_bars=False).numpy()
    seconds = time.perf_counter() - began
    header = ",".join(f"theta_{d + 1}" for d in range(theta.shape[1]))
    np.savetxt(out, samples, delimiter=",", header=header, comments="")
    os.chdir("/")
    logs.cleanup()
    print(f"\n{seconds}")


if __name__ == "__main__":
    main()
