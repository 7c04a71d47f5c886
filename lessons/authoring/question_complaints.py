"""Checks of questions that need a run. Pure functions over plain data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from attn_tutor.lessons.engine.questions.question_facts import (
    Pointing,
    as_number,
    as_whole_numbers,
    cells_of,
    check_ready,
    is_same_number,
    names_of,
    normalize_text,
    pointed_shape,
    read_facts,
)
from attn_tutor.lessons.engine.questions.question_words import choices
from attn_tutor.lessons.format.learner_texts import Path
from attn_tutor.lessons.format.lesson import ChoiceStep, FindStep, PointStep, Question
from attn_tutor.lessons.results.result import WHOLE, StepResult, WorkerError

ASKED = {
    "number": "a single number",
    "shape": "a shape, such as 'table.shape' or '(2, 3)'",
    "order": "an order: the places of the items, best first, such as 'chances.argsort(descending=True) + 1'",
}
"""What the expressions of a prediction have to give, by what it asks."""


def complaints(step: Question, result: StepResult) -> list[tuple[Path, str]]:
    """Find what an author should mend, such as a wrong answer that is right, or two options that are the same.

    Each is the path in the step at which it is to be mended, and the problem.
    """
    try:
        check_ready(step, result)
        if isinstance(step, ChoiceStep):
            texts = [normalize_text(choice.text) for choice in choices(step, result)]
            return [(("options",), "two options say the same")] if len(set(texts)) < len(texts) else []
        facts = read_facts(step, result)
        if isinstance(step, FindStep) and step.target == "box":
            return _complaints_of_boxes(facts)
        if isinstance(step, Pointing):
            return _complaints_of_cells(step, result, facts)
    except WorkerError as error:
        return [(_right(step), str(error))]
    read: Callable[[Any], Any] = as_number if step.asks == "number" else as_whole_numbers
    answers: list[Any] = []
    for position, fact in enumerate(facts):
        try:
            answers.append(read(fact))
        except WorkerError:
            return [(_wrong(position - 1) if position else _right(step), f"this does not give {ASKED[step.asks]}")]
    right, *wrong = answers
    found: list[tuple[Path, str]] = []
    if step.asks == "order" and len(set(right)) < len(right):
        found.append((("answer",), "the right order holds a number twice"))
    for position, answer in enumerate(wrong):
        if is_same_number(answer, right, step.within) if step.asks == "number" else answer == right:
            found.append((_wrong(position), f"wrong answer {position + 1} is right"))
        if any(_is_same(answer, earlier) for earlier in wrong[:position]):
            found.append((_wrong(position), f"wrong answer {position + 1} is one of those before it"))
    return found


def _right(step: Question) -> Path:
    return ("cells",) if isinstance(step, PointStep) else ("answer",)


def _wrong(position: int) -> Path:
    return ("wrong", position, "is")


def _complaints_of_cells(step: Pointing, result: StepResult, facts: Sequence[Any]) -> list[tuple[Path, str]]:
    shape = pointed_shape(step, result)
    right, *wrong = (set(cells_of(step, fact, shape)) for fact in facts)
    found: list[tuple[Path, str]] = []
    if math.prod(shape) > WHOLE:
        found.append((("on",), f"{step.on} has more than {WHOLE} cells"))
    if not right or len(right) == math.prod(shape):
        found.append((_right(step), "no cell is right" if not right else "every cell is right"))
    for position, cells in enumerate(wrong):
        if not cells - right:
            found.append((_wrong(position), f"wrong answer {position + 1} is no wrong cell"))
    return found


def _complaints_of_boxes(facts: Sequence[Any]) -> list[tuple[Path, str]]:
    right, *wrong = (set(names_of(fact)) for fact in facts)
    return [
        (_wrong(position), f"wrong answer {position + 1} is right")
        for position, names in enumerate(wrong)
        if names & right
    ]


def _is_same(left: Any, right: Any) -> bool:
    return bool(left == right) or (isinstance(left, float) and math.isnan(left) and math.isnan(right))
