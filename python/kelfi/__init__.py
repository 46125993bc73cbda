"""Posterior distributions for the parameters of a simulator, from an observation, with checks.

    prior = kelfi.Prior(rate=kelfi.LogUniform(0.01, 10.0))
    posterior = kelfi.infer(simulator, prior, x_o, num_simulations=300)     # or, from simulations you have: kelfi.fit(theta, x, x_o, prior)
    posterior.interval(0.95)
"""

from . import errors, problems
from ._kelfi import __version__, set_threads
from ._table import Simulations
from .comparing import compare, methods
from .errors import (
    InferenceError,
    InputError,
    InternalError,
    KelfiError,
    MissingPackageError,
    OutOfMemoryError,
    SimulationError,
    StoreError,
)
from .families import (
    Beta,
    Cauchy,
    Exponential,
    Gamma,
    HalfNormal,
    InverseGamma,
    Laplace,
    LogNormal,
    LogUniform,
    Marginal,
    Normal,
    StudentT,
    Triangular,
    TruncatedNormal,
    Uniform,
    Weibull,
)
from .fitting import fit
from .habits import KELFI, UnobservedPosterior
from .inference import infer
from .likelihood import KernelMeansLikelihood
from .posterior import Check, Posterior, SliceSamples, load
from .prior import BoxUniform, Prior
from .rounds import Rounds
from .simulation import read_store, simulate

__all__ = [
    "KELFI",
    "Beta",
    "BoxUniform",
    "Cauchy",
    "Check",
    "Exponential",
    "Gamma",
    "HalfNormal",
    "InferenceError",
    "InputError",
    "InternalError",
    "InverseGamma",
    "KelfiError",
    "KernelMeansLikelihood",
    "Laplace",
    "LogNormal",
    "LogUniform",
    "Marginal",
    "MissingPackageError",
    "Normal",
    "OutOfMemoryError",
    "Posterior",
    "Prior",
    "Rounds",
    "SimulationError",
    "Simulations",
    "SliceSamples",
    "StoreError",
    "StudentT",
    "Triangular",
    "TruncatedNormal",
    "Uniform",
    "UnobservedPosterior",
    "Weibull",
    "__version__",
    "compare",
    "errors",
    "fit",
    "infer",
    "load",
    "methods",
    "problems",
    "read_store",
    "set_threads",
    "simulate",
]
