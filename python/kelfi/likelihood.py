"""The parts, for those who want them: the kernel means likelihood at fixed hyperparameters."""

from __future__ import annotations

from typing import Any

from . import _arrays as arrays
from . import _kelfi
from ._arrays import Array
from ._data_sets import DataSets, native
from .posterior import Posterior
from .prior import Prior, require_prior


class KernelMeansLikelihood:
    """The paper's surrogate q(y|θ) = Σ_j v_j ℓ(θ_j, θ), v = (L + mλI)⁻¹ κ.

    epsilon: float or (n,), in the units of the statistics. length_scale: float or (D,), in prior standard deviations.
    kernel and solver: as in `fit`.

    >>> prior = kelfi.Prior(a=kelfi.Normal(0, 1))
    >>> theta = prior.sample(50, seed=1)
    >>> model = kelfi.KernelMeansLikelihood(theta, theta, [0.3], prior, epsilon=0.2, length_scale=0.5, regularization=1e-3)
    >>> model.weights.shape, model.value([[0.3]]).shape
    ((50,), (1,))
    >>> sorted(model.gradient())
    ['log_epsilon', 'log_length_scale', 'log_regularization']
    >>> model.posterior().super_samples(4, candidates=theta).shape
    (4, 1)
    """

    def __init__(
        self,
        theta: Any,
        x: Any,
        x_o: Any,
        prior: Prior,
        *,
        epsilon: Any,
        length_scale: Any,
        regularization: float,
        kernel: str = "gaussian",
        solver: str = "auto",
    ) -> None:
        prior = require_prior(prior)
        theta, x, names = arrays.simulations(theta, x, prior.names)
        self._native = _kelfi.KernelMeansLikelihood(
            theta,
            native(x),
            arrays.observed(x_o, x, names),
            prior._native,
            arrays.scales("epsilon", epsilon, 1 if isinstance(x, DataSets) else x.shape[1], "statistics"),
            arrays.scales("length_scale", length_scale, prior.dimension, "parameters"),
            arrays.regularization_of(regularization),
            str(kernel),
            str(solver),
        )
        self._prior = prior
        self._simulated, self._names = x[:1], names

    @property
    def prior(self) -> Prior:
        """The prior."""
        return self._prior

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """epsilon (n,), length_scale (D,), regularization and kernel."""
        return dict(self._native.hyperparameters())

    @property
    def weights(self) -> Array:
        """v (m,)."""
        return self._native.weights()

    def value(self, theta: Any) -> Array:
        """q(y|θ) of each row (k,); may be negative."""
        return self._native.value(arrays.points("theta", theta, self._prior.names))

    @property
    def marginal_likelihood(self) -> float:
        """q(y); may be negative."""
        return self._native.marginal_likelihood()

    @property
    def log_marginal_likelihood(self) -> float:
        """ln q(y); an `InferenceError` where q(y) is not positive."""
        return self._native.log_marginal_likelihood()

    def gradient(self) -> dict[str, Any]:
        """Slopes of ln q(y): {"log_epsilon": (n,), "log_length_scale": (D,), "log_regularization": float}."""
        return dict(self._native.gradient())

    def leave_one_out(self) -> tuple[Array, Array]:
        """Each simulation as the observation of a model without it: likelihood (m,), marginal likelihood (m,); NaN for failed ones."""
        return self._native.leave_one_out()

    def condition(self, x_o: Any) -> KernelMeansLikelihood:
        """The same simulations and factorisation at another observation."""
        other = KernelMeansLikelihood.__new__(KernelMeansLikelihood)
        other._native = self._native.condition(arrays.observed(x_o, self._simulated, self._names))
        other._prior, other._simulated, other._names = self._prior, self._simulated, self._names
        return other

    def posterior(self, seed: int = 1) -> Posterior:
        """The posterior; an `InferenceError` where q(y) is not positive. The seed is for integrals without a closed form."""
        return Posterior(self._native.posterior(arrays.seed_of(seed)), statistics=self._names)
