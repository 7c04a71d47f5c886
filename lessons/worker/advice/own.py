"""Python's own builtins, for as long as we run among what a learner's program has replaced."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

# Bound before any learner's code runs.
_names = vars(builtins)
_ours: dict[str, Any] = dict(_names)
_copy, _update, _remove, _list = _names.copy, _names.update, _names.pop, list


def with_own(call: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function while all builtins are Python's own; then they are again what the program has made of them."""
    theirs = _copy()
    _update(_ours)
    try:
        return call(*arguments)
    finally:
        _update(theirs)
        for name in _list(_names):
            if name not in theirs:
                _remove(name)
