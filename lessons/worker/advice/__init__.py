"""Advice on exceptions: what one means and what to do about it, in one or two sentences for a learner.

A rule (`rules.py`) is a pattern of Python's message and a function that gets the scene of the exception
(`scene.py`): the piece of code that raised it and the values that its names had then, read without running anything
(`safe_reading.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from attn_tutor.lessons.results.result import Suggestion

# Importing these modules registers their rules.
from attn_tutor.lessons.worker.advice import (
    calls,
    gradients,
    indexing,
    modules,
    naming,
    refusals,
    shapes,
    syntax,
    wrong_types,
)
from attn_tutor.lessons.worker.advice.rules import RULES, Offer, parts_of, suggestions
from attn_tutor.lessons.worker.advice.safe_reading import is_a, message_of, with_original_builtins
from attn_tutor.lessons.worker.advice.scene import Scene

LONGEST = 1000
"""Characters of an advice in any language; a longer one quotes names that nobody has written by hand."""

LONGEST_MESSAGE = 20_000

# Bound before any learner's code runs, which may replace it.
_Any = BaseException


@dataclass(frozen=True, slots=True)
class Advice:
    """What is said of an exception: all of it; without an offer that can be tried; and what that proposes."""

    text: str
    untried: str = ""
    suggestions: tuple[Suggestion, ...] = ()


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
    for rule in RULES:
        match = rule.pattern.search(text) if is_a(error, rule.kind) else None
        if match is None:
            continue
        scene = scene or Scene(error, text, filename, source)
        try:
            said = rule.advise(scene, match)
        except Exception:
            # A rule that fails counts as one that has nothing to say.
            continue
        if said:
            return _advice_of(scene, parts_of(said))
    return None


def _advice_of(scene: Scene, parts: tuple[str | Offer | None, ...]) -> Advice | None:
    """Return what the parts of an advice say; None if it is too long."""

    def advised(offer: Offer | None) -> str:
        """Return the advice with this offer in place of its own."""
        sentences = ((offer and offer.sentence) if isinstance(part, Offer) else part for part in parts)
        return _in_one_line(" ".join(one for one in sentences if one))

    offer = next((part for part in parts if isinstance(part, Offer)), None)
    text = advised(offer)
    if len(text) > LONGEST:
        return None
    found = suggestions(scene, offer, advised) if offer else ()
    return Advice(text, advised(None) if found else text, found)


def _in_one_line(sentence: str) -> str:
    return " ".join(sentence.encode("utf-8", "backslashreplace").decode().split())
