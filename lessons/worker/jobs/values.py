"""A codec between Python values with tensors in them, and JSON with one blob.

Only plain values are encoded: None, numbers, strings, lists, tuples, dicts with string keys, and tensors. Anything from
a learner's process is therefore only data, whatever the learner's code did to its own interpreter.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Iterator
from typing import Any

import torch

from attn_tutor.lessons.texts.wording import Wording

say = Wording("worker/values")

DTYPES: dict[str, torch.dtype] = {
    "float32": torch.float32,
    "float64": torch.float64,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "int64": torch.int64,
    "int32": torch.int32,
    "int16": torch.int16,
    "int8": torch.int8,
    "uint8": torch.uint8,
    "bool": torch.bool,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
DEPTH = 16
MOST_VALUES = 5000
LONGEST_TEXT = 10_000
CAP = 6 << 20

_string_at = ctypes.string_at
_detach, _contiguous, _cpu = torch.Tensor.detach, torch.Tensor.contiguous, torch.Tensor.cpu


class ValueNotPlain(TypeError):
    """A value that cannot be encoded."""


def raw(tensor: torch.Tensor) -> bytes:
    """Return the elements of a tensor in row-major order, as little-endian bytes. Works without numpy."""
    flat = _contiguous(_cpu(_detach(tensor)))
    return _string_at(flat.data_ptr(), flat.numel() * flat.element_size()) if flat.numel() else b""


def encode(value: object) -> tuple[Any, bytes]:
    """Encode a value as a JSON tree and a blob. Raises `ValueNotPlain`, which names the part that cannot be encoded."""
    blob = bytearray()
    count = itertools.count()
    return _encode(value, blob, count, 0), bytes(blob)


def _encode(value: object, blob: bytearray, count: Iterator[int], depth: int) -> Any:
    if depth > DEPTH:
        raise ValueNotPlain(say("too-deep", "values nested too deeply"))
    if next(count) > MOST_VALUES:
        raise ValueNotPlain(say("too-many", "too many values"))
    if value is None or type(value) in (bool, float, str):
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            raise ValueNotPlain(say("long-text", "a text of {count} characters", count=len(value)))
        return value
    if type(value) is int:
        if value.bit_length() > 63:
            raise ValueNotPlain(say("large-integer", "an integer of more than 64 bits"))
        return value
    if isinstance(value, torch.Tensor):
        name = NAMES.get(value.dtype)
        if name is None:
            raise ValueNotPlain(say("dtype", "a tensor of dtype {dtype}", dtype=value.dtype))
        if value.layout != torch.strided or value.is_meta:
            raise ValueNotPlain(
                say("no-data", "a tensor without data")
                if value.is_meta
                else say("layout", "a tensor of layout {layout}", layout=value.layout)
            )
        if len(blob) + value.numel() * value.element_size() > CAP:
            shape = tuple(value.shape)
            raise ValueNotPlain(say("large-tensor", "a tensor of shape {shape}, too large to be compared", shape=shape))
        offset = len(blob)
        blob += raw(value)
        return {"t": "tensor", "dtype": name, "shape": list(value.shape), "offset": offset}
    if isinstance(value, list):
        return [_encode(item, blob, count, depth + 1) for item in value]
    if isinstance(value, tuple):
        return {"t": "tuple", "items": [_encode(item, blob, count, depth + 1) for item in value]}
    if isinstance(value, dict):
        return {
            "t": "dict",
            "items": [[str(key), _encode(item, blob, count, depth + 1)] for key, item in value.items()],
        }
    raise ValueNotPlain(say("type", "a value of type {type}", type=type(value).__name__))


def decode(tree: Any, blob: bytes, depth: int = 0) -> Any:
    """Decode a JSON tree and its blob. Raises `ValueError`, `KeyError` or `TypeError` for malformed data."""
    if depth > DEPTH + 1:
        raise ValueError("nested too deeply")
    if isinstance(tree, list):
        return [decode(item, blob, depth + 1) for item in tree]
    if not isinstance(tree, dict):
        return tree
    kind = tree.get("t")
    if kind == "tensor":
        return _decode_tensor(tree, blob)
    items = tree.get("items")
    if kind == "tuple" and isinstance(items, list):
        return tuple(decode(item, blob, depth + 1) for item in items)
    if kind == "dict" and isinstance(items, list):
        return {str(key): decode(item, blob, depth + 1) for key, item in items}
    raise ValueError("unknown value")


def _decode_tensor(tree: dict[str, Any], blob: bytes) -> torch.Tensor:
    dtype, shape, offset = DTYPES[str(tree.get("dtype"))], tree.get("shape"), tree.get("offset")
    if not isinstance(shape, list) or not isinstance(offset, int) or offset < 0:
        raise ValueError("unreadable tensor")
    if len(shape) > 8 or not all(type(size) is int and 0 <= size <= CAP for size in shape):
        raise ValueError("unreadable tensor")
    if math.prod(max(size, 1) for size in shape) > CAP:
        # This includes empty tensors, whose strides would not fit into 64 bits.
        raise ValueError("unreadable tensor")
    count = math.prod(shape)
    if count == 0:
        return torch.empty(shape, dtype=dtype)
    if offset + count * dtype.itemsize > len(blob):
        raise ValueError("unreadable tensor")
    # frombuffer shares memory with `data`, a copy that belongs to this tensor alone.
    data = bytearray(blob[offset : offset + count * dtype.itemsize])
    return torch.frombuffer(data, dtype=dtype, count=count).reshape(shape)
