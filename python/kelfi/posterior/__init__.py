"""The posterior: a part of it in each file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Union

from ..errors import InputError
from .checked import Check
from .density import Density
from .numbers import Mode
from .samples import SliceSamples
from .shown import Shown
from .written import Written

__all__ = ["Check", "Mode", "Posterior", "SliceSamples", "load"]


class Posterior(Density, Shown, Written):
    """What the simulations and the observation say about the parameters. Made by `kelfi.fit` and its relatives.

    >>> prior = kelfi.Prior(rate=kelfi.LogUniform(0.01, 10.0))
    >>> theta = prior.sample(200, seed=1)
    >>> x = -np.log(theta) + 0.2 * np.random.default_rng(1).normal(size=theta.shape)
    >>> posterior = kelfi.fit(theta, x, [np.log(2.0)], prior, epsilon=0.2, length_scale=0.2, regularization=1e-4)
    >>> posterior.sample(5, seed=1).shape
    (5, 1)
    >>> low, high = posterior.interval(0.95)[0]
    >>> bool(low < 0.5 < high)
    True
    """


def load(path: Union[str, os.PathLike[str]]) -> Posterior:
    """The posterior saved in this file, by `Posterior.save` or as the command line's model.json."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a saved kelfi posterior: {error}") from error
    return Posterior.from_json(text)
