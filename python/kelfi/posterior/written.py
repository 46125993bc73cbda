"""The written form: JSON that is all that is needed to build a posterior again. Reading it runs no code."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from .. import _arrays as arrays
from .. import _kelfi
from ..errors import InputError, KelfiError
from .held import Held

if TYPE_CHECKING:
    from typing_extensions import Self


class Written(Held):
    """Saving, loading, pickling and copying."""

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
    def from_json(cls, text: str) -> Self:
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
        import tempfile

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
        return type(self).from_json, (self.to_json(),)

    def __copy__(self) -> Self:
        learned = None if self._learned is None else dict(self._learned)
        return type(self)(self._native, learned, self.comparison, self._statistics, self._options)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # The native half never changes: sharing it is safe.
        return self.__copy__()


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
    pairs = {key: pair for key, pair in written.items() if key not in found}
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
