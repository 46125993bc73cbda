"""Figures with matplotlib; imported only when asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ._arrays import Array
from .errors import InputError, MissingPackageError

if TYPE_CHECKING:
    from .posterior import Posterior

GRID = 200


def pairs(posterior: Posterior, num_samples: int = 1000, seed: int = 1, truth: Optional[Any] = None) -> Any:
    """Every parameter's marginal with its prior (dashed) on the diagonal, samples of every pair below it."""
    plt = _pyplot()
    names, samples = posterior.names, posterior.sample(num_samples, seed)
    dimension = len(names)
    marks = None if truth is None else np.asarray(truth, dtype=float).ravel()
    figure, axes = plt.subplots(dimension, dimension, figsize=(2.4 * dimension, 2.4 * dimension), squeeze=False)
    for row in range(dimension):
        for column in range(dimension):
            axis = axes[row, column]
            if row < column:
                axis.axis("off")
            elif row == column:
                _diagonal(posterior, axis, row, samples[:, row], None if marks is None else marks[row])
            else:
                axis.scatter(samples[:, column], samples[:, row], s=3, alpha=0.3, linewidths=0, rasterized=True)
                if marks is not None:
                    axis.plot(marks[column], marks[row], "+", color="black")
            if row == dimension - 1:
                axis.set_xlabel(names[column])
            if column == 0 and row > 0:
                axis.set_ylabel(names[row])
    figure.tight_layout()
    return figure


def _diagonal(posterior: Posterior, axis: Any, d: int, samples: Array, mark: Optional[float]) -> None:
    low, high = np.quantile(samples, [0.001, 0.999])
    room = 0.25 * (high - low)
    grid = np.linspace(low - room, high + room, GRID)
    axis.plot(grid, posterior.marginal(d, grid))
    prior = posterior.prior
    try:
        between = prior.cdf(np.repeat(grid[:, None], prior.dimension, axis=1))[:, d]
        axis.plot(0.5 * (grid[1:] + grid[:-1]), np.diff(between) / np.diff(grid), "--", color="grey")
    except RuntimeError:
        # A prior known by draws has no density to show.
        pass
    if mark is not None:
        axis.axvline(mark, color="black", linewidth=0.8)
    axis.set_yticks([])


def relevance(posterior: Posterior, names: Optional[list[str]] = None) -> Any:
    """How much each statistic decides: long bars do."""
    plt = _pyplot()
    found = posterior.relevance
    labels = names or [f"statistic {i}" for i in range(1, len(found) + 1)]
    figure, axis = plt.subplots(figsize=(5, 0.8 + 0.3 * len(found)))
    axis.barh(np.arange(len(found)), found)
    axis.set_yticks(np.arange(len(found)), labels)
    axis.invert_yaxis()
    axis.set_xlabel("spread / tolerance" if posterior.model == "kernel-means" else "signal / noise")
    figure.tight_layout()
    return figure


def calibration(posterior: Posterior, theta: Any = None, x: Any = None) -> Any:
    """Share of held-out simulations whose θ lies below each posterior level, with a 95 % band around the diagonal."""
    if theta is None or x is None:
        raise InputError("a calibration plot needs simulations that were not used to fit: plot('calibration', theta=..., x=...)")
    plt = _pyplot()
    ranks = posterior.calibration(theta, x)
    levels = np.linspace(0.0, 1.0, GRID)
    figure, axis = plt.subplots(figsize=(4, 4))
    band = 1.96 * np.sqrt(levels * (1 - levels) / len(ranks))
    axis.fill_between(levels, levels - band, levels + band, color="grey", alpha=0.3, linewidth=0)
    for d, name in enumerate(posterior.names):
        axis.plot(levels, np.searchsorted(np.sort(ranks[:, d]), levels, side="right") / len(ranks), label=name)
    axis.set_xlabel("posterior level")
    axis.set_ylabel("share of simulations below")
    axis.legend()
    figure.tight_layout()
    return figure


def profile(posterior: Posterior, epsilons: Any = None, length_scales: Any = None) -> Any:
    """ln q(y) over common tolerances and length scales, of the kernel means model."""
    plt = _pyplot()
    columns = np.geomspace(0.02, 3.0, 40) if epsilons is None else np.asarray(epsilons, dtype=float)
    rows = np.geomspace(0.05, 4.0, 16) if length_scales is None else np.asarray(length_scales, dtype=float)
    surface = posterior.profile(columns, rows)
    figure, axis = plt.subplots(figsize=(5, 4))
    best = float(np.max(surface[np.isfinite(surface)])) if np.isfinite(surface).any() else 0.0
    drawn = axis.contourf(columns, rows, np.clip(surface, best - 20.0, best), levels=20)
    figure.colorbar(drawn, label="ln q(y)")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("tolerance / spread")
    axis.set_ylabel("length scale / prior sd")
    figure.tight_layout()
    return figure


KINDS: dict[str, Callable[..., Any]] = {"pairs": pairs, "relevance": relevance, "calibration": calibration, "profile": profile}


def shown_once(figure: Any) -> Any:
    """The figure; where pyplot shows figures below a notebook's cell by itself, it is told to leave this one to the cell's last line."""
    plt = _pyplot()
    if "inline" in plt.get_backend():
        plt.close(figure)
    return figure


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingPackageError("plots need matplotlib, which is not installed\n  pip install matplotlib") from error
    return plt
