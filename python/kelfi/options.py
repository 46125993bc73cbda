"""The options of `fit`, in one place: their types, what they are if not given, and what the native module makes of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Optional, TypedDict, TypeVar, Union, cast, get_args

from . import _arrays as arrays
from . import _kelfi
from .errors import InputError

# The names that Rust knows; a test compares them with its registry.
Model = Literal["auto", "kernel-means", "location-scale", "summaries"]
Objective = Literal["loo", "mkml"]
Kernel = Literal["gaussian", "matern32", "matern52"]
Solver = Literal["auto", "exact", "low-rank"]


class ModelOptions(TypedDict, total=False):
    """Which model, and what is given of it; `fit` says what each does."""

    model: Model
    objective: Objective
    ard: Optional[bool]
    epsilon: Any
    length_scale: Any
    regularization: Union[float, Literal["tied"], None]
    kernel: Kernel
    solver: Solver


class FitOptions(ModelOptions, total=False):
    """Options of `fit`, `Rounds` and `KELFI.train`."""

    seed: int


DEFAULTS = FitOptions(
    model="auto",
    objective="loo",
    ard=None,
    epsilon=None,
    length_scale=None,
    regularization=None,
    kernel="gaussian",
    solver="auto",
    seed=1,
)
# Every model has these; the others are hyperparameters, which not every model lets users give.
OF_EVERY_MODEL = ("model", "seed")

Settings = tuple[str, str, Any, Any, Any, str, str, int]
Function = TypeVar("Function", bound=Callable[..., Any])


def with_options(*defaults: Mapping[str, Any]) -> Callable[[Function], Function]:
    """Shows options with their defaults in the signature of a function that takes them as `**options`."""

    def shown(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [parameter for parameter in signature.parameters.values() if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
        known = {parameter.name for parameter in own}
        pairs = [(name, default) for group in defaults for name, default in group.items() if name not in known]
        more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, default in pairs]
        cast(Any, function).__signature__ = signature.replace(parameters=[*own, *more])
        return function

    return shown


def divide(options: Mapping[str, Any], group: Mapping[str, Any]) -> tuple[Any, Any]:
    """The options that are in `group`, and the others."""
    return {name: options[name] for name in options if name in group}, {name: options[name] for name in options if name not in group}


def settings_of(statistics: int, parameters: int, given: FitOptions) -> tuple[Settings, dict[str, Any]]:
    """The options as the native module takes them, and as a posterior remembers them."""
    options = complete(given)
    model, seed = options["model"], options["seed"]
    _choice("model", model, [name for name, _ in _kelfi.models()])
    _choice("solver", options["solver"], get_args(Solver))
    _refuse_hyperparameters(model, given)
    if options["epsilon"] is not None:
        options["epsilon"] = arrays.scales("epsilon", options["epsilon"], statistics, "statistics")
    if options["length_scale"] is not None:
        options["length_scale"] = arrays.scales("length_scale", options["length_scale"], parameters, "parameters")
    if options["regularization"] is not None and not isinstance(options["regularization"], str):
        options["regularization"] = arrays.regularization_of(options["regularization"])
    return _settings(options, arrays.seed_of(seed)), options


def complete(given: FitOptions) -> dict[str, Any]:
    """The options given and the defaults of the others; an unknown name is refused, with the one that is probably meant."""
    for name in given:
        if name not in DEFAULTS:
            meant = _kelfi.meant_by(name, list(DEFAULTS))
            raise TypeError(f"there is no option {name!r}" + ("" if meant is None else f"\n  did you mean {meant!r}?"))
    return {**DEFAULTS, **given}


def _settings(options: dict[str, Any], seed: int) -> Settings:
    epsilon, length_scale, regularization = options["epsilon"], options["length_scale"], options["regularization"]
    if epsilon is None:
        epsilon = "common" if options["ard"] is False else "each"
    if length_scale is None:
        length_scale = "each" if options["ard"] else "common"
    regularization = "free" if regularization is None else regularization
    return options["model"], str(options["objective"]), epsilon, length_scale, regularization, str(options["kernel"]), options["solver"], seed


def _refuse_hyperparameters(model: str, given: FitOptions) -> None:
    """An error for hyperparameters of a model that takes none."""
    if dict(_kelfi.models())[model]:
        return
    names = [name for name, value in given.items() if name not in OF_EVERY_MODEL and _is_set(value, DEFAULTS[name])]  # type: ignore[literal-required]
    if names:
        raise InputError(
            f'model = "{model}" was asked for with {", ".join(names)}, which only the kernel means model has'
            '\n  leave it out, or use model="kernel-means"'
        )


def _is_set(value: Any, default: Any) -> bool:
    return not (value is default or (isinstance(value, str) and value == default))


def _choice(name: str, value: Any, allowed: Sequence[str]) -> None:
    if not isinstance(value, str) or value not in allowed:
        words = " or ".join(f'"{word}"' for word in allowed)
        meant = _kelfi.meant_by(value, list(allowed)) if isinstance(value, str) else None
        hint = "" if meant is None else f'\n  did you mean "{meant}"?'
        raise InputError(f"{name} = {value!r} is not allowed: in this version it must be {words}{hint}")
