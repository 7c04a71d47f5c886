"""Templates for prose: `{weights[1,1]:.4f}` is filled from the run, so that no author types a number.

The grammar is Python's own format strings with any expression in the braces; `{{` and `}}` are literal braces.
`{key:explain}` is no expression: it stands for a key (`lessons.format.keys`), and `{key:explain weights[1,2]}` says for
what, too.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter

from attn_tutor.lessons.format import code_depth, keys

FORMATTER = Formatter()
LONGEST_SHOWN = 60
FACT = "j"
"""The conversion to JSON, for values that the tutor itself asks for; a template cannot contain it."""
KEY = "key"
ACTION = re.compile(r"(?P<action>[a-z][a-z-]+)(?: (?P<example>\S.*))?")
"""What follows `key:`. A format spec of that form does not exist."""


class TemplateError(ValueError):
    """A template that cannot be read."""


@dataclass(frozen=True, slots=True)
class Field:
    """One pair of braces: a Python expression, an optional conversion (`r`, `s`, or `FACT`) and a format spec.

    A run goes on without the value of an `optional` field if it cannot be computed.
    """

    expression: str
    conversion: str
    spec: str
    optional: bool = False

    @property
    def key(self) -> str:
        """The text between the braces, which is the key of its value."""
        return (
            self.expression
            + (f"!{self.conversion}" if self.conversion else "")
            + (f":{self.spec}" if self.spec else "")
        )

    def format(self, value: object) -> str:
        """Format a value. Raises whatever the formatting of the value raises."""
        if self.conversion == FACT:
            return json.dumps(value, default=_plain)
        if self.conversion == "r":
            value = repr(value)
        elif self.conversion == "s":
            value = str(value)
        return format(value, self.spec)


@dataclass(frozen=True, slots=True)
class Key:
    """A key that a text speaks of.

    Attributes:
        action: what the key does, one of `lessons.format.keys.KEYS`.
        example: the cell, tensor, or knob for which the text has the learner do it, "" if it leaves that open.
    """

    action: str
    example: str = ""

    @property
    def key(self) -> str:
        """The text between the braces."""
        return f"{KEY}:{self.action}" + (f" {self.example}" if self.example else "")


def _plain(value: object) -> object:
    """Convert a tensor to nested lists. Raises `TypeError` for anything else."""
    try:
        return value.tolist()  # type: ignore[attr-defined]
    except AttributeError:
        raise TypeError(f"it is a {type(value).__name__}, not numbers") from None


def fact(expression: str) -> Field:
    """Return a field for the value of an expression as JSON: a tensor, size or tuple becomes lists."""
    return Field(expression.strip(), FACT, "")


def parse(text: str) -> list[str | Field | Key]:
    """Split a template into literal pieces, fields and keys, in order.

    Raises:
        TemplateError: it cannot be read, or names a key that does not exist.
    """
    pieces: list[str | Field | Key] = []
    try:
        for literal, expression, spec, conversion in FORMATTER.parse(text):
            if literal:
                pieces.append(literal)
            if conversion not in (None, "r", "s"):
                raise ValueError(f"'!{conversion}' is not a conversion, only !r and !s are,")
            if expression == KEY and not conversion and (spoken := ACTION.fullmatch(spec or "")):
                pieces.append(_key(spoken["action"], spoken["example"] or ""))
            elif expression is not None:
                pieces.append(Field(expression.strip(), conversion or "", spec or ""))
    except TemplateError:
        raise
    except ValueError as error:
        raise TemplateError(f"{error} in a template (write {{{{ for a literal brace)") from None
    for piece in pieces:
        if isinstance(piece, Field):
            try:
                ast.parse(piece.expression, mode="eval")
                if code_depth.line_too_deep(piece.expression, "eval") is not None:
                    raise RecursionError
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                shown = piece.key if len(piece.key) <= LONGEST_SHOWN else piece.key[:LONGEST_SHOWN] + "…"
                raise TemplateError(
                    f"'{{{shown}}}' is not a Python expression (write {{{{ for a literal brace)"
                ) from None
    return pieces


def _key(action: str, example: str) -> Key:
    if action not in keys.KEYS:
        raise TemplateError(f"'{{{KEY}:{action}}}' names no key; those of texts are: {', '.join(keys.KEYS)}")
    return Key(action, example)


def placeholders(text: str) -> list[Field | Key]:
    """Return all that stands in the braces of a template, in order. Raises `TemplateError`."""
    return [piece for piece in parse(text) if not isinstance(piece, str)]


def fields(text: str) -> list[Field]:
    """Return the fields of a template, in order. Raises `TemplateError`."""
    return [piece for piece in parse(text) if isinstance(piece, Field)]


def keys_of(text: str) -> list[Key]:
    """Return the keys that a template speaks of, in order. Raises `TemplateError`."""
    return [piece for piece in parse(text) if isinstance(piece, Key)]


def fill(text: str, values: Mapping[str, str], missing: str = "…") -> str:
    """Replace every field of a template by `values[field.key]`, or by `missing` where there is no value.

    Keys are written as they are called on the screen. Raises `TemplateError`.
    """
    return "".join(_filled(piece, values, missing) for piece in parse(text))


def _filled(piece: str | Field | Key, values: Mapping[str, str], missing: str) -> str:
    match piece:
        case Field():
            return values.get(piece.key, missing)
        case Key():
            return keys.written(piece.action)
    return piece
