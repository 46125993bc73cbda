"""Torch tensors in, torch tensors out, for those who work with them. Torch is not needed, nor imported."""

from __future__ import annotations

import sys
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def is_tensor(value: Any) -> bool:
    """Whether it is a torch tensor."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def like(array: Kind, *given: Any) -> Kind:
    """`array` as a tensor of the type and on the device of the first tensor among `given`; as it is if there is none.

    >>> like([0.5], [1.0], None)
    [0.5]
    """
    tensor = next((value for value in given if is_tensor(value)), None)
    if tensor is None:
        return array
    torch = sys.modules["torch"]
    kind = tensor.dtype if tensor.is_floating_point() else torch.get_default_dtype()
    made: Kind = torch.as_tensor(array, dtype=kind, device=tensor.device)
    return made
