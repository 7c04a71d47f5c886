"""What the keys are called here that a text speaks of: texts of lessons are written for the screen."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from lessons.format.lesson import PointStep, Step
from lessons.texts.wording import Wording
from tui.actions.table import TABLE as ACTIONS
from tui.plain.command_table import TABLE

say = Wording("plain/keys")

PRESSED = re.compile(r"[Pp]ress(?:ing)?\s+(?:the\s+)?(?:`([^`]+)`|(Enter|Tab))|\b(Enter) on\b|\bwith `(f\d+)`")

CONTEXTS = ("tutor", "step", "number", "find", "matrix", "training", "question", "experiment", "exercise", "options")
"""The contexts of actions whose keys a text may speak of; of two actions with one key, the one of the first context."""

NAMES = {"]": "right_square_bracket", "[": "left_square_bracket", "?": "question_mark", "Enter": "enter", "Tab": "tab"}
"""Textual's names of keys, by what texts call them."""


def translated(step: Step, hints: Sequence[str], offered: Container[str], example: str, target: str) -> Iterator[str]:
    """Yield a sentence with what to type instead of the keys that the text of a step speaks of, if it does.

    Args:
        step: the step.
        hints: its hints, as far as they are shown.
        offered: the words of the commands that apply.
        example: a cell that the step shows, "" if it shows none.
        target: a cell of the matrix to point at, "" if the step asks for none.
    """
    found: dict[str, str] = {}
    for text in (step.prose, *hints):
        for key in keys_in(text):
            words = [word for word in commands_for(key, points=isinstance(step, PointStep)) if word in offered]
            typed = [_typed(word, target if word == "point" else example) for word in words]
            if typed:
                found[key] = say("or", " or ").join(typed)
    if found:
        pairs = "; ".join(say("for", "for {key}: {typed}", key=key, typed=typed) for key, typed in found.items())
        yield say("here", "Type here, {pairs}.", pairs=pairs)


def keys_in(text: str) -> Iterator[str]:
    """Yield the keys that a text tells a learner to press."""
    for match in PRESSED.finditer(text):
        yield next(group for group in match.groups() if group)


def commands_for(key: str, *, points: bool = False) -> tuple[str, ...]:
    """Return the words of the commands that stand for a key; in a matrix to point at, Enter answers."""
    name = NAMES.get(key, key.casefold())
    for context in ("question", *CONTEXTS) if points else CONTEXTS:
        for action in ACTIONS:
            if action.id.partition(".")[0] != context:
                continue
            if any(name in stroke.keys.split(",") for stroke in action.strokes):
                words = tuple(command.word for command in TABLE if action.id in command.actions)
                # What the panel of changes has in one list has two commands here.
                return (*words, "knob") if "set" in words else words
    return ()


def _typed(word: str, example: str) -> str:
    """Return a command with an example of what follows."""
    matrix = example.partition("[")[0]
    match word:
        case "explain" | "point" if example:
            return f"{word} {example}"
        case "set" if example:
            return f"{word} {example} = 0.5"
        case "show" if example:
            return f"{word} {matrix}" + ("[1]" if example.count(",") > 1 else "")
        case "row" | "overview" if example:
            return f"{word} {matrix}"
    return word
