"""Safety from the code of a program: its values read without running any of it, Python's builtins restored.

Values are read without properties, `__getattr__` and comparisons. The builtins may be replaced in a process that has
run a program; the tutor's own code runs there with the original ones.
"""

from __future__ import annotations

import builtins
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, GetSetDescriptorType, MemberDescriptorType, WrapperDescriptorType
from typing import Any, TypeGuard, TypeVar

import torch
from torch import nn

Result = TypeVar("Result")

# Bound before any learner's code runs.
_builtins = vars(builtins)
_original_builtins: dict[str, Any] = dict(_builtins)
_copy, _update, _remove, _list = _builtins.copy, _builtins.update, _builtins.pop, list


def with_original_builtins(call: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function with Python's original builtins, then restore what the program made of them."""
    theirs = _copy()
    _update(_original_builtins)
    try:
        return call(*arguments)
    finally:
        _update(theirs)
        for name in _list(_builtins):
            if name not in theirs:
                _remove(name)


# Bound before any learner's code runs, which may replace them.
_mro: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_class_dict: Callable[[type], Any] = type.__dict__["__dict__"].__get__
_class_name: Callable[[type], str] = type.__dict__["__name__"].__get__
_arguments: Callable[[BaseException], tuple[Any, ...]] = BaseException.__dict__["args"].__get__
_fields: Callable[[object, str], Any] = object.__getattribute__
_shape: Callable[[object], Any] = torch._C.TensorBase.__dict__["shape"].__get__
_dtype: Callable[[object], torch.dtype] = torch._C.TensorBase.__dict__["dtype"].__get__

Tensor, Parameter, Module, Linear = torch.Tensor, nn.Parameter, nn.Module, nn.Linear
MODULE_DICTS = ("_parameters", "_buffers", "_modules")

TENSOR_NAMES = frozenset(dir(torch.Tensor))
"""The names that can follow a tensor and a dot."""


Kind = TypeVar("Kind")


class Unknown:
    """The type of `UNKNOWN`."""


UNKNOWN = Unknown()
"""The value of code whose result is unknown unless something is run."""


@dataclass(frozen=True)
class TensorInfo:
    """The shape of a tensor, and its dtype if that is known."""

    shape: tuple[int, ...]
    dtype: torch.dtype | None = None


def is_a(value: object, *kinds: type[Kind]) -> TypeGuard[Kind]:
    """Do what `isinstance` does without asking the value or its class."""
    return any(found is kind for found in _mro(type(value)) for kind in kinds)


def is_exactly(value: object, *kinds: type[Kind]) -> TypeGuard[Kind]:
    """Return whether the class of a value is one of these; derived classes do not count."""
    # Not `in`: it compares with `==`, which a metaclass may define.
    return any(type(value) is kind for kind in kinds)


def type_name(value: object) -> str:
    """Return the name of a value's class."""
    return _class_name(type(value))


def is_class(value: object) -> TypeGuard[type]:
    """Return whether a value is a class."""
    return is_a(value, type)


def tensor_info(value: object) -> TensorInfo | None:
    """Return the shape and dtype of a tensor; None for anything else.

    Tensors of derived classes may compute their shape, so they count as unknown.
    """
    if type(value) is TensorInfo:
        return value
    if is_exactly(value, Tensor, Parameter):
        return TensorInfo(tuple(map(int, _shape(value))), _dtype(value))
    return None


def fields(value: object) -> dict[str, Any]:
    """Return the instance dictionary of an object, or an empty one if reading it would run code."""
    for kind in _mro(type(value)):
        own = _class_dict(kind).get("__dict__")
        if own is not None and not is_exactly(own, GetSetDescriptorType, MemberDescriptorType):
            return {}
    try:
        found = _fields(value, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}


def attributes(module: object) -> dict[str, Any]:
    """Return what an object stores by name: its own values, and a module's parameters, buffers and layers."""
    own = fields(module)
    found = dict(own)
    if is_a(module, Module):
        for name in MODULE_DICTS:
            held = own.get(name)
            if held is not None and is_exactly(held, dict, OrderedDict):
                found.update(held)
    return found


def class_members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the names and values that a class and its bases define, nearest class first."""
    for base in _mro(kind):
        yield from [(key, value) for key, value in list(_class_dict(base).items()) if type(key) is str]


def class_attribute(kind: type, name: str) -> Any:
    """Return what a class defines or inherits under a name, or `UNKNOWN`."""
    return next((value for key, value in class_members(kind) if key == name), UNKNOWN)


def attribute(value: object, name: str) -> Any:
    """Return `value.name` if it only has to be looked up, else `UNKNOWN`."""
    tensor = tensor_info(value)
    if tensor is not None:
        return tensor_attribute(tensor, value, name)
    if is_class(value):
        return class_attribute(value, name) if type(value) is type else UNKNOWN
    held = attributes(value)
    if name in held:
        return held[name]
    found = class_attribute(type(value), name)
    return found if is_exactly(found, int, float, str, bool, tuple, FunctionType) else UNKNOWN


def tensor_attribute(tensor: TensorInfo, value: object, name: str) -> Any:
    """Return an attribute of a tensor that follows from its shape, such as `.T`; else `UNKNOWN`."""
    shape = tensor.shape
    if name == "shape":
        return shape
    if name == "ndim":
        return len(shape)
    if name == "data":
        return TensorInfo(shape, tensor.dtype)
    if name == "T":
        return TensorInfo(shape[::-1], tensor.dtype)
    if name == "mT" and len(shape) >= 2:
        return TensorInfo((*shape[:-2], shape[-1], shape[-2]), tensor.dtype)
    return UNKNOWN


def item(value: object, index: object) -> Any:
    """Return `value[index]` of a tensor or of one of Python's own containers, or `UNKNOWN`."""
    tensor = tensor_info(value)
    if tensor is not None:
        return indexed(tensor, index)
    if is_exactly(value, tuple, list) and is_exactly(index, int, slice):
        try:
            return value[index]  # type: ignore[call-overload]
        except (IndexError, ValueError, TypeError):
            return UNKNOWN
    if is_exactly(value, dict, OrderedDict) and is_exactly(index, int, str):
        return value.get(index, UNKNOWN)
    if is_a(value, nn.ModuleList, nn.Sequential, nn.ModuleDict) and is_exactly(index, int, str):
        return attributes(value).get(str(index), UNKNOWN)
    return UNKNOWN


def indexed(tensor: TensorInfo, index: object) -> Any:
    """Index a tensor by integers, slices, None and `...`; returns its `TensorInfo`, or `UNKNOWN`."""
    entries = index if type(index) is tuple else (index,)
    axes = sum(is_exactly(entry, int, slice) for entry in entries)
    if axes > len(tensor.shape):
        return UNKNOWN
    left, sizes = list(tensor.shape), list[int]()
    for position, entry in enumerate(entries):
        if entry is None:
            sizes.append(1)
        elif entry is Ellipsis:
            count = len(left) - (axes - sum(is_exactly(earlier, int, slice) for earlier in entries[:position]))
            sizes += left[:count]
            del left[:count]
        elif type(entry) is int:
            size = left.pop(0)
            if not -size <= entry < size:
                return UNKNOWN
        elif type(entry) is slice and all(
            part is None or type(part) is int for part in (entry.start, entry.stop, entry.step)
        ):
            sizes.append(len(range(*entry.indices(left.pop(0)))))
        else:
            return UNKNOWN
    return TensorInfo((*sizes, *left), tensor.dtype)


def message_of(error: BaseException) -> str:
    """Return the message of an exception, or "" if code of its class would have to run."""
    how = class_attribute(type(error), "__str__")
    details = (tuple,) if is_a(error, SyntaxError) else ()
    plain = all(is_exactly(entry, str, int, float, type(None), *details) for entry in _arguments(error))
    return str(error) if type(how) is WrapperDescriptorType and plain else ""


def function_of(value: object) -> FunctionType | None:
    """Return the Python function that a call of a value runs: a class's `__init__`, a module's `forward`."""
    if is_class(value):
        found = class_attribute(value, "__init__") if type(value) is type else UNKNOWN
    elif is_a(value, Module):
        found = class_attribute(type(value), "forward")
    else:
        found = value
    return found if type(found) is FunctionType else None


def is_method(value: object) -> bool:
    """Return whether a value is a builtin function or method, such as `x.mean` without its parentheses."""
    return type(value) is BuiltinFunctionType
