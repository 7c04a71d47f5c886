"""What an exception means and what to do about it, in one or two sentences for a learner.

A rule (`exception_rules.py`) is a pattern of Python's message and a function that gets the scene of the exception
(`scene.py`): the piece of code that raised it and the values that its names had then, read without running anything
(`safe_reading.py`).
"""

from __future__ import annotations

# Each of these registers its rules.
from lessons.worker.advice import (
    calls,
    dtypes,
    gradients,
    indexing,
    matrix_products,
    missing_values,
    modules,
    naming,
    shape_errors,
    syntax,
)
from lessons.worker.advice.exception_rules import RULES
from lessons.worker.advice.own import with_own
from lessons.worker.advice.safe_reading import is_a, text_of
from lessons.worker.advice.scene import Scene

__all__ = [
    "advice",
    "calls",
    "dtypes",
    "gradients",
    "indexing",
    "matrix_products",
    "missing_values",
    "modules",
    "naming",
    "shape_errors",
    "syntax",
]

LONGEST = 600
LONGEST_MESSAGE = 20_000

# Bound before any learner's code runs, which may replace it.
_Any = BaseException


def advice(error: BaseException, filename: str, source: str) -> str | None:
    """One or two sentences on an exception in the code `source` of the file `filename`, to stand after its message.

    None if there is nothing to add. Never raises.
    """
    try:
        return with_own(_advice, error, filename, source)
    except _Any:
        return None


def _advice(error: BaseException, filename: str, source: str) -> str | None:
    text = text_of(error)[:LONGEST_MESSAGE]
    scene: Scene | None = None
    for rule in RULES:
        match = rule.pattern.search(text) if is_a(error, rule.kind) else None
        if match is None:
            continue
        scene = scene or Scene(error, text, filename, source)
        try:
            told = rule.tell(scene, match)
        except Exception:
            # One rule less; the next may know something.
            continue
        if told:
            told = " ".join(told.encode("utf-8", "backslashreplace").decode().split())
            return told if len(told) <= LONGEST else None
    return None
