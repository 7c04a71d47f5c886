"""Reading a program's values without running any of its code: no property, no `__getattr__`, no comparison."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, GetSetDescriptorType, MemberDescriptorType, WrapperDescriptorType
from typing import Any, TypeGuard, TypeVar

import torch
from torch import nn

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
"""What can be written after a tensor and a dot."""


Kind = TypeVar("Kind")


class Unknown:
    """The type of `UNKNOWN`."""


UNKNOWN = Unknown()
"""The value of what cannot be told without running something."""


@dataclass(frozen=True)
class Sized:
    """What is known of a tensor: its shape, and what kind of numbers it holds."""

    shape: tuple[int, ...]
    dtype: torch.dtype | None = None


def is_a(value: object, *kinds: type[Kind]) -> TypeGuard[Kind]:
    """`isinstance` that asks neither the value nor its class."""
    return any(found is kind for found in _mro(type(value)) for kind in kinds)


def exactly(value: object, *kinds: type[Kind]) -> TypeGuard[Kind]:
    """Whether a value is of one of these classes, and of no other derived from it."""
    # Not `in`: it compares with `==`, which the class of a class may define.
    return any(type(value) is kind for kind in kinds)


def type_name(value: object) -> str:
    """The name of a value's class."""
    return _class_name(type(value))


def is_class(value: object) -> TypeGuard[type]:
    """Whether a value is a class."""
    return is_a(value, type)


def sized(value: object) -> Sized | None:
    """A tensor by its shape; None for anything else. Tensors of other classes may compute theirs: they are left out."""
    if type(value) is Sized:
        return value
    if exactly(value, Tensor, Parameter):
        return Sized(tuple(map(int, _shape(value))), _dtype(value))
    return None


def fields(value: object) -> dict[str, Any]:
    """The instance dictionary of an object, empty where that would have to be asked for."""
    for kind in _mro(type(value)):
        own = _class_dict(kind).get("__dict__")
        if own is not None and not exactly(own, GetSetDescriptorType, MemberDescriptorType):
            return {}
    try:
        found = _fields(value, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}


def parts(module: object) -> dict[str, Any]:
    """What an object holds under a name: its own values, and the parameters, buffers and layers of a module."""
    own = fields(module)
    found = dict(own)
    if is_a(module, Module):
        for name in MODULE_DICTS:
            held = own.get(name)
            if held is not None and exactly(held, dict, OrderedDict):
                found.update(held)
    return found


def class_names(kind: type) -> Iterator[tuple[str, Any]]:
    """What the classes of an object define, the nearest first."""
    for base in _mro(kind):
        yield from [(key, value) for key, value in list(_class_dict(base).items()) if type(key) is str]


def in_class(kind: type, name: str) -> Any:
    """What a class defines or inherits under a name."""
    return next((value for key, value in class_names(kind) if key == name), UNKNOWN)


def attribute(value: object, name: str) -> Any:
    """`value.name`, where that only has to be looked up."""
    tensor = sized(value)
    if tensor is not None:
        return tensor_attribute(tensor, value, name)
    if is_class(value):
        return in_class(value, name) if type(value) is type else UNKNOWN
    held = parts(value)
    if name in held:
        return held[name]
    found = in_class(type(value), name)
    return found if exactly(found, int, float, str, bool, tuple, FunctionType) else UNKNOWN


def tensor_attribute(tensor: Sized, value: object, name: str) -> Any:
    """`.T` and the like of a tensor."""
    shape = tensor.shape
    if name == "shape":
        return shape
    if name == "ndim":
        return len(shape)
    if name == "data":
        return Sized(shape, tensor.dtype)
    if name == "T":
        return Sized(shape[::-1], tensor.dtype)
    if name == "mT" and len(shape) >= 2:
        return Sized((*shape[:-2], shape[-1], shape[-2]), tensor.dtype)
    return UNKNOWN


def item(value: object, index: object) -> Any:
    """`value[index]` of a tensor, or of Python's own containers."""
    tensor = sized(value)
    if tensor is not None:
        return indexed(tensor, index)
    if exactly(value, tuple, list) and exactly(index, int, slice):
        try:
            return value[index]  # type: ignore[call-overload]
        except (IndexError, ValueError, TypeError):
            return UNKNOWN
    if exactly(value, dict, OrderedDict) and exactly(index, int, str):
        return value.get(index, UNKNOWN)
    if is_a(value, nn.ModuleList, nn.Sequential, nn.ModuleDict) and exactly(index, int, str):
        return parts(value).get(str(index), UNKNOWN)
    return UNKNOWN


def indexed(tensor: Sized, index: object) -> Any:
    """A tensor by integers, slices, None and `...`."""
    every = index if type(index) is tuple else (index,)
    axes = sum(exactly(one, int, slice) for one in every)
    if axes > len(tensor.shape):
        return UNKNOWN
    left, made = list(tensor.shape), list[int]()
    for place, one in enumerate(every):
        if one is None:
            made.append(1)
        elif one is Ellipsis:
            count = len(left) - (axes - sum(exactly(done, int, slice) for done in every[:place]))
            made += left[:count]
            del left[:count]
        elif type(one) is int:
            size = left.pop(0)
            if not -size <= one < size:
                return UNKNOWN
        elif type(one) is slice and all(part is None or type(part) is int for part in (one.start, one.stop, one.step)):
            made.append(len(range(*one.indices(left.pop(0)))))
        else:
            return UNKNOWN
    return Sized((*made, *left), tensor.dtype)


def text_of(error: BaseException) -> str:
    """The message of an exception; nothing if its class would have to be asked for it."""
    how = in_class(type(error), "__str__")
    details = (tuple,) if is_a(error, SyntaxError) else ()
    plain = all(exactly(one, str, int, float, type(None), *details) for one in _arguments(error))
    return str(error) if type(how) is WrapperDescriptorType and plain else ""


def function_of(value: object) -> FunctionType | None:
    """The Python function that a call of this value runs: of a class its constructor, of a module its `forward`."""
    if is_class(value):
        found = in_class(value, "__init__") if type(value) is type else UNKNOWN
    elif is_a(value, Module):
        found = in_class(type(value), "forward")
    else:
        found = value
    return found if type(found) is FunctionType else None


def is_method(value: object) -> bool:
    """Whether a value is a function of C, such as `x.mean` without its brackets."""
    return type(value) is BuiltinFunctionType
