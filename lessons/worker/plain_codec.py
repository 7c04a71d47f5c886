"""A codec between frozen dataclasses and JSON, driven by their annotations.

Decoding trusts nothing, since the other side may have run a learner's code: a field that is missing, unknown, of the
wrong type or out of the bounds of its type (`lessons.results.field_bounds`) raises `ValueError`, and so does a
dataclass whose method `check` does. Data that only passes through is `Plain`.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, Protocol, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from attn_tutor.lessons.results.field_bounds import LARGEST_INTEGER, LEAST_INTEGER, Between, Items, Longest, ReadBy

T = TypeVar("T")
Convert = Callable[[Any], Any]
Codec = tuple[Convert | None, Convert | None]
"""The functions that encode and decode a value; None leaves the value as it is."""

FLOAT_LIMIT = 1 << 1023
"""The least integer that is not accepted as a float; integers not much larger would overflow."""


class HasTextForm(Protocol):
    """A dataclass that travels as text: `str` writes it, `parse` reads it."""

    @classmethod
    def parse(cls, text: str) -> Any:
        """Return the object that a text describes. Raises `ValueError`."""


def encode(value: object) -> dict[str, Any]:
    """Return the fields of a dataclass as a JSON object."""
    found: dict[str, Any] = {}
    kind: Any = type(value)
    for name, write, _ in _codecs(kind):
        part = getattr(value, name)
        found[name] = part if write is None else write(part)
    return found


def decode(kind: type[T], data: dict[str, Any]) -> T:
    """Return the dataclass with these fields. Raises `ValueError` if the fields are not the ones of the class."""
    codecs = _codecs(cast(Any, kind))
    if len(data) != len(codecs):
        raise ValueError(f"{kind.__name__} has other fields")
    missing = [name for name, _, _ in codecs if name not in data]
    if missing:
        raise ValueError(f"{kind.__name__} has no field {missing[0]}")
    found = kind(*[data[name] if read is None else read(data[name]) for name, _, read in codecs])
    check = getattr(kind, "check", None)
    if check is not None:
        check(found)
    return found


def prepare(kind: Any) -> None:
    """Build the codec of a dataclass ahead of time, while its module and the builtins are still intact."""
    _codecs(kind)


@cache
def _codecs(kind: type[Any]) -> list[tuple[str, Convert | None, Convert | None]]:
    """Return the name of each field, with the functions that encode and decode it."""
    hints = get_type_hints(kind, include_extras=True)
    return [(field.name, *_codec(hints[field.name])) for field in fields(kind)]


def _codec(hint: Any) -> Codec:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return None, None
    if origin is Annotated:
        write, read = _codec(args[0])
        for mark in args[1:]:
            read = _bounded(read, mark)
        return write, read
    if origin in (Union, types.UnionType):
        return _union([arg for arg in args if arg is not types.NoneType], types.NoneType in args)
    if origin is Literal:
        return None, _checked(lambda value: type(value) is str and value in args, f"one of {args}")
    if origin is tuple:
        return _list(args[0]) if args[1:] == (Ellipsis,) else _pair(args)
    if origin is dict:
        return _dict(args[1])
    if hasattr(hint, "parse"):
        return str, _text_form(hint)
    if is_dataclass(hint):
        prepare(cast(Any, hint))
        return encode, lambda value: decode(hint, _object(value))  # type: ignore[arg-type]
    return None, _plain((hint,))


def _checked(holds: Callable[[Any], bool], expected: str) -> Convert:
    def read(value: Any) -> Any:
        if not holds(value):
            raise ValueError(f"expected {expected}")
        return value

    return read


def _bounded(read: Convert | None, mark: Between | Items | Longest | ReadBy) -> Convert:
    """Return what reads a value and holds it to a bound, a list before it reads the items."""

    def read_all(value: Any) -> Any:
        if isinstance(mark, Longest) and type(value) in (str, bytes, list, dict) and len(value) > mark.length:
            raise ValueError(f"expected a length of {mark.length} at most")
        if isinstance(mark, Items) and _has_more_items(value, mark.most):
            raise ValueError(f"expected {mark.most} items at most")
        if read is not None:
            value = read(value)
        if isinstance(mark, Between) and not mark.least <= value <= mark.most:
            raise ValueError(f"expected a number between {mark.least} and {mark.most}")
        if isinstance(mark, ReadBy):
            try:
                return mark.read(value)
            except (KeyError, TypeError) as error:
                raise ValueError(f"unreadable: {error}") from None
        return value

    return read_all


def _has_more_items(value: Any, most: int) -> bool:
    """Return whether plain data has more than so many items. Its depth does not matter."""
    left = [value]
    while left:
        item = left.pop()
        inside = item if type(item) is list else item.values() if type(item) is dict else ()
        most -= len(inside)
        if most < 0:
            return True
        left += inside
    return False


def _plain(kinds: tuple[type, ...]) -> Convert:
    """Return a check for values of these plain types. An integer becomes a float where only a float is expected."""
    if kinds == (int,):
        return _checked(
            lambda value: type(value) is int and LEAST_INTEGER <= value <= LARGEST_INTEGER, "an integer of 64 bits"
        )
    if float not in kinds or int in kinds:
        return _checked(lambda value: type(value) in kinds, " or ".join(kind.__name__ for kind in kinds))

    def read(value: Any) -> Any:
        if type(value) is int and abs(value) < FLOAT_LIMIT:
            return float(value)
        if type(value) not in kinds:
            raise ValueError("expected a number")
        return value

    return read


def _union(hints: list[Any], none: bool) -> Codec:
    write, read = _codec(hints[0]) if len(hints) == 1 else (None, _plain(tuple(hints)))
    if not none:
        return write, read
    optional_write = None if write is None else lambda value: None if value is None else write(value)
    optional_read = None if read is None else lambda value: None if value is None else read(value)
    return optional_write, optional_read


def _list(item: Any) -> Codec:
    write, read = _codec(item)

    def read_all(value: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise ValueError("expected a list")
        return tuple(value) if read is None else tuple([read(part) for part in value])

    return (None if write is None else lambda value: [write(part) for part in value]), read_all


def _pair(items: tuple[Any, ...]) -> Codec:
    """Return the codec of a tuple of fixed length, whose items are plain values."""
    reads = [_codec(item)[1] for item in items]

    def read_all(value: Any) -> tuple[Any, ...]:
        if type(value) is not list or len(value) != len(reads):
            raise ValueError(f"expected a list of {len(reads)}")
        return tuple([part if read is None else read(part) for read, part in zip(reads, value, strict=True)])

    return None, read_all


def _dict(item: Any) -> Codec:
    write, read = _codec(item)
    write_all = None if write is None else lambda value: {key: write(part) for key, part in value.items()}
    if read is None:
        return write_all, _object
    return write_all, lambda value: {key: read(part) for key, part in _object(value).items()}


def _object(value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise ValueError("expected an object")
    return value


def _text_form(kind: type[HasTextForm]) -> Convert:
    def read(value: Any) -> Any:
        if type(value) is not str:
            raise ValueError("expected a text")
        return kind.parse(value)

    return read
