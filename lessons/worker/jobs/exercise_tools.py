"""Functions that the code of an exercise (`context`, `probe`, `checks`) may use besides torch."""

from __future__ import annotations

import random
import zlib
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn


def pick(count: int, low: int, high: int) -> list[int]:
    """Draw `count` different sizes from `low` to `high`, so that a wrong axis shows as a wrong shape."""
    return random.sample(range(low, high + 1), count)


def refill(module: nn.Module, seed: int) -> None:
    """Give every parameter new values that depend on its name, its shape and the seed only, in place.

    Two modules whose parameters have the same names and shapes thus compute with the same numbers, however they were
    initialized. Buffers stay. Values are uniform in (-0.5, 0.5), different for every parameter.
    """
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            generator = torch.Generator().manual_seed(zlib.crc32(f"{seed}/{name}".encode()))
            parameter.copy_(torch.rand(parameter.shape, generator=generator) - 0.5)


def parameters(module: nn.Module) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of a module's parameters."""
    return {name: tuple(parameter.shape) for name, parameter in module.named_parameters()}


def close(got: object, want: object, atol: float = 1e-4) -> bool:
    """Return whether two tensors have the same shape and agree within `atol`; False for NaN and for non-tensors."""
    if not isinstance(got, torch.Tensor) or not isinstance(want, torch.Tensor) or got.shape != want.shape:
        return False
    return bool(torch.allclose(got.double(), want.double(), rtol=1e-4, atol=atol))


MOST_NUMBERS = 6


def numbers(values: torch.Tensor, digits: int = 2) -> str:
    """Format the first numbers of a tensor, such as `0.92, 1.30, 1.28`, with dots at the end if there are more."""
    flat = values.detach().double().flatten()
    shown = ", ".join(f"{value:.{digits}f}" for value in flat[:MOST_NUMBERS].tolist())
    return shown + (", ..." if flat.numel() > MOST_NUMBERS else "")


def rows(weights: torch.Tensor) -> str:
    """Format the sum of each row of a matrix; of a batch or of several heads, only the first matrix counts."""
    return numbers(_first_matrix(weights).sum(dim=-1))


def columns(weights: torch.Tensor) -> str:
    """Format the sum of each column of a matrix; of a batch or of several heads, only the first matrix counts."""
    return numbers(_first_matrix(weights).sum(dim=-2))


def _first_matrix(values: torch.Tensor) -> torch.Tensor:
    while values.dim() > 2:
        values = values[0]
    return values


def tools() -> dict[str, Any]:
    """Return the names that the code of an exercise starts with."""
    return {
        "torch": torch,
        "nn": nn,
        "random": random,
        "pick": pick,
        "refill": refill,
        "parameters": parameters,
        "close": close,
        "numbers": numbers,
        "rows": rows,
        "columns": columns,
    }


def attributes(values: dict[str, Any]) -> SimpleNamespace:
    """Return an object whose attributes are the entries of a dict, so that code can say `got.out`."""
    return SimpleNamespace(**{str(key): value for key, value in values.items()})
