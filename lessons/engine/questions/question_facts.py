"""The results of a run that a question needs: its facts, and the tensors that a learner sees. Pure functions."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import PredictStep, Step
from attn_tutor.lessons.format.questions import BaseQuestion
from attn_tutor.lessons.results.result import StepResult, Tensor, WorkerError
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/question-facts")

Index = tuple[int, ...]


def visible_tensors(step: Step, result: StepResult, answered: bool) -> tuple[Tensor, ...]:
    """Return the tensors that a learner may see: those that `reveal` names only once the question is answered."""
    return tuple(tensor for tensor in result.tensors if step.is_visible(tensor.name, answered=answered))


def check_ready(step: BaseQuestion, result: StepResult) -> None:
    """Check that the run has produced everything that an answer is judged by. Raises `WorkerError` if it has not."""
    if all(field.key in result.text for field in step.fields):
        return
    if result.error is not None:
        raise WorkerError(
            say(
                "code-question-did",
                "The code of this question did not come to its end: {message}",
                message=result.error.message,
            )
        )
    raise WorkerError(
        say("question-not-run", "This question has not run yet, so there is nothing to judge an answer by.")
    )


def read_facts(step: BaseQuestion, result: StepResult) -> list[Any]:
    """Return the values of the facts: first the right answer, then the wrong ones. Raises `WorkerError`."""
    try:
        return [json.loads(result.text[template.fact(expression).key]) for expression in step.facts]
    except (KeyError, ValueError, RecursionError):
        raise WorkerError(
            say("run-did-not", "The run did not give what an answer to this question is judged by.")
        ) from None


def as_number(fact: Any) -> float:
    """Return the one number that a fact is. Raises `WorkerError`."""
    while isinstance(fact, list) and len(fact) == 1:
        fact = fact[0]
    if not isinstance(fact, int | float):
        raise WorkerError(say("answer-question-not", "The answer of this question is not a number."))
    return float(fact)


def is_whole(value: float) -> bool:
    """Return whether a number is an integer."""
    return math.isfinite(value) and value == int(value)


def is_same_number(answer: float, right: float, within: float) -> bool:
    """Return whether an answer is at most `within` away from the right number. NaN is the same as NaN."""
    if math.isnan(answer) or math.isnan(right):
        return math.isnan(answer) and math.isnan(right)
    if math.isinf(answer) or math.isinf(right):
        return answer == right
    # Allow for rounding in decimals and 32-bit floats; integers need no allowance.
    slack = 1e-6 * within + (0 if is_whole(right) else 1e-7 * abs(right))
    return abs(answer - right) <= within + slack


def as_whole_numbers(fact: Any) -> tuple[int, ...]:
    """Return the whole numbers of a fact that is a shape or an order. Raises `WorkerError`."""
    if isinstance(fact, int) and not isinstance(fact, bool):
        fact = [fact]
    if not isinstance(fact, list) or not all(
        isinstance(item, int) and not isinstance(item, bool) and item >= 0 for item in fact
    ):
        raise WorkerError(
            say("answer-question-not-list", "The answer of this question is not a list of whole numbers.")
        )
    return tuple(fact)


def order_names(step: PredictStep, result: StepResult) -> tuple[str, ...]:
    """Return the words that stand for the numbers of an order: labels of a shown tensor.

    It is empty if no labels fit, or if they say no more than the numbers.
    """
    try:
        order = as_whole_numbers(read_facts(step, result)[0])
    except WorkerError:
        return ()
    count = max(order, default=0)
    for tensor in visible_tensors(step, result, answered=False):
        for labels in reversed(tensor.labels):
            enough = len(labels) == count if len(order) == count else len(labels) >= count
            words = {normalize_text(text) for text in labels}
            if enough and len(words) == len(labels) and not any(text.isdecimal() or not text for text in words):
                return labels
    return ()


def normalize_text(text: str) -> str:
    """Return a text without markup, case, and spaces at its ends."""
    return " ".join(re.sub(r"[`*]", "", text).split()).rstrip(".").casefold()


def pointed_tensor(step: BaseQuestion, result: StepResult) -> Tensor | None:
    """Return the tensor that is pointed at, None if it is not shown."""
    return next((tensor for tensor in result.tensors if tensor.name == step.pointed_at), None)


def pointed_shape(step: BaseQuestion, result: StepResult) -> Index:
    """Return the shape of the tensor that is pointed at. Raises `WorkerError`."""
    tensor = pointed_tensor(step, result)
    if tensor is not None:
        return tensor.shape
    shape, fact = [], read_facts(step, result)[0]
    while isinstance(fact, list) and fact:
        shape.append(len(fact))
        fact = fact[0]
    return tuple(shape)


def true_cells(fact: Any, shape: Index) -> Iterator[Index]:
    """Yield the indices at which a fact, lists in lists, is true. Raises `WorkerError` if it has a different shape."""
    if not shape:
        if isinstance(fact, list):
            raise WorkerError(
                say("cells-question-another", "The cells of this question have another shape than what is shown.")
            )
        if fact:
            yield ()
        return
    if not isinstance(fact, list) or len(fact) != shape[0]:
        raise WorkerError(
            say("cells-question-another", "The cells of this question have another shape than what is shown.")
        )
    for first, inner in enumerate(fact):
        for rest in true_cells(inner, shape[1:]):
            yield (first, *rest)


def cells_of(step: BaseQuestion, fact: Any, shape: Index) -> tuple[Index, ...]:
    """Return the cells that a fact means, all cells of a row if rows are to be found. Raises `WorkerError`."""
    if step.answer_form != "row":
        return tuple(true_cells(fact, shape))
    rows = true_cells(fact, shape[:-1])
    return tuple((*row, column) for row in rows for column in range(shape[-1] if shape else 0))


def right_cells(step: BaseQuestion, result: StepResult) -> tuple[Index, ...]:
    """Return the cells that may be pointed at. Raises `WorkerError` if the run did not give them."""
    return cells_of(step, read_facts(step, result)[0], pointed_shape(step, result))


def names_of(fact: Any) -> tuple[str, ...]:
    """Return the names that a fact lists. Raises `WorkerError` if it does not."""
    names = [fact] if isinstance(fact, str) else fact
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise WorkerError(say("answer-question-not-list-names", "The answer of this question is not a list of names."))
    return tuple(names)
