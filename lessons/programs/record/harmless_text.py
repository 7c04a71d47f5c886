"""The gate of this door: what an answer says commands no terminal, whatever names and values of a program are in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from attn_tutor.lessons.results.clean_text import clean

K = TypeVar("K", bound=type)


def harmless(kind: K) -> K:
    """Have the texts of a class pass the gate: `str`, which IPython shows too, `repr`, and `text`. A decorator."""
    for name in ("__str__", "__repr__", "text"):
        if (method := vars(kind).get(name)) is not None:
            setattr(kind, name, _cleaned(method))
    if "__str__" in vars(kind):
        setattr(kind, "_repr_pretty_", lambda self, printer, cycle: printer.text(str(self)))  # noqa: B010
    return kind


def _cleaned(method: Callable[..., str]) -> Callable[..., str]:
    @wraps(method)
    def cleaned(*arguments: object, **named: object) -> str:
        return clean(method(*arguments, **named))

    return cleaned
