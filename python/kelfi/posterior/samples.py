"""Samples: independent ones, of chains, and super-samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Optional, Union

import numpy as np

from .. import _arrays as arrays
from .._arrays import Array
from .._progress import Progress
from .._tensors import like
from ..errors import InputError
from .conditioned import Conditioned

Method = Literal["independent", "herding", "slice"]
CANDIDATES_PER_SUPER_SAMPLE = 4
FEWEST_CANDIDATES = 4000


class SliceSamples(NamedTuple):
    """Samples of chains, and how far the chains can be trusted. Made by `Posterior.slice_samples`."""

    samples: Array
    """(num_samples, D); those of one step of all chains stand together."""
    r_hat: Array
    """(D,): split R-hat of each coordinate; 1 if the chains agree, above 1.05 they have not mixed."""
    effective: Array
    """(D,): how many independent samples they are worth."""


class Samples(Conditioned):
    """Draws from the posterior."""

    def sample(
        self,
        num_samples: Union[int, tuple[int, ...]] = 1000,
        seed: Optional[int] = None,
        method: Method = "independent",
        calibrated: bool = False,
        x: Any = None,
        *,
        show_progress_bars: Optional[bool] = None,
    ) -> Array:
        """Samples (num_samples, D): "independent" draws (of the location-scale model: of chains that have found the posterior),
        "herding", whose super-samples cover the posterior evenly, or "slice": elliptical slice sampling, see `slice_samples`.

        The same seed gives the same samples; without one a fresh seed is taken. With `calibrated` each parameter is moved so that its
        quantiles are the ends of `interval(share, calibrated=True)`; ranks stay as they are. With `x`, those of the posterior at that
        observation, see `condition`. num_samples may be a shape, as torch and sbi have it; an observation given as a torch tensor gives a
        tensor. sbi's `show_progress_bars` is accepted; sampling is quick.
        """
        shape = num_samples if isinstance(num_samples, tuple) else (num_samples,)
        count = math.prod(arrays.count("num_samples", length) for length in shape)
        found = self._at(x)._drawn(count, arrays.seed_of(seed), method, calibrated)
        return like(found.reshape(*shape, len(self.names)), x, self._like)

    def _drawn(self, count: int, seed: int, method: str, calibrated: bool) -> Array:
        if method == "independent":
            found = self._native.independent(arrays.count("num_samples", count), seed)[0]
        elif method == "herding":
            found = self.super_samples(count, seed=seed)
        elif method == "slice":
            found = self.slice_samples(count, seed).samples
        else:
            raise InputError(f'method = {method!r} is not allowed: it must be "independent" or "herding" or "slice"')
        return self._native.calibrated_samples(np.ascontiguousarray(found)) if calibrated else found

    def slice_samples(self, num_samples: int = 1000, seed: Optional[int] = None) -> SliceSamples:
        """Samples by elliptical slice sampling over 100 chains, with their R-hat and effective number.

        >>> prior = kelfi.Prior(a=kelfi.Normal(0, 1))
        >>> theta = prior.sample(50, seed=1)
        >>> model = kelfi.KernelMeansLikelihood(theta, theta, [0.3], prior, epsilon=0.2, length_scale=0.5, regularization=1e-3)
        >>> samples, r_hat, effective = model.posterior().slice_samples(1000, seed=1)
        >>> samples.shape, bool(r_hat[0] < 1.1), bool(effective[0] > 100)
        ((1000, 1), True, True)
        """
        return SliceSamples(*self._native.slice(arrays.count("num_samples", num_samples), arrays.seed_of(seed)))

    def super_samples(self, num_samples: int, candidates: Any = None, seed: Optional[int] = None) -> Array:
        """Super-samples (num_samples, D) by kernel herding (Algorithm 1 of the paper).

        candidates: points (R, D) to choose from, or how many draws of the posterior to choose among.
        """
        wanted, number = arrays.count("num_samples", num_samples), 0
        given = None
        if candidates is None:
            number = max(CANDIDATES_PER_SUPER_SAMPLE * wanted, FEWEST_CANDIDATES)
        elif isinstance(candidates, (int, np.integer)):
            number = arrays.count("candidates", candidates, least=1)
        else:
            given = arrays.points("candidates", candidates, self.names)
        return self._native.super_samples(wanted, given, number, arrays.seed_of(seed))[0]

    def sample_batched(
        self,
        num_samples: Union[int, tuple[int, ...]],
        x: Any,
        seed: Optional[int] = None,
        *,
        show_progress_bars: Optional[bool] = None,
    ) -> Array:
        """Samples (num_samples, k, D) of the posteriors at k observations x (k, n), or k data sets. All begin from the same seed."""
        rows = list(x if self.x_o.ndim == 2 else arrays.table("x", x, len(self.x_o), "statistics"))
        start = arrays.seed_of(seed)
        return like(batch(self.condition, num_samples, rows, start, show_progress_bars), x, self._like)


def batch(at: Callable[[Any], Samples], num_samples: Union[int, tuple[int, ...]], rows: Sequence[Any], seed: int, progress: Optional[bool]) -> Array:
    """Samples of the posterior that `at` gives for each row."""
    found = []
    with Progress("observations", len(rows), progress) as bar:
        for row in rows:
            found.append(at(row).sample(num_samples, seed))
            bar.update()
    return np.stack(found, axis=-2)
