"""A posterior as text, as figures and for ArviZ."""

from __future__ import annotations

from typing import Any, Literal, Optional

from .. import _arrays as arrays
from ..errors import InputError
from .checked import Checked
from .numbers import Numbers
from .samples import Samples


class Shown(Samples, Numbers, Checked):
    """What people look at."""

    def to_arviz(self, num_samples: int = 1000, seed: Optional[int] = None) -> Any:
        """Samples as ArviZ's data: a DataTree with current ArviZ, InferenceData with an older one.

        Chains are the sampler's own (100, of the location-scale model) or four of independent samples; each has as many as make
        num_samples or a few more in all.
        """
        from .. import _arviz

        chains = self._native.chains or _arviz.INDEPENDENT_CHAINS
        draws = -(-arrays.count("num_samples", num_samples, least=1) // chains)
        # Those of one step of all chains stand together.
        samples = self.sample(chains * draws, seed).reshape(draws, chains, len(self.names))
        return _arviz.convert(self, samples.transpose(1, 0, 2))

    def plot(self, kind: Literal["pairs", "relevance", "profile", "calibration"] = "pairs", **options: Any) -> Any:
        """A matplotlib figure: "pairs", "relevance", "profile" or, given held-out theta= and x=, "calibration".

        In a notebook it is shown where it is the last line of its cell, and only once.
        """
        from .. import plots

        try:
            draw = plots.KINDS[kind]
        except (KeyError, TypeError) as error:
            raise InputError(f"kind = {kind!r} is not allowed: it must be one of {', '.join(plots.KINDS)}") from error
        return plots.shown_once(draw(self, **options))

    def __repr__(self) -> str:
        rows = zip(self.names, self.mean(), self.interval(0.95))
        lines = [f"  {name}: mean {mean:.4g}, 95 % between {low:.4g} and {high:.4g}" for name, mean, (low, high) in rows]
        told = [f"  {check.status}: {check.name}: {check.message}" for check in self.checks if check.status != "ok"]
        return "\n".join([f"<{self._title()}", *lines, *told]) + ">"

    def _repr_html_(self) -> str:
        """For notebooks: a table of the parameters, and the checks that are not ok."""
        from html import escape

        rows = zip(self.names, self.mean(), self.std(), self.interval(0.95))
        cells = [[escape(name), *(f"{value:.4g}" for value in (mean, sd, low, high))] for name, mean, sd, (low, high) in rows]
        head = "".join(f"<th>{title}</th>" for title in ("", "mean", "sd", "2.5 %", "97.5 %"))
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells)
        told = "".join(f"<li><b>{check.status}: {escape(check.name)}</b>: {escape(check.message)}</li>" for check in self.checks if check.status != "ok")
        return f"<p>{self._title()}</p><table><tr>{head}</tr>{body}</table>" + (f"<ul>{told}</ul>" if told else "")

    def _title(self) -> str:
        statuses = [check.status for check in self.checks]
        counted = [f"{statuses.count(status)} {word}" for status, word in (("fail", "failed"), ("warn", "with a warning")) if status in statuses]
        checks = ", ".join(counted) or "all ok"
        return f"Posterior from {len(self._native.theta)} simulations, {self.model}; checks: {checks}"
