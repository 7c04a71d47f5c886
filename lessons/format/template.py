"""Templates for prose: `{weights[1,1]:.4f}` is filled from the run, so that no author types a number.

The grammar is Python's own format strings with any expression in the braces; `{{` and `}}` are literal braces.
`{key:explain}` is no expression: it stands for the key that explains a number, and `{key:explain weights[1,2]}` says
for what, too. So a text says what a learner does, and not with which key: the screen writes the key in its place, and
the dialogue, which has no keys, says what to type. `tui.actions.table` takes these keys from here.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from types import MappingProxyType
from typing import Literal

from attn_tutor.lessons.texts.wording import Wording

MOST_CODE_LEVELS = 100
"""The deepest nesting of expressions and statements. No code of ours has more than 20 levels."""

NESTING = re.compile(r"[^\w\s]|\b(?:not|if|is|in|await|yield)\b")
"""What may open a level. Code with few of these need not be parsed."""


def line_too_deep(code: str, mode: Literal["exec", "eval"]) -> int | None:
    """Return the line of Python code where it is nested too deeply, from 1; None if it is not.

    Raises `SyntaxError` and the like for what is not Python, and `RecursionError` for what Python cannot parse.
    """
    if len(NESTING.findall(code)) <= MOST_CODE_LEVELS:
        return None
    level: list[ast.AST] = [ast.parse(code, mode=mode)]
    for _ in range(MOST_CODE_LEVELS):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return next((getattr(node, "lineno", 1) for node in level), None)


say = Wording("keys/in-texts")

KEY_OF_ACTION: Mapping[str, str] = MappingProxyType(
    {
        "move": "up",
        "explain": "enter",
        "answer": "a",
        "point": "enter",
        "enter": "enter",
        "change": "w",
        "turn": "right",
        "undo": "ctrl+z",
        "run": "f6",
        "check": "f5",
        "rerun": "r",
        "train": "g",
        "flow": "f",
        "prompt": "p",
        "pane": "tab",
        "next-slice": "right_square_bracket",
        "previous-slice": "left_square_bracket",
    }
)
"""What a text can have a learner do, with the (first) key for it by Textual's name.

"Keys in texts" of docs/authoring.md says what each of them does.
"""


def written_key(action: str) -> str:
    """Write the key of an action as texts do: Enter, or a letter in backquotes. Raises `KeyError` for no action."""
    key = KEY_OF_ACTION[action]
    match key:
        case "up":
            return say("arrows", "the arrow keys")
        case "right":
            return say("right", "the right arrow key")
        case "enter":
            return say("enter", "Enter")
        case "tab":
            return say("tab", "Tab")
        case "left_square_bracket":
            key = "["
        case "right_square_bracket":
            key = "]"
    return f"`{key}`"


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
                if line_too_deep(piece.expression, "eval") is not None:
                    raise RecursionError
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                shown = piece.key if len(piece.key) <= LONGEST_SHOWN else piece.key[:LONGEST_SHOWN] + "…"
                raise TemplateError(
                    f"'{{{shown}}}' is not a Python expression (write {{{{ for a literal brace)"
                ) from None
    return pieces


def _key(action: str, example: str) -> Key:
    if action not in KEY_OF_ACTION:
        raise TemplateError(f"'{{{KEY}:{action}}}' names no key; those of texts are: {', '.join(KEY_OF_ACTION)}")
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
            return written_key(piece.action)
    return piece
