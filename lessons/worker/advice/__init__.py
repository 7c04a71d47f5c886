"""Advice on exceptions: what one means and what to do about it, in one or two sentences for a learner.

A rule (`exception_rules.py`) is a pattern of Python's message and a function that gets the scene of the exception
(`scene.py`): the piece of code that raised it and the values that its names had then, read without running anything
(`safe_reading.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from lessons.texts import translations

# Importing these modules registers their rules.
from lessons.worker.advice import (
    calls,
    dtypes,
    gradients,
    indexing,
    matrix_products,
    missing_values,
    module_setup,
    modules,
    naming,
    refusals,
    shape_errors,
    syntax,
)
from lessons.worker.advice.exception_rules import RULES
from lessons.worker.advice.original_builtins import with_original_builtins
from lessons.worker.advice.safe_reading import is_a, message_of
from lessons.worker.advice.scene import Scene
from lessons.worker.advice.suggestions import suggestions, without_offer
from lessons.worker.message_parts import SuggestionReport

__all__ = [
    "advice",
    "calls",
    "dtypes",
    "gradients",
    "indexing",
    "matrix_products",
    "missing_values",
    "module_setup",
    "modules",
    "naming",
    "refusals",
    "shape_errors",
    "syntax",
]

LONGEST = 600
LONGEST_MESSAGE = 20_000

# Bound before any learner's code runs, which may replace it.
_Any = BaseException


@dataclass(frozen=True, slots=True)
class Advice:
    """One or two sentences on an exception; without what they suggest; and the suggestions, which can be tried."""

    text: str
    untried: str = ""
    suggestions: tuple[SuggestionReport, ...] = ()


def advice(error: BaseException, filename: str, source: str) -> Advice | None:
    """Explain an exception that the code `source` of the file `filename` raised, to follow its message.

    Returns None if there is nothing to add. Never raises.
    """
    try:
        return with_original_builtins(_advice, error, filename, source)
    except _Any:
        return None


def _advice(error: BaseException, filename: str, source: str) -> Advice | None:
    text = message_of(error)[:LONGEST_MESSAGE]
    scene: Scene | None = None
    in_other_language = translations.current().folder is not None
    for rule in RULES:
        match = rule.pattern.search(text) if is_a(error, rule.kind) else None
        if match is None:
            continue
        scene = scene or Scene(error, text, filename, source)
        try:
            # What it suggests is found in the English sentence, whatever the learner reads.
            with translations.in_english():
                sentence = rule.advise(scene, match)
            told = rule.advise(Scene(error, text, filename, source), match) if sentence and in_other_language else None
        except Exception:
            # A rule that fails counts as one that has nothing to say.
            continue
        if sentence:
            sentence, told = _in_one_line(sentence), _in_one_line(told or sentence)
            if len(sentence) > LONGEST:
                return None
            found = suggestions(scene, sentence, told)
            return Advice(told, without_offer(sentence, told) if found else told, found)
    return None


def _in_one_line(sentence: str) -> str:
    return " ".join(sentence.encode("utf-8", "backslashreplace").decode().split())
