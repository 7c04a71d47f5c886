"""Attention computed independently with plain Python numbers and loops, and a way to see the steps of a layer.

There is no tensor algebra here on purpose: a wrong transpose, axis or scale in a layer has nothing to hide behind.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any

import torch
from torch import Tensor, nn

Matrix = list[list[float]]


def linear(rows: Matrix, weight: Matrix, bias: list[float] | None) -> Matrix:
    """Multiply each row by the transposed weight (out, in), and add the bias."""
    out: Matrix = []
    for row in rows:
        new = []
        for o, weights in enumerate(weight):
            total = math.fsum(x * w for x, w in zip(row, weights, strict=True))
            new.append(total + (bias[o] if bias is not None else 0.0))
        out.append(new)
    return out


def head_steps(queries: Matrix, keys: Matrix, values: Matrix, causal: bool) -> dict[str, Matrix]:
    """Compute the steps of one head for one sequence."""
    n, width = len(queries), len(queries[0])
    scores = [[math.fsum(queries[i][c] * keys[j][c] for c in range(width)) for j in range(n)] for i in range(n)]
    scaled = [[score / math.sqrt(width) for score in row] for row in scores]
    masked = [[-math.inf if causal and j > i else scaled[i][j] for j in range(n)] for i in range(n)]
    weights = []
    for row in masked:
        top = max(row)
        powers = [math.exp(score - top) for score in row]
        weights.append([power / math.fsum(powers) for power in powers])
    context = [[math.fsum(weights[i][j] * values[j][c] for j in range(n)) for c in range(width)] for i in range(n)]
    steps = {"queries": queries, "keys": keys, "values": values}
    return steps | {"scores": scores, "scaled": scaled, "masked": masked, "weights": weights, "context": context}


def layer_steps(layer: nn.Module, inputs: Tensor, num_heads: int = 1, causal: bool = True) -> dict[str, Tensor]:
    """Compute the steps of a layer with W_query, W_key, W_value (and perhaps out_proj) on (b, num_tokens, d_in).

    With ``num_heads`` above 1 the result has a head axis. Dropout is left out.
    """
    parameters = {name: value.tolist() for name, value in layer.state_dict().items()}
    batches: list[list[dict[str, Matrix]]] = []
    outputs = []
    for sequence in inputs.tolist():
        projected = [
            linear(sequence, parameters[f"{name}.weight"], parameters.get(f"{name}.bias"))
            for name in ("W_query", "W_key", "W_value")
        ]
        width = len(projected[0][0]) // num_heads
        heads = []
        for h in range(num_heads):
            parts = [[row[h * width : (h + 1) * width] for row in matrix] for matrix in projected]
            heads.append(head_steps(parts[0], parts[1], parts[2], causal))
        batches.append(heads)
        joined = [[number for head in heads for number in head["context"][i]] for i in range(len(sequence))]
        if "out_proj.weight" in parameters:
            joined = linear(joined, parameters["out_proj.weight"], parameters["out_proj.bias"])
        outputs.append(joined)
    steps = {
        name: torch.tensor([[head[name] for head in heads] for heads in batches], dtype=torch.float64)
        for name in batches[0][0]
    }
    if num_heads == 1:
        steps = {name: value.squeeze(1) for name, value in steps.items()}
    return steps | {"output": torch.tensor(outputs, dtype=torch.float64)}


def steps_of(layer: nn.Module, inputs: Tensor) -> dict[str, Any]:
    """Return the local variables at the end of the methods that ``layer`` runs, and its result as "output"."""
    classes = [each for each in type(layer).__mro__ if issubclass(each, nn.Module) and each is not nn.Module]
    codes = {method.__code__ for each in classes for method in vars(each).values() if isinstance(method, FunctionType)}
    found: dict[str, Any] = {}

    def watch(frame: FrameType, event: str, result: Any) -> None:
        if event == "return" and frame.f_code in codes and frame.f_locals["self"] is layer:
            found.update(frame.f_locals)
            found["output"] = result

    before: Callable[..., Any] | None = sys.getprofile()
    sys.setprofile(watch)
    try:
        layer(inputs)
    finally:
        sys.setprofile(before)
    return found


def assert_steps(layer: nn.Module, inputs: Tensor, num_heads: int = 1, causal: bool = True) -> None:
    """Assert that the result of a layer and every step that it names agree with the loops (float64)."""
    expected = layer_steps(layer, inputs, num_heads, causal)
    actual = steps_of(layer, inputs)
    for name, value in expected.items():
        if name == "masked" and not causal:
            continue
        assert name in actual, f"the layer has no step called {name}"
        same = torch.allclose(actual[name], value, rtol=1e-9, atol=1e-11)
        assert same, f"step {name} is {actual[name]}, the loops give {value}"
