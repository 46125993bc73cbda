"""The posterior: densities, moments, quantiles, samples, checks, and its written form."""

from __future__ import annotations

import json
import math
import os
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from . import _arrays as arrays
from . import _kelfi
from ._arrays import Array
from ._data_sets import Outputs, from_native
from .errors import InputError, KelfiError
from .prior import Prior, require_prior

CANDIDATES_PER_SUPER_SAMPLE = 4
FEWEST_CANDIDATES = 4000


@dataclass(frozen=True)
class Check:
    """A number that says whether the result can be trusted, with what it means and what to do."""

    name: str
    status: str
    value: float
    limit: float
    message: str
    """What was found and what to do, in a line."""
    question: str = ""
    """What it asks."""
    found: str = ""
    """What was found."""
    advice: str = ""
    """What to do; empty where nothing is to be done."""


class Mode(NamedTuple):
    """One of several separate parts of a posterior. Made by `Posterior.modes`."""

    weight: float
    """Its share of the posterior."""
    mean: dict[str, float]
    """The mean of each parameter within it."""


class SliceSamples(NamedTuple):
    """Samples of chains, and how far the chains can be trusted. Made by `Posterior.slice_samples`."""

    samples: Array
    """(num_samples, D); those of one step of all chains stand together."""
    r_hat: Array
    """(D,): split R-hat of each coordinate; 1 if the chains agree, above 1.05 they have not mixed."""
    effective: Array
    """(D,): how many independent samples they are worth."""


