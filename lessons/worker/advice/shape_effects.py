"""The effect of methods, operators and layers on shapes, for the ones that lessons use."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from attn_tutor.lessons.worker.advice.safe_reading import (
    UNKNOWN,
    Linear,
    TensorInfo,
    attributes,
    is_exactly,
    tensor_info,
)

Shape = tuple[int, ...]
Arguments = list[Any]

_LIBRARIES = (torch, functional)

# fmt: off
SAME = frozenset({
    "abs", "clamp", "clone", "contiguous", "cos", "cpu", "detach", "dropout",
    "dropout_", "exp", "gelu", "log", "log_softmax", "masked_fill", "masked_fill_", "neg",
    "relu", "requires_grad_", "sigmoid", "sin", "softmax", "sqrt", "tanh", "to",
    "tril", "triu",
})
# fmt: on
"""Methods whose result has the same shape as the tensor."""

CASTS = {
    "float": torch.float32,
    "double": torch.float64,
    "half": torch.float16,
    "bool": torch.bool,
    "long": torch.int64,
    "int": torch.int32,
}
CONSTRUCTORS = frozenset({"rand", "randn", "zeros", "ones", "empty"})
LIKE_CONSTRUCTORS = frozenset({"rand_like", "randn_like", "zeros_like", "ones_like", "empty_like"})
PRODUCTS = ("matmul", "mm", "bmm", "mv")

SAME_LAYERS = (nn.Dropout, nn.Softmax, nn.LayerNorm, nn.ReLU, nn.GELU, nn.Identity, nn.Tanh, nn.Sigmoid)


def is_torch(value: object) -> bool:
    """Return whether a value is `torch` or `torch.nn.functional`, whose functions take a tensor first."""
    return any(value is library for library in _LIBRARIES)


def broadcast(one: Shape, other: Shape) -> Shape | None:
    """Return the shape that two shapes broadcast to, or None if they do not."""
    longest = max(len(one), len(other))
    pairs = zip((1,) * (longest - len(one)) + one, (1,) * (longest - len(other)) + other, strict=True)
    sizes = [a if b == 1 else b if a in (1, b) else None for a, b in pairs]
    return None if None in sizes else tuple(size for size in sizes if size is not None)


def product(one: Shape, other: Shape) -> Shape | None:
    """Return the shape of the matrix product of two shapes, or None if they do not fit."""
    if not one or not other or one[-1] != other[-2 if len(other) > 1 else 0]:
        return None
    batch = broadcast(one[:-2], other[:-2])
    if batch is None:
        return None
    return (*batch, *(one[-2:-1]), *(other[-1:] if len(other) > 1 else ()))


def result_of_operator(op: ast.operator, left: Any, right: Any) -> TensorInfo | None:
    """Return the result of an operator on two values, at least one of them a tensor; None if it is unknown."""
    one, other = tensor_info(left), tensor_info(right)
    if one is None and other is None:
        return None
    if isinstance(op, ast.MatMult):
        shape = product(one.shape, other.shape) if one and other else None
    else:
        numbers = all(is_exactly(value, int, float, bool) or tensor_info(value) for value in (left, right))
        shape = broadcast(one.shape if one else (), other.shape if other else ()) if numbers else None
    return None if shape is None else TensorInfo(shape)


def result_of_layer(module: object, given: Arguments) -> Any:
    """Return the output of a layer for its input, or `UNKNOWN`."""
    tensor = tensor_info(given[0]) if len(given) == 1 else None
    if tensor is None:
        return UNKNOWN
    if type(module) is Linear and tensor.shape:
        weight = tensor_info(attributes(module).get("weight"))
        fits = weight is not None and weight.shape[1] == tensor.shape[-1]
        return (
            TensorInfo((*tensor.shape[:-1], weight.shape[0]), weight.dtype) if weight is not None and fits else UNKNOWN
        )
    return tensor if is_exactly(module, *SAME_LAYERS) else UNKNOWN


def result_of_constructor(name: str, given: Arguments, named: dict[str, Any]) -> TensorInfo | None:
    """Return the tensor that a function such as `torch.ones` makes, or None."""
    wanted = named.get("dtype", torch.float32)
    dtype = wanted if type(wanted) is torch.dtype else None
    if name in CONSTRUCTORS:
        sizes = _flat(given[0]) if len(given) == 1 and is_exactly(given[0], tuple, list) else given
        return TensorInfo(tuple(sizes), dtype) if sizes and all(type(one) is int for one in sizes) else None
    if name in LIKE_CONSTRUCTORS and given:
        return tensor_info(given[0])
    if name == "arange" and len(given) == 1 and type(given[0]) is int:
        return TensorInfo((given[0],), dtype if "dtype" in named else torch.int64)
    if name == "tensor" and len(given) == 1:
        return _tensor_of_numbers(given[0], dtype if "dtype" in named else None)
    return None


def _tensor_of_numbers(value: object, dtype: torch.dtype | None) -> TensorInfo | None:
    """Return the tensor that `torch.tensor` makes of numbers or nested lists of numbers, or None."""
    for kind, own in ((bool, torch.bool), (int, torch.int64), (float, torch.float32)):
        if type(value) is kind:
            return TensorInfo((), dtype or own)
    if not is_exactly(value, list, tuple):
        return None
    rows = [_tensor_of_numbers(one, dtype) for one in value]
    shapes = {row.shape for row in rows if row is not None}
    if None in rows or len(shapes) != 1:
        return None
    kinds = [row.dtype for row in rows if row is not None]
    common = next((kind for kind in (torch.float32, torch.int64) if kind in kinds), kinds[0])
    return TensorInfo((len(rows), *shapes.pop()), dtype or common)


def result_of_method(name: str, tensor: TensorInfo, given: Arguments, named: dict[str, Any]) -> Any:
    """Return the result of a method of a tensor, which may be numbers; `UNKNOWN` if it is not known."""
    if name in CASTS:
        return TensorInfo(tensor.shape, CASTS[name])
    if name == "to" and given and type(given[0]) is torch.dtype:
        return TensorInfo(tensor.shape, given[0])
    if name in SAME:
        return TensorInfo(tensor.shape, None if name == "to" else tensor.dtype)
    if name in PRODUCTS:
        made = result_of_operator(ast.MatMult(), tensor, given[0]) if given else None
        return made or UNKNOWN
    whole = all(type(one) is int or type(one) is tuple for one in given) and not named
    transform = SHAPE_METHODS.get(name)
    new_shape = transform(tensor.shape, _flat(given)) if transform and whole else None
    if new_shape is not None:
        return TensorInfo(new_shape, tensor.dtype)
    if name == "dim" and not given:
        return len(tensor.shape)
    if name == "size" and not given:
        return tensor.shape
    return tensor.shape[given[0]] if name == "size" and type(given[0]) is int else UNKNOWN


def _flat(given: Any) -> list[int]:
    return [one for value in given for one in (value if type(value) is tuple else (value,))]


def transposed(shape: Shape, dims: list[int]) -> Shape | None:
    """Return a shape with two of its axes exchanged, or None if it does not have them."""
    count = len(shape)
    if len(dims) != 2 or not all(-count <= dim < count for dim in dims):
        return None
    sizes = list(shape)
    sizes[dims[0]], sizes[dims[1]] = sizes[dims[1]], sizes[dims[0]]
    return tuple(sizes)


def viewed(shape: Shape, sizes: list[int]) -> Shape | None:
    """Return the shape after `view(*sizes)`, where one size may be -1; None if the sizes do not fit."""
    count, known = math.prod(shape), math.prod(size for size in sizes if size != -1)
    if sizes.count(-1) == 1 and known and count % known == 0:
        return tuple(count // known if size == -1 else size for size in sizes)
    return tuple(sizes) if known == count and -1 not in sizes else None


def _permuted(shape: Shape, dims: list[int]) -> Shape | None:
    fits = sorted(dim % len(shape) for dim in dims) == list(range(len(shape))) if shape else not dims
    return tuple(shape[dim] for dim in dims) if fits else None


def _unsqueezed(shape: Shape, dims: list[int]) -> Shape | None:
    if len(dims) != 1 or not -len(shape) - 1 <= dims[0] <= len(shape):
        return None
    axis = dims[0] % (len(shape) + 1)
    return (*shape[:axis], 1, *shape[axis:])


SHAPE_METHODS: dict[str, Callable[[Shape, list[int]], Shape | None]] = {
    "transpose": transposed,
    "swapaxes": transposed,
    "t": lambda shape, dims: shape[::-1] if len(shape) <= 2 and not dims else None,
    "view": viewed,
    "reshape": viewed,
    "permute": _permuted,
    "unsqueeze": _unsqueezed,
}
