"""The parent's side of judging an answer, with two children, only one of which ever runs the learner's code.

The judge's child makes hidden inputs and decides; the other child runs the answer on them. Data for one from the other
is passed on unread: see `lessons.worker.jobs.judge`. A wrong answer is then diagnosed: by the known mistakes of the
exercise, by a second, recorded run that shows where its intermediate results diverge from the model answer's, and by
small edits of the answer that might make it pass (`repairing`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal, Protocol

from attn_tutor.lessons.engine import judge_children, repairing, replies
from attn_tutor.lessons.engine.judge_children import JUDGE_LIMITS, AnswerOutcome, Child, Request, unjudged
from attn_tutor.lessons.engine.launching.launchers import ChildProcess
from attn_tutor.lessons.format.lesson import ExerciseStep, Kind, Lesson, Limits, ShownTensor
from attn_tutor.lessons.reading import line_exercises, mistake_edits
from attn_tutor.lessons.reading.operations import made_in, words_of
from attn_tutor.lessons.results.result import (
    AnswerComparison,
    AnswerDifference,
    Judgement,
    NamedMistake,
    Tensor,
    WorkerError,
)
from attn_tutor.lessons.worker.judging_messages import (
    CheckRequest,
    CompareResults,
    Diagnose,
    DiagnosisReport,
    DifferenceReport,
    FindDifference,
    HiddenInputs,
    Judge,
    MistakeRequest,
)
from attn_tutor.lessons.worker.message_parts import TensorReport

MANY_ANSWERS = JUDGE_LIMITS.model_copy(update={"cpu": 300})
"""Limits of a judge of many answers, whose processor time adds up."""

ROUNDS = 2
MAX_SOURCE = 1024 * 1024

Diagnosis = Literal["none", "mistakes", "line"]
"""How deeply a wrong answer is analyzed: not at all, for known mistakes, or also for the line where it goes wrong."""


class JudgeAnswer(Protocol):
    """A function that judges one of many answers to the same exercise."""

    def __call__(self, source: str, diagnosis: Diagnosis = "none") -> Judgement:
        """Judge an answer. Raises `WorkerError` if judging fails through no fault of the answer."""


UNLABELLED = Lesson.model_construct(tokens=())
"""A lesson without tokens: hidden inputs are not words, so the rows and columns of their results are numbered."""


def check(
    exercise: ExerciseStep,
    source: str,
    child: Child,
    cancelled: Callable[[], bool],
    seed: int | None = None,
    rounds: int = ROUNDS,
    diagnosis: Diagnosis = "line",
) -> Judgement:
    """Judge an answer on `rounds` hidden inputs, made from `seed` and the numbers after it.

    `diagnosis` says how deeply a wrong answer is analyzed. Raises `WorkerError` if judging fails through no fault of
    the answer.
    """
    began = time.monotonic()
    request = Request.of(exercise, source, seed, rounds)
    try:
        judgement = _unfit(request)
        if judgement is None:
            with _judge(request, child) as (judge, hidden):
                judgement = _check(judge, hidden, request, child, cancelled, diagnosis)
    except WorkerError:
        if not cancelled():
            raise
        judgement = replace(unjudged(exercise, "error", judge_children.stopped_words()), stopped=True)
    return replace(judgement, seconds=round(time.monotonic() - began, 3), seed=request.seeds[0])


@contextmanager
def on_same_inputs(exercise: ExerciseStep, child: Child, seed: int, rounds: int = ROUNDS) -> Iterator[JudgeAnswer]:
    """Judge many answers to an exercise on the same hidden inputs, with one judge; yields a function that judges one.

    The judge makes the inputs, and runs the model answer and each known mistake on them, only once. That is for
    authors: a learner's answers are judged on new inputs each time. Raises `WorkerError` like `check`.
    """
    with _judge(Request.of(exercise, "", seed, rounds), child, MANY_ANSWERS) as (judge, hidden):

        def judge_answer(source: str, diagnosis: Diagnosis = "none") -> Judgement:
            request = Request.of(exercise, source, seed, rounds)
            unfit = _unfit(request)
            return unfit if unfit is not None else _check(judge, hidden, request, child, lambda: False, diagnosis)

        yield judge_answer


def compare(exercise: ExerciseStep, source: str, child: Child, seed: int | None = None) -> AnswerComparison:
    """Compare the intermediate results of an answer with those of the model answer, on one hidden input.

    Raises `WorkerError` if the answer does not run.
    """
    request = Request.of(exercise, source, seed, 1)
    with _judge(request, child) as (judge, hidden):
        traced = judge_children.run(request, child, hidden, lambda: False, trace=True)
        if traced.failure or traced.missing:
            raise WorkerError(judge_children.nothing_to_compare_words())
        return judge_children.ask(judge, CompareResults(traced.actual, traced.blob), AnswerComparison)


def _unfit(request: Request) -> Judgement | None:
    """Judge what cannot be run at all: no code, or too much of it."""
    if not request.code.strip():
        message = f"{judge_children.no_code_words()} {judge_children.undefined_words(request.exercise.defines)}"
        return unjudged(request.exercise, "failed", message)
    if len(request.code) > MAX_SOURCE:
        return unjudged(request.exercise, "error", judge_children.too_long_words(MAX_SOURCE // 1024))
    return None


def _check(
    judge: ChildProcess,
    hidden: HiddenInputs,
    request: Request,
    child: Child,
    cancelled: Callable[[], bool],
    diagnosis: Diagnosis,
) -> Judgement:
    answer = judge_children.run(request, child, hidden, cancelled)
    crash = ""
    if answer.crash and not cancelled():
        # A crash may be the fault of this machine, so it is said only if a fresh child crashes as well.
        first, answer = answer.crash, judge_children.run(request, child, hidden, cancelled)
        crash = "" if answer.crash else first
    failure = answer.failure
    suggests = failure is not None and bool(failure.suggestions)
    if failure is not None and suggests:
        answer = replace(answer, failure=replace(failure, message=failure.untried))
    judgement = _judge_answer(
        *(judge, request, answer, diagnosis),
        lambda: _difference(judge, request, child, hidden, cancelled),
    )
    if diagnosis == "line" and _is_open(judgement, answer) and not cancelled():
        judgement = repairing.with_repair(judgement, judge, hidden, request, child, answer)
    if diagnosis == "line" and suggests and judgement.verdict == "error":
        message = repairing.try_suggestions(
            judge, request, child, hidden, cancelled, answer, named=bool(judgement.mistakes)
        )
        judgement = replace(judgement, message=message or judgement.message)
    gap = line_exercises.gap_line(request.exercise.starter, request.code.decode(errors="replace"))
    if request.exercise.form == "line" and judgement.verdict == "failed" and judgement.line and gap:
        # Nothing else is the learner's own, and a line such as `pass` computes nothing that would tell.
        at_gap = tuple(replace(item, line=gap) for item in judgement.mistakes)
        judgement = replace(judgement, line=gap, mistakes=at_gap)
    symptom = failure.symptom if failure and judgement.verdict == "error" else ""
    return replace(judgement, crash=crash, symptom=symptom)


def _is_open(judgement: Judgement, answer: AnswerOutcome) -> bool:
    """Return whether one edit may undo what is wrong with an answer, which gave values or raised an exception."""
    if judgement.passed or answer.missing or not answer.reported:
        return False
    if answer.failure is None:
        return judgement.verdict == "failed"
    return answer.failure.kind == "error" and not answer.failure.refused


def _judge_answer(
    judge: ChildProcess,
    request: Request,
    answer: AnswerOutcome,
    diagnosis: Diagnosis,
    find_difference: Callable[[], tuple[int | None, AnswerDifference | None]],
) -> Judgement:
    """Judge the outcome of an answer. `find_difference` runs it once more, recorded."""
    exercise = request.exercise
    if answer.missing:
        return unjudged(exercise, "failed", judge_children.undefined_words(answer.missing), stdout=answer.printed)
    if answer.failure is not None:
        failed = judge_children.failed(exercise, answer.failure, answer.printed)
        if failed.verdict != "error" or failed.stopped or diagnosis == "none" or not exercise.mistakes:
            return failed
        if answer.failure.refused:
            # It is said what is wrong with it, and it has not been written to be repaired.
            return failed
        if diagnosis == "line":
            # For the lines of mistakes alone: a program that fails has not come to all of its results.
            find_difference()
        error = answer.failure.symptom or answer.failure.message
        named = _diagnose(judge, request, error, answer.failure.operation)
        return replace(failed, mistakes=named)
    judgement = judge_children.decide(judge, exercise, answer)
    if judgement.verdict != "failed" or diagnosis == "none":
        return judgement
    # The recorded run comes first: a mistake whose intermediate results are not the answer's has not been made.
    line, difference = find_difference() if diagnosis == "line" else (None, None)
    named = _diagnose(judge, request)
    if named:
        line = named[0].line
    # A mistake with a name is explained already; the difference is for one without.
    return replace(judgement, mistakes=named, line=line, difference=None if named else difference)


# The two children ----------------------------------------------------------------------------------------------------


@contextmanager
def _judge(
    request: Request, child: Child, limits: Limits = JUDGE_LIMITS
) -> Iterator[tuple[ChildProcess, HiddenInputs]]:
    """Start the judge's child; yields it, and the hidden inputs that it has made."""
    exercise = request.exercise
    checks = tuple(
        CheckRequest(check.name, check.test, tuple((case.when, case.say) for case in check.fail), check.needs)
        for check in exercise.checks
    )
    job = Judge(request.seeds, exercise.defines, exercise.context, exercise.probe, exercise.solution, checks)
    with child(limits) as judge:
        hidden = judge_children.ask(judge, job, HiddenInputs)
        # The judge never runs the learner's code, and must not be charged for processes which that code leaves behind.
        judge.set_idle(True)
        yield judge, hidden