class Posterior:
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

    def __init__(
        self,
        native: _kelfi.Posterior,
        learned: Optional[dict[str, Any]] = None,
        comparison: Optional[dict[str, Any]] = None,
        statistics: Optional[list[str]] = None,
        options: Optional[dict[str, Any]] = None,
    ) -> None:
        self._native = native
        self._statistics = statistics
        self._learned = learned
        self._comparison = comparison
        self._options = options
        self._last: Optional[tuple[bytes, Posterior]] = None

    # What it is about

    @property
    def prior(self) -> Prior:
        """The prior."""
        return Prior._wrap(self._native.prior)

    @property
    def model(self) -> str:
        """The surrogate likelihood it rests on: "kernel-means" or "location-scale"."""
        return self._native.model

    @property
    def comparison(self) -> Optional[dict[str, Any]]:
        """How `model="auto"` chose: chosen, reason, and, each as (mean, standard error) in nats of posterior over prior density
        at the true parameters of left-out simulations near the observation, the scores kernel_means and location_scale and
        their difference (location-scale less kernel means); None for one that was not tried.

        None where the model was given, and after `condition`, since the scores were the former observation's.
        """
        return None if self._comparison is None else dict(self._comparison)

    @property
    def names(self) -> list[str]:
        """Names of the parameters, in order."""
        return self._native.prior.names

    @property
    def x_o(self) -> Array:
        """The observation (n,), or the rows (N, d) of an observed data set."""
        return self._native.observation

    @property
    def simulations(self) -> tuple[Array, Outputs]:
        """The simulations it rests on: theta (m, D) and x (m, n), or a list of data sets."""
        return self._native.theta, from_native(self._native.x)

    # Densities

    def value(self, theta: Any) -> Array:
        """q(θ|y) of each row (k,): signed, since the kernel means surrogate is not a density; 0 outside the prior's support."""
        return self._native.value(self._places(theta))

    def pdf(self, theta: Any) -> Array:
        """The positive part of q(θ|y), normalised: a density (k,); 0 outside the prior's support."""
        return self._native.pdf(self._places(theta))

    def log_prob(self, theta: Any, x: Any = None) -> Array:
        """ln of `pdf`; -inf outside the prior's support and where the surrogate is not positive. With `x` at that observation."""
        return self._at(x)._native.log_prob(self._places(theta))

    def marginal(self, parameter: Union[str, int], grid: Any) -> Array:
        """Density of one parameter, by name or position, at each value of the grid."""
        return self._native.marginal(self._index(parameter), arrays.vector("grid", grid))

    def cdf(self, parameter: Union[str, int], values: Any) -> Array:
        """Share of one parameter's marginal below each value: rises from 0 to 1; infinite values are allowed."""
        return self._native.cdf(self._index(parameter), arrays.positions("values", values))

    def embedding(self, theta: Any) -> Array:
        """∫ ℓ(θ', θ) q(θ'|y) dθ' of each row: the kernel mean embedding that super-samples are herded to."""
        return self._native.embedding(self._points(theta))

    # Numbers

    def mean(self) -> Array:
        """Means (D,) of the clipped, normalised density, as `pdf`, quantiles and samples are."""
        return self._native.mean()

    def mean_error(self) -> float:
        """Monte Carlo standard error of `mean` in posterior standard deviations; 0.0 where it is exact."""
        return self._native.mean_error()

    def covariance(self) -> Array:
        """Covariance (D, D) of the clipped, normalised density."""
        return self._native.covariance()

    def signed_mean(self) -> Array:
        """Means (D,) with the negative parts of q(θ|y) included, as the paper has them: exact sums, which may lie outside the prior."""
        return self._native.signed_mean()

    def signed_covariance(self) -> Array:
        """Covariance (D, D) with the negative parts of q(θ|y) included: exact sums, in which a variance may be negative."""
        return self._native.signed_covariance()

    def modes(self) -> list[Mode]:
        """The separate modes, the heaviest first: one for a posterior in one piece. With several, the mean lies between them."""
        return [Mode(weight, dict(zip(self.names, map(float, centre)))) for weight, centre in self._native.modes()]

    def std(self) -> Array:
        """Standard deviations (D,)."""
        return self._native.std()

    def quantile(self, probabilities: Any) -> Array:
        """Quantiles of each parameter: (k, D) for k probabilities, (D,) for a single one."""
        found = self._native.quantile(arrays.vector("probabilities", probabilities))
        return found[0] if np.ndim(probabilities) == 0 else found

    def interval(self, share: float = 0.95, calibrated: bool = False) -> Array:
        """Central intervals (D, 2): low and high of each parameter, with this share of its marginal between them.

        Calibrated ones are wider where leaving out the simulations near the observation in turn finds them too narrow or shifted: they
        end where they hold the truth for this share of these simulations.
        """
        inside = arrays.number("share", share)
        if not 0.0 < inside < 1.0:
            raise InputError(f"share = {inside} is not allowed: it must lie between 0 and 1")
        if calibrated:
            return self._native.calibrated_interval(inside)
        ends = self._native.quantile(np.array([0.5 * (1.0 - inside), 0.5 * (1.0 + inside)]))
        return np.ascontiguousarray(ends.T)

    def map(self) -> Array:
        """The parameters (D,) with the largest q(θ|y)."""
        return self._native.map()

    def predictive(self, f: Any) -> Union[float, Array]:
        """Posterior mean of an output recorded with every simulation, f (m,), without new runs; of several at once for f (m, k)."""
        recorded = arrays.numbers("f", f)
        m = len(self._native.theta)
        if recorded.ndim not in (1, 2) or recorded.shape[0] != m:
            raise InputError(f"f has shape {recorded.shape} but there are {m} simulations: shape ({m},) or ({m}, k) is needed")
        arrays.finite("f", recorded.reshape(m, -1))
        if recorded.ndim == 1:
            return self._native.predictive(recorded)
        return np.array([self._native.predictive(np.ascontiguousarray(column)) for column in recorded.T])

    @property
    def log_evidence(self) -> float:
        """ln q(y): how well prior and simulator explain the observation.

        With the kernel means model it is the evidence at the tolerance: of an observation blurred by Gaussian noise of that size.
        """
        return self._native.log_evidence()

    @property
    def log_evidence_error(self) -> float:
        """Standard error of `log_evidence` from having these simulations and no others. It does not know of the tolerance."""
        return self._native.log_evidence_error()

    @property
    def negative_mass(self) -> float:
        """How much of the surrogate posterior is negative (location-scale: was cut off at zero), as a share of its positive mass."""
        return self._native.negative_mass()

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """What the model was built with, and how that was chosen, if learned (objective, score, score_standard_error, ...).

        Kernel means: model, epsilon (n,), length_scale (D,) in prior standard deviations, regularization, kernel.
        Location-scale: model, epsilon (n,) where the observation fits best, shape (length_scale, ridge and tolerance of the
        residuals' distribution; length_scale None if it is the same everywhere), at_bound, and statistics: for each that takes
        part its index, scale ("identity", "square root", "logarithm" or "asinh"), how its mean bends
        ("straight", "bumps" or "sigmoids"), whether spread_varies, and the share explained of its variance.
        """
        found = dict(self._native.hyperparameters())
        if self._learned is not None:
            found.update(self._learned)
        return found

    @property
    def relevance(self) -> Array:
        """How much each statistic decides (n,): large for one that does, 0 for one that says nothing.

        Kernel means: spread over tolerance. Location-scale: signal over noise, √(R²/(1 - R²)), R² the share explained.
        """
        return self._native.relevance()

    @property
    def checks(self) -> list[Check]:
        """Numbers that say whether the result can be trusted. Read them."""
        return [Check(*check) for check in self._native.checks()]

    def summary(self) -> dict[str, dict[str, Any]]:
        """Mean, sd, mode and quantiles of each parameter, and `calibrated_95`, the ends of its calibrated interval, where it could be
        calibrated: the numbers of summary.json, under the same names."""
        keys = ("mean", "sd", "mode", "q025", "q50", "q975")
        found: dict[str, dict[str, Any]] = {}
        for name, numbers, calibrated in _kelfi.summary(self._native):
            found[name] = dict(zip(keys, numbers))
            if calibrated is not None:
                found[name]["calibrated_95"] = calibrated
        return found

    # Samples

    def sample(
        self,
        num_samples: int = 1000,
        seed: Optional[int] = None,
        method: str = "independent",
        calibrated: bool = False,
        x: Any = None,
    ) -> Array:
        """Samples (num_samples, D): "independent" draws (of the location-scale model: of chains that have found the posterior),
        "herding", whose super-samples cover the posterior evenly, or "slice": elliptical slice sampling, see `slice_samples`.

        The same seed gives the same samples; without one a fresh seed is taken. With `calibrated` each parameter is moved so that its
        quantiles are the ends of `interval(share, calibrated=True)`; ranks stay as they are. With `x`, those of the posterior at that
        observation, see `condition`.
        """
        if x is not None:
            return self._at(x).sample(num_samples, seed, method, calibrated)
        if calibrated:
            return self._native.calibrated_samples(np.ascontiguousarray(self.sample(num_samples, seed, method)))
        if isinstance(num_samples, tuple) and len(num_samples) == 1:  # sbi's and torch's habit: sample((n,))
            num_samples = num_samples[0]
        if method == "independent":
            return self._native.independent(arrays.count("num_samples", num_samples), arrays.seed_of(seed))[0]
        if method == "herding":
            return self.super_samples(num_samples, seed=seed)
        if method == "slice":
            return self.slice_samples(num_samples, seed).samples
        raise InputError(f'method = {method!r} is not allowed: it must be "independent" or "herding" or "slice"')

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

    # Other observations

    def condition(self, x_o: Any) -> Posterior:
        """The posterior at another observation: same simulations, model and hyperparameters, nothing learned anew."""
        observed = self._observation(x_o)
        posterior = Posterior(self._native.condition(observed), statistics=self._statistics, options=self._options)
        if self._learned is not None:
            # The scores were the former observation's.
            posterior._learned = {**self._learned, "score": None, "score_standard_error": None}
            if "log_marginal_likelihood" in self._learned:
                posterior._learned["log_marginal_likelihood"] = posterior.log_evidence
        return posterior

    def sample_batched(self, num_samples: int, xs: Any, seed: Optional[int] = None) -> Array:
        """Samples (num_samples, k, D) of the posteriors at k observations xs (k, n), or k data sets. All begin from the same seed."""
        rows = list(xs) if self.x_o.ndim == 2 else arrays.table("xs", xs, len(self.x_o), "statistics")
        start = arrays.seed_of(seed)
        return np.stack([self.condition(row).sample(num_samples, start) for row in rows], axis=1)

    def with_prior(self, prior: Any) -> Posterior:
        """The posterior with another prior from the same simulations, learned afresh with the options of `kelfi.fit`.

        Simulations that the new prior does not allow are left out, with a warning; the check `prior_draws` tells where the new prior
        reaches beyond the simulations.
        """
        from .fitting import fit

        new = require_prior(prior)
        if new.names != self.names:
            raise InputError(f"the prior's parameters are {', '.join(new.names)} but those of the simulations {', '.join(self.names)}")
        theta, x = self.simulations
        allowed = np.isfinite(new.log_prob(theta))
        if not allowed.any():
            raise InputError(f"none of the {len(theta)} simulations lies where the prior allows it; simulate from this prior")
        if not allowed.all():
            told = f"{int((~allowed).sum())} of {len(theta)} simulations are left out: the prior does not allow their parameters"
            warnings.warn(told, UserWarning, stacklevel=2)
        options = self._options or {"model": self.model, "seed": self._native.seed}
        return fit(theta[allowed], x[allowed], self.x_o, new, statistics=self._statistics, **options)

    def _observation(self, x: Any) -> Array:
        """Another observation of the same kind."""
        if self.x_o.ndim == 2:
            return arrays.rows_of(x, self.x_o.shape[1], self._statistics)
        return arrays.observation(x, len(self.x_o), self._statistics)

    def _at(self, x: Any) -> Posterior:
        """This posterior, or the one at another observation; the last one is kept."""
        if x is None:
            return self
        observed = self._observation(x)
        key = observed.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = (key, self.condition(observed))
        return self._last[1]

    def calibration(self, theta: Any, x: Any) -> Array:
        """Where each θ lies in the posterior at its own x (k, D), for simulations that were not used to fit.

        Uniform between 0 and 1 if the posterior is calibrated.
        """
        theta, x, _ = arrays.simulations(theta, x, self.names, self._statistics)
        rows = []
        for truth, observed in zip(theta, x):
            at = self._native.condition(arrays.observed(observed, x))
            rows.append([at.cdf(d, truth[d : d + 1])[0] for d in range(len(self.names))])
        return np.array(rows)

    def profile(self, epsilons: Any, length_scales: Any) -> Array:
        """ln q(y) for common length scales (rows) and tolerances (columns, in units of each statistic's spread).

        Of the kernel means model only.
        """
        return self._native.profile(arrays.vector("epsilons", epsilons), arrays.vector("length_scales", length_scales))

    # Other tools

    def to_arviz(self, num_samples: int = 1000, seed: Optional[int] = None) -> Any:
        """Samples as ArviZ's data: a DataTree with current ArviZ, InferenceData with an older one.

        Chains are the sampler's own (100, of the location-scale model) or four of independent samples; each has as many as make
        num_samples or a few more in all.
        """
        from . import _arviz

        chains = self._native.chains or _arviz.INDEPENDENT_CHAINS
        draws = -(-arrays.count("num_samples", num_samples, least=1) // chains)
        # Those of one step of all chains stand together.
        samples = self.sample(chains * draws, seed).reshape(draws, chains, len(self.names))
        return _arviz.convert(self, samples.transpose(1, 0, 2))

    def plot(self, kind: str = "pairs", **options: Any) -> Any:
        """A matplotlib figure: "pairs", "relevance", "profile" or, given held-out theta= and x=, "calibration"."""
        from . import plots

        try:
            draw = plots.KINDS[kind]
        except (KeyError, TypeError) as error:
            raise InputError(f"kind = {kind!r} is not allowed: it must be one of {', '.join(plots.KINDS)}") from error
        return draw(self, **options)

    # The written form

    def to_json(self) -> str:
        """Everything needed to build it again, as JSON: the model as the command line writes it, and how it was learned."""
        record = self._native.record()
        extra = {
            "learned": _plain(self._learned) if record is None else json.loads(record),
            "comparison": _plain(self._comparison),
            "seed": self._native.seed,
            "statistic_names": self._statistics,
            "options": _plain(self._options),
            "kelfi": _kelfi.__version__,
        }
        return self._native.to_json()[:-1] + "," + json.dumps(extra)[1:]

    @classmethod
    def from_json(cls, text: str) -> Posterior:
        """The posterior that `to_json` wrote, or that of a saved model. Reading runs no code."""
        try:
            written = json.loads(text)
            record = written.get("learned")
            seed = arrays.seed_of(written.get("seed", 1))
            native = _kelfi.Posterior.from_json(text, None if record is None else json.dumps(record), seed)
            learned = native.learned() or _learned(record, native.model)
            comparison = _comparison(written.get("comparison"))
            statistics = _strings(written.get("statistic_names"))
            native = native if statistics is None else native.named(statistics)
            options = written.get("options")
            if options is not None and not isinstance(options, dict):
                raise InputError("its options are no object")
        except KelfiError:
            raise
        except Exception as error:
            raise InputError(f"this is not a saved kelfi posterior: {error}") from error
        return cls(native, learned, comparison, statistics, options)

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes `to_json` to a file that appears whole or not at all."""
        target = Path(path)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(self.to_json())
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Posterior.from_json, (self.to_json(),)

    def __copy__(self) -> Posterior:
        learned = None if self._learned is None else dict(self._learned)
        return Posterior(self._native, learned, self.comparison, self._statistics, self._options)

    def __deepcopy__(self, memo: dict[int, Any]) -> Posterior:
        # The native half never changes: sharing it is safe.
        return self.__copy__()

    def __repr__(self) -> str:
        m = len(self._native.theta)
        checks = self.checks
        worst = max((check.status for check in checks), key=["ok", "warn", "fail"].index)
        rows = zip(self.names, self.mean(), self.interval(0.95))
        lines = [f"  {name}: mean {mean:.4g}, 95 % between {low:.4g} and {high:.4g}" for name, mean, (low, high) in rows]
        told = [f"  {check.message}" for check in checks if check.name == "modes" and check.status != "ok"]
        return "\n".join([f"<Posterior from {m} simulations, {self.model}; checks: {worst}", *lines, *told]) + ">"

    def _points(self, theta: Any) -> Array:
        return arrays.points("theta", theta, self.names)

    def _places(self, theta: Any) -> Array:
        return arrays.places("theta", theta, self.names)

    def _index(self, parameter: Union[str, int]) -> int:
        names = self.names
        if isinstance(parameter, str):
            if parameter not in names:
                raise InputError(f"there is no parameter {parameter!r}; the parameters are {', '.join(names)}")
            return names.index(parameter)
        index = arrays.count("parameter", parameter)
        if index >= len(names):
            raise InputError(f"parameter = {index} is not allowed: there are {len(names)}, counted from 0")
        return index


def load(path: Union[str, os.PathLike[str]]) -> Posterior:
    """The posterior saved in this file, by `Posterior.save` or as the command line's model.json."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a saved kelfi posterior: {error}") from error
    return Posterior.from_json(text)


def _learned(written: Any, model: str) -> Optional[dict[str, Any]]:
    """How it was learned, as `to_json` of older versions wrote it."""
    if written is None:
        return None
    learned = dict(written)
    if model == "kernel-means":
        learned["at_bound"] = [str(name) for name in learned["at_bound"]]
    for optimum in learned.get("optima", []):
        optimum.update({key: np.array(optimum[key]) for key in ("epsilon", "length_scale")})
    return learned


def _comparison(written: Any) -> Optional[dict[str, Any]]:
    """How the model was chosen, as `to_json` or the command line wrote it."""
    if written is None:
        return None
    found = {"chosen": str(written["chosen"]), "reason": str(written["reason"])}
    pairs = {key: written.get(key) for key in ("kernel_means", "location_scale", "difference")}
    return {**found, **{key: pair if pair is None else tuple(pair) for key, pair in pairs.items()}}


def _strings(written: Any) -> Optional[list[str]]:
    return None if written is None else [str(name) for name in written]


def _plain(value: Any) -> Any:
    """As JSON has it: lists for arrays, nothing for numbers that are not finite."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(item) for item in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value
