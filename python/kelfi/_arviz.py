"""Samples for ArviZ, old and new; imported only when asked for."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import Array
from .errors import MissingPackageError

if TYPE_CHECKING:
    from .posterior.held import Held


# Chains that independent samples are told as: ArviZ compares chains with one another.
INDEPENDENT_CHAINS = 4


def convert(posterior: Held, samples: Array) -> Any:
    """Samples (chains, draws, D) by parameter name, and the observation."""
    groups = {
        "posterior": {name: np.ascontiguousarray(samples[:, :, d]) for d, name in enumerate(posterior.names)},
        "observed_data": {"x_o": posterior.x_o},
    }
    package = _package()
    with warnings.catch_warnings():
        # A hundred chains are what the sampler has, not two dimensions by mistake the other way round.
        warnings.filterwarnings("ignore", message=".*chain", category=UserWarning)
        # ArviZ before 1.0 takes groups by keyword. The name InferenceData does not tell: 1.x answers to it as well.
        if "posterior" in inspect.signature(package.from_dict).parameters:
            return package.from_dict(**groups)
        return package.from_dict(groups)


def _package() -> Any:
    """ArviZ, or its core, which can be installed alone."""
    for name in ("arviz", "arviz_base"):
        try:
            return __import__(name)
        except ImportError:
            continue
    raise MissingPackageError("to_arviz needs ArviZ, which is not installed\n  pip install arviz")
