"""The judge of answers to questions, and its feedback on a wrong one. Pure functions over plain data.

Feedback says how an answer differs from the right one, without giving the right one away.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from attn_tutor.lessons.engine.questions.answer_reading import (
    LONGEST,
    UnreadableAnswer,
    read_box,
    read_cell,
    read_numbers,
    read_option,
    read_order,
    read_sizes,
    unreadable,
)
from attn_tutor.lessons.engine.questions.question_facts import (
    Index,
    Pointing,
    as_number,
    as_whole_numbers,
    cells_of,
    check_ready,
    is_same_number,
    names_of,
    pointed_shape,
    read_facts,
    right_cells,
    target_of,
)
from attn_tutor.lessons.engine.questions.question_words import choices, why
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import ChoiceStep, FindStep, PredictStep, Question
from attn_tutor.lessons.results.result import CheckResult, Judgement, StepResult
from attn_tutor.lessons.results.verdict import Verdict
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/feedback")

_DECIMALS = re.compile(r"[.,](\d+)$")


def describe_number_error(answer: float, right: float, text: str, within: float) -> str:
    """Describe how far off a number is, and in which direction. `text` is the number as the learner wrote it."""
    if math.isnan(answer):
        return say("is-number", "It is a number.")
    if math.isnan(right):
        return say("neither-larger-nor-smaller", "Not that. Neither a larger nor a smaller number would be right.")
    if math.isfinite(right) and right and is_same_number(-answer, right, within):
        return say("wrong-sign", "The size is right, the sign is not.")
    large = answer > right
    if not (math.isfinite(answer) and math.isfinite(right)):
        return _too_large() if large else _too_small()
    decimals = _DECIMALS.search(text.strip())
    if round(right, len(decimals[1]) if decimals else 0) == answer and answer:
        return say("rounded-too-much", "Right as far as it goes, but rounded too much: give more digits.")
    if right and answer and (right > 0) == (answer > 0):
        ratio = answer / right
        if ratio >= 10 or ratio <= 0.1:
            if large:
                return say("much-too-large", "Too large: it is off by a factor of more than ten.")
            return say("much-too-small", "Too small: it is off by a factor of more than ten.")
        if 0.9 < ratio < 1.1:
            if large:
                return say("a-little-too-large", "Close, but too large.")
            return say("a-little-too-small", "Close, but too small.")
    return _too_large() if large else _too_small()


def _too_large() -> str:
    return say("too-large", "Too large.")


def _too_small() -> str:
    return say("too-small", "Too small.")


def describe_shape_error(answer: Index, right: Index) -> str:
    """Describe how a shape differs from the right one."""
    if len(answer) > len(right):
        return say("fewer-axes", "It has fewer axes.")
    if len(answer) < len(right):
        return say("more-axes", "It has more axes.")
    if sorted(answer) == sorted(right):
        if answer == tuple(reversed(right)):
            return say("transposed", "The right sizes in the wrong order: yours is transposed.")
        return say("wrong-order-of-sizes", "The right sizes in the wrong order.")
    good = sum(map(int.__eq__, answer, right))
    if len(right) == 1:
        return _too_large() if answer > right else _too_small()
    if not good:
        return say("no-size-right", "The number of axes is right, but none of the sizes is.")
    return say.count(
        "some-sizes-right",
        good,
        "The number of axes is right, but only {count} of the {sizes} sizes is.",
        "The number of axes is right, but only {count} of the {sizes} sizes are.",
        sizes=len(right),
    )


def describe_order_error(answer: Sequence[int], right: Sequence[int]) -> str:
    """Describe how much of an order is right."""
    if tuple(answer) == tuple(reversed(right)):
        return say("reversed", "Right, but the wrong way around: yours begins where it should end.")
    return say.count(
        "some-in-place",
        sum(map(int.__eq__, answer, right)),
        "{count} of {all} is in the right place.",
        "{count} of {all} are in the right place.",
        all=len(right),
    )


def point_at_other_row(cell: Index, right: Sequence[Index]) -> str:
    """Say where to look for the right row, given a cell of a wrong one."""
    same = [other for other in right if other[:-2] == cell[:-2]]
    if not same:
        return _other_matrix()
    above, below = any(other[-2] < cell[-2] for other in same), any(other[-2] > cell[-2] for other in same)
    if above and below:
        return say("not-this-row", "Not this row.")
    if above:
        return say("row-further-up", "Not this row. Look further up.")
    return say("row-further-down", "Not this row. Look further down.")


def point_elsewhere(cell: Index, right: Sequence[Index]) -> str:
    """Say where to look for the right cell, given a wrong one."""
    if len(cell) == 1:
        before, after = any(other < cell for other in right), any(other > cell for other in right)
        if before and after:
            return say("not-this-one", "Not this one.")
        return say("further-left", "Further to the left.") if before else say("further-right", "Further to the right.")
    same = [other for other in right if other[:-2] == cell[:-2]]
    if not same:
        return _other_matrix()
    if any(other[-2] == cell[-2] for other in same):
        return say("right-row", "The row is right; look for another cell of it.")
    if any(other[-1] == cell[-1] for other in same):
        return say("right-column", "The column is right, but the cell is in another row.")
    return say("other-row-and-column", "It is in another row and in another column.")


def _other_matrix() -> str:
    return say("other-matrix", "Not in this matrix: look at another one of them.")


def judge(step: Question, result: StepResult, text: str) -> Judgement:
    """Judge a learner's answer by the results of the run.

    An unreadable answer gets the verdict `error`, and is not counted (`stopped`). Raises `WorkerError` if the run did
    not produce the facts that the answer is judged by.
    """
    check_ready(step, result)
    try:
        if len(text) > LONGEST:
            raise UnreadableAnswer(say("too-long-answer", "This is too long to be an answer."))
        match step:
            case ChoiceStep():
                return _judge_choice(step, result, text)
            case PredictStep(asks="number"):
                return _judge_number(step, result, text)
            case PredictStep(asks="shape"):
                return _judge_shape(step, result, text)
            case PredictStep():
                return _judge_order(step, result, text)
            case FindStep(target="box"):
                return _judge_box(step, result, text)
            case _:
                return _judge_cell(step, result, text)
    except UnreadableAnswer as unread:
        return Judgement(step.exercise, "error", str(unread), stopped=True)


def _judgement(step: Question, name: str, verdict: Verdict, message: str) -> Judgement:
    return Judgement(step.exercise, verdict, message, checks=(CheckResult(name, verdict == "passed"),))


def _right(step: Question, result: StepResult, name: str) -> Judgement:
    return _judgement(step, name, "passed", why(step, result))


def _wrong(
    step: PredictStep | Pointing, result: StepResult, name: str, matches: Callable[[Any], bool], otherwise: str
) -> Judgement:
    """Return a failed judgement: with the author's reason for the first wrong answer that matches, else `otherwise`."""
    for wrong, fact in zip(step.wrong, read_facts(step, result)[1:], strict=True):
        if matches(fact):
            return _judgement(step, name, "failed", template.fill(wrong.why, result.text))
    return _judgement(step, name, "failed", otherwise)


