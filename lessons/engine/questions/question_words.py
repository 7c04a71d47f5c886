"""The texts of a question: its options, how to answer it, the right answer. Pure functions."""

from __future__ import annotations

import math
from dataclasses import dataclass

from attn_tutor.lessons.engine.questions.question_facts import (
    Index,
    Pointing,
    as_number,
    as_whole_numbers,
    check_ready,
    is_same_number,
    is_whole,
    names_of,
    order_names,
    pointed_tensor,
    read_facts,
    right_cells,
    target_of,
)
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import ChoiceStep, FindStep, PredictStep, Question
from attn_tutor.lessons.results.explanation import label
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/question-words")

LETTERS = "abcdefgh"
MOST_NAMED = 3
"""Maximum number of right cells that are named when a learner gives up."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of a question, filled in: its letter, its text, why it is right or wrong."""

    letter: str
    text: str
    why: str
    right: bool


def choices(step: ChoiceStep, result: StepResult) -> tuple[Choice, ...]:
    """Return the options of a question, with their templates filled in from the run."""
    return tuple(
        Choice(letter, template.fill(option.text, result.text), template.fill(option.why, result.text), option.right)
        for letter, option in zip(LETTERS, step.options, strict=False)
    )


def form(step: Question, result: StepResult | None = None) -> str:
    """Return a line that says how to answer, with an example. With a result, it also names labels that may be used."""
    match step:
        case ChoiceStep():
            return say(
                "form-choice",
                "Answer with a letter from a to {last}, for example: b",
                last=LETTERS[len(step.options) - 1],
            )
        case PredictStep(asks="number"):
            return say("form-number", "Answer with a number, for example: 0.25 or 3/7")
        case PredictStep(asks="shape"):
            return say("form-shape", "Answer with the size of each axis, outermost first, for example: 4, 9")
        case PredictStep():
            names = order_names(step, result) if result is not None else ()
            if len(names) < 2:
                return say("form-order", "Answer with the numbers in order, from first to last, for example: 3 1 2")
            return say(
                "form-order-of-words",
                "Answer with the numbers in order, from first to last, for example: 3 1 2 or {words}",
                words=" ".join(names[:3]),
            )
        case FindStep(target="box"):
            return say("form-box", "Answer with the name of a box of the flow, for example: weights")
        case FindStep(target="row"):
            return say(
                "form-row",
                "Answer with a row of {on}: its index, from 0, or its label, for example: 1",
                on=step.on,
            )
        case _:
            return _form_of_cell(step)


def _form_of_cell(step: Pointing) -> str:
    shown = next((shown for shown in step.show if shown.name == step.on), None)
    axes = len(shown.axes) if shown is not None and shown.axes else 2
    if axes == 1:
        return say(
            "form-cell-of-vector",
            "Answer with a cell of {on}: its index, from 0, for example: 1, or the labels there",
            on=step.on,
        )
    if axes == 2:
        return say(
            "form-cell",
            "Answer with a cell of {on}: its row and column, from 0, for example: 0, 1, or the labels there",
            on=step.on,
        )
    return say(
        "form-cell-of-many-axes",
        "Answer with a cell of {on}: its indices, from 0, for example: {example}, or the labels there",
        on=step.on,
        example=", ".join(["0"] * (axes - 1) + ["1"]),
    )


def why(step: Question, result: StepResult) -> str:
    """Return the explanation that a learner reads once the question is answered."""
    return template.fill(step.why, result.text)


def answer_text(step: Question, result: StepResult) -> str:
    """Return the right answer as the screen shows it. Raises `WorkerError` if the run did not produce it."""
    check_ready(step, result)
    match step:
        case ChoiceStep():
            right = next(choice for choice in choices(step, result) if choice.right)
            return f"{right.letter}) {right.text}"
        case PredictStep(asks="number"):
            return _format_number(as_number(read_facts(step, result)[0]), step.within)
        case PredictStep(asks="shape"):
            return str(as_whole_numbers(read_facts(step, result)[0]))
        case PredictStep():
            order = as_whole_numbers(read_facts(step, result)[0])
            names = order_names(step, result)
            return ", ".join(names[place - 1] for place in order) if names else ", ".join(map(str, order))
        case FindStep(target="box"):
            return say("or", " or ").join(names_of(read_facts(step, result)[0]))
        case _:
            cells = right_cells(step, result)
            if target_of(step) == "row":
                rows = dict.fromkeys(cell[:-1] for cell in cells)
                texts = [_cell_text(step, result, row) for row in rows]
            else:
                texts = [_cell_text(step, result, cell) for cell in cells]
            named = say("or", " or ").join(texts[:MOST_NAMED])
            rest = len(texts) - MOST_NAMED
            return say("and-more", "{named} (and {rest} more)", named=named, rest=rest) if rest > 0 else named


def right_answer(step: Question, result: StepResult) -> str:
    """Return the right answer as a learner may write it. Raises `WorkerError` if the run did not produce it."""
    if target_of(step) in ("cell", "row"):
        assert isinstance(step, Pointing)
        return ", ".join(map(str, next(iter(right_cells(step, result)), ())))
    if isinstance(step, FindStep):
        return names_of(read_facts(step, result)[0])[0]
    text = answer_text(step, result)
    return text[0] if isinstance(step, ChoiceStep) else text


def _format_number(value: float, within: float) -> str:
    """Format a number with as few significant digits, from four on, as the tolerance `within` allows."""
    if is_whole(value):
        return str(int(value))
    if not math.isfinite(value):
        return str(value)
    return next(text for digits in range(4, 18) if is_same_number(float(text := f"{value:.{digits}g}"), value, within))


def _cell_text(step: Pointing, result: StepResult, cell: Index) -> str:
    tensor = pointed_tensor(step, result)
    words = [
        name
        for axis, place in enumerate(cell)
        if tensor is not None and not (name := tensor.labels[axis][place]).strip().isdecimal()
    ]
    return label(step.on, cell) + (f" ({', '.join(words)})" if words else "")
