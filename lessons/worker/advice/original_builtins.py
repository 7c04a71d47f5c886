"""Python's original builtins, restored while the tutor runs inside a process whose builtins may be replaced."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

# Bound before any learner's code runs.
_names = vars(builtins)
_ours: dict[str, Any] = dict(_names)
_copy, _update, _remove, _list = _names.copy, _names.update, _names.pop, list


def with_original_builtins(call: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function with Python's original builtins, then restore what the program made of them."""
    theirs = _copy()
    _update(_ours)
    try:
        return call(*arguments)
    finally:
        _update(theirs)
        for name in _list(_names):
            if name not in theirs:
                _remove(name)