def _judge_choice(step: ChoiceStep, result: StepResult, text: str) -> Judgement:
    options = choices(step, result)
    position = read_option(options, text)
    if position is None:
        raise unreadable(step, result, say("no-such-option", "There is no such option."))
    chosen = options[position]
    name = say("right-option", "the right option")
    return _right(step, result, name) if chosen.right else _judgement(step, name, "failed", chosen.why)


def _judge_number(step: PredictStep, result: StepResult, text: str) -> Judgement:
    right = as_number(read_facts(step, result)[0])
    readings = read_numbers(text)
    if not readings:
        raise unreadable(step, result, say("no-number", "This cannot be read as a number."))
    # `1,024` may mean two numbers: give feedback on the one that is nearer to the right answer.
    answer = min(readings, key=lambda reading: abs(reading - right) if math.isfinite(reading - right) else math.inf)
    name = say("right-number", "the right number")
    if any(is_same_number(reading, right, step.within) for reading in readings):
        return _right(step, result, name)
    return _wrong(
        step,
        result,
        name,
        lambda fact: any(is_same_number(reading, as_number(fact), step.within) for reading in readings),
        describe_number_error(answer, right, text, step.within),
    )


def _judge_shape(step: PredictStep, result: StepResult, text: str) -> Judgement:
    right = as_whole_numbers(read_facts(step, result)[0])
    answer = read_sizes(text)
    if answer is None:
        raise unreadable(step, result, say("no-shape", "This cannot be read as a shape."))
    name = say("right-shape", "the right shape")
    if answer == right:
        return _right(step, result, name)
    return _wrong(
        step, result, name, lambda fact: as_whole_numbers(fact) == answer, describe_shape_error(answer, right)
    )


def _judge_order(step: PredictStep, result: StepResult, text: str) -> Judgement:
    right = as_whole_numbers(read_facts(step, result)[0])
    answer = read_order(step, result, text, right)
    name = say("right-order", "the right order")
    if answer == right:
        return _right(step, result, name)
    return _wrong(
        step, result, name, lambda fact: as_whole_numbers(fact) == answer, describe_order_error(answer, right)
    )


def _judge_cell(step: Pointing, result: StepResult, text: str) -> Judgement:
    shape = pointed_shape(step, result)
    cell = read_cell(step, result, text)
    right = right_cells(step, result)
    rows = target_of(step) == "row"
    name = say("question-judging-right-row", "the right row") if rows else say("right-cell", "the right cell")
    if cell in right:
        return _right(step, result, name)
    elsewhere = point_at_other_row(cell, right) if rows else point_elsewhere(cell, right)
    return _wrong(step, result, name, lambda fact: cell in cells_of(step, fact, shape), elsewhere)


def _judge_box(step: FindStep, result: StepResult, text: str) -> Judgement:
    box = read_box(step, result, text)
    right = names_of(read_facts(step, result)[0])
    name = say("right-box", "the right box")
    if box in right:
        return _right(step, result, name)
    return _wrong(
        step,
        result,
        name,
        lambda fact: box in names_of(fact),
        say("other-box", "Not this box. Follow the arrows, back or forth."),
    )
