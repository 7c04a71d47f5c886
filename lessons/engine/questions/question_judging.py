"""The judge of answers to questions. Pure functions over plain data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from attn_tutor.lessons.engine.questions.answer_feedback import (
    describe_number_error,
    describe_order_error,
    describe_shape_error,
    point_at_other_row,
    point_elsewhere,
)
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

say = Wording("engine/question-judging")


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
    name = say("right-row", "the right row") if rows else say("right-cell", "the right cell")
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
