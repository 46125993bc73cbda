"""Samples for ArviZ, old and new; imported only when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._arrays import Array
from .errors import MissingPackageError

if TYPE_CHECKING:
    from .posterior import Posterior


def convert(posterior: Posterior, samples: Array) -> Any:
    """One chain of samples by parameter name, and the observation."""
    groups = {
        "posterior": {name: samples[None, :, d] for d, name in enumerate(posterior.names)},
        "observed_data": {"x_o": posterior.x_o},
    }
    package = _package()
    if hasattr(package, "InferenceData"):
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