def _diagnose(
    judge: ChildProcess, request: Request, error: str | None = None, operation: str = ""
) -> tuple[NamedMistake, ...]:
    """Find the known mistakes with the same outcome as the answer: its values, or an exception of this operation.

    Many mistakes end in the same exception, so one that is recognized by it has to be in the code of the answer.
    """
    exercise, source = request.exercise, request.code.decode(errors="replace")
    mistakes = tuple(
        MistakeRequest(known, item.seen, item.why)
        for item in exercise.mistakes
        for known in [mistake_edits.KnownMistake.of(item)]
        if error is None or made_in(source, known.apply_to(exercise.solution) or "", exercise.solution)
    )
    names = {item.id: item.name for item in exercise.mistakes}
    question = Diagnose(error, operation, mistakes, tuple(sorted(words_of(source))))
    try:
        report = judge_children.ask(judge, question, DiagnosisReport)
    except WorkerError:
        # The verdict stands without a diagnosis.
        return ()
    return tuple(replace(item, name=names[item.id]) for item in report.found if item.id in names)


def _difference(
    judge: ChildProcess, request: Request, child: Child, hidden: HiddenInputs, cancelled: Callable[[], bool]
) -> tuple[int | None, AnswerDifference | None]:
    """Record a second run of the answer. Returns the line to blame, and its first intermediate result that differs.

    The judge keeps the trace. Both are None if nothing was recorded.
    """
    first, first_input = judge_children.short(request, hidden)
    traced = judge_children.run(first, child, first_input, cancelled, trace=True)
    if traced.actual is None:
        return None, None
    try:
        report = judge_children.ask(judge, FindDifference(traced.actual, traced.blob), DifferenceReport)
    except WorkerError:
        return None, None
    found = report.difference
    if found is None:
        return report.line, None
    yours = _tensor(found.yours, report.blob)
    expected = _tensor(found.expected, report.blob)
    return report.line, AnswerDifference(found.name, found.line, yours, expected, found.agreed)


def _tensor(report: TensorReport, blob: bytes) -> Tensor:
    kind: Kind = "mask" if report.dtype == "bool" else "vector"
    return replies.tensor_of(UNLABELLED, ShownTensor.model_construct(name=report.name, kind=kind), report, blob)
