"""The parent's side of judging an answer, with two children, only one of which ever runs the learner's code.

The judge's child makes hidden inputs and decides; the other child runs the answer on them. Data for one from the other
is passed on unread: see `lessons.worker.jobs.judge`. A wrong answer is then diagnosed: by the known mistakes of the
exercise, by a second, recorded run that shows where its intermediate results diverge from the model answer's, and by
small edits of the answer that might make it pass (`repairing`).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeVar

from lessons.engine import child_failures, repairing, replies, verdict_words
from lessons.engine.launching.launchers import ChildProcess, output
from lessons.engine.replies import failure_of
from lessons.format.lesson import ExerciseStep, Kind, Lesson, Limits, ShownTensor
from lessons.reading import line_exercises, mistake_edits
from lessons.reading.giving_away import gives_away, is_a_name
from lessons.reading.mistake_edits import right_answers
from lessons.reading.operations import may_make, words_of
from lessons.results.result import (
    AnswerComparison,
    AnswerDifference,
    CheckResult,
    Failure,
    Judgement,
    NamedMistake,
    Tensor,
    WorkerError,
)
from lessons.results.tensor_questions import Refusal
from lessons.results.verdict import Verdict
from lessons.worker import channel, wire
from lessons.worker.judging_messages import (
    AnswerLoaded,
    AnswerReport,
    CheckRequest,
    CompareResults,
    ComparisonReport,
    Decide,
    Decision,
    Diagnose,
    DiagnosisReport,
    DifferenceReport,
    FindDifference,
    HiddenInputs,
    Judge,
    MistakeRequest,
    Recognition,
    Recognize,
    RepairReport,
    RunAnswer,
)
from lessons.worker.message_parts import ErrorReport, SuggestionReport, TensorReport

T = TypeVar("T")

JUDGE_LIMITS = Limits(cpu=30, wall=60, memory=2048)
MANY_ANSWERS = JUDGE_LIMITS.model_copy(update={"cpu": 300})
"""Limits of a judge of many answers, whose processor time adds up."""

ROUNDS = 2
MAX_SOURCE = 1024 * 1024
SEEDS = 2**31

TRACE_CPU, TRACE_WALL = 3.0, 6.0
"""Limits in seconds for the second, recorded run of a wrong answer. They are tight: the verdict is already known."""

Diagnosis = Literal["none", "mistakes", "line"]
"""How deeply a wrong answer is analyzed: not at all, for known mistakes, or also for the line where it goes wrong."""


class JudgeAnswer(Protocol):
    """A function that judges one of many answers to the same exercise."""

    def __call__(self, source: str, diagnosis: Diagnosis = "none") -> Judgement:
        """Judge an answer. Raises `WorkerError` if judging fails through no fault of the answer."""


Child = Callable[[Limits], AbstractContextManager[ChildProcess]]
"""A function that starts a child for one purpose and ends it afterwards."""

UNLABELLED = Lesson.model_construct(tokens=())
"""A lesson without tokens: hidden inputs are not words, so the rows and columns of their results are numbered."""


@dataclass(frozen=True, slots=True)
class Request:
    """An answer to be judged, and the seeds of the hidden inputs that it is judged on."""

    exercise: ExerciseStep
    code: bytes
    seeds: tuple[int, ...]

    @classmethod
    def of(cls, exercise: ExerciseStep, source: str, seed: int | None, rounds: int) -> Request:
        """Create a request for `rounds` hidden inputs; without a seed, they are different each time."""
        first = secrets.randbelow(SEEDS) if seed is None else seed % SEEDS
        seeds = tuple((first + offset) % SEEDS for offset in range(rounds))
        return cls(exercise, source.encode("utf-8", "surrogatepass"), seeds)

    @property
    def own_seed(self) -> int:
        """The seed while the answer is loaded. With a seed of a hidden input, it could recreate that input."""
        return (self.seeds[0] * 48_271 + 11) % SEEDS


@dataclass(frozen=True, slots=True)
class _Answer:
    """The outcome of the learner's program: its values (`actual`), still encoded, or a failure; and its output.

    `operation` is the operation that failed; `missing` are the names that the program does not define. `suggestions`
    are the ones that the message of the failure could make, and `untried` is the message without any. `reported` is
    False if the child ended before it told the outcome.
    """

    actual: object = None
    blob: bytes = b""
    printed: str = ""
    failure: Failure | None = None
    operation: str = ""
    missing: tuple[str, ...] = ()
    untried: str = ""
    suggestions: tuple[SuggestionReport, ...] = ()
    reported: bool = True

    @property
    def crash(self) -> str:
        """What is said of a program that crashed, empty for any other."""
        return self.failure.message if self.failure and self.failure.kind == "crash" else ""


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
        judgement = replace(_unjudged(exercise, "error", verdict_words.stopped()), stopped=True)
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
        traced = _run(request, child, hidden, lambda: False, trace=True)
        if traced.failure or traced.missing:
            raise WorkerError(verdict_words.nothing_to_compare())
        report = _ask(judge, CompareResults(traced.actual, traced.blob), ComparisonReport)
        return AnswerComparison(report.intermediates, report.own)


def _unfit(request: Request) -> Judgement | None:
    """Judge what cannot be run at all: no code, or too much of it."""
    if not request.code.strip():
        message = f"{verdict_words.no_code()} {verdict_words.undefined(request.exercise.defines)}"
        return _unjudged(request.exercise, "failed", message)
    if len(request.code) > MAX_SOURCE:
        return _unjudged(request.exercise, "error", verdict_words.too_long(MAX_SOURCE // 1024))
    return None


def _check(
    judge: ChildProcess,
    hidden: HiddenInputs,
    request: Request,
    child: Child,
    cancelled: Callable[[], bool],
    diagnosis: Diagnosis,
) -> Judgement:
    answer = _run(request, child, hidden, cancelled)
    crash = ""
    if answer.crash and not cancelled():
        # A crash may be the fault of this machine, so it is said only if a fresh child crashes as well.
        first, answer = answer.crash, _run(request, child, hidden, cancelled)
        crash = "" if answer.crash else first
    if answer.suggestions and answer.failure:
        answer = replace(answer, failure=replace(answer.failure, message=answer.untried))
    judgement = _judge_answer(
        *(judge, request.exercise, answer, words_of(request.code.decode(errors="replace")), diagnosis),
        lambda: _difference(judge, request, child, hidden, cancelled),
    )
    if diagnosis == "line" and _is_open(judgement, answer) and not cancelled():
        judgement = _with_repair(judgement, judge, hidden, request, child, answer)
    if diagnosis == "line" and answer.suggestions and judgement.verdict == "error":
        message = _try_suggestions(judge, request, child, hidden, cancelled, answer, named=bool(judgement.mistakes))
        judgement = replace(judgement, message=message or judgement.message)
    gap = line_exercises.gap_line(request.exercise.starter, request.code.decode(errors="replace"))
    if request.exercise.form == "line" and judgement.verdict == "failed" and judgement.line and gap:
        # Nothing else is the learner's own, and a line such as `pass` computes nothing that would tell.
        at_gap = tuple(replace(item, line=gap) for item in judgement.mistakes)
        judgement = replace(judgement, line=gap, mistakes=at_gap)
    symptom = answer.failure.symptom if answer.failure and judgement.verdict == "error" else ""
    return replace(judgement, crash=crash, symptom=symptom)


def _is_open(judgement: Judgement, answer: _Answer) -> bool:
    """Return whether one edit may undo what is wrong with an answer, which gave values or raised an exception."""
    if judgement.passed or answer.missing or not answer.reported:
        return False
    return judgement.verdict == "failed" if answer.failure is None else answer.failure.kind == "error"


def _with_repair(
    judgement: Judgement,
    judge: ChildProcess,
    hidden: HiddenInputs,
    request: Request,
    child: Child,
    answer: _Answer,
) -> Judgement:
    """Tell the lines and, unless it has one, the name of a mistake that an edit of the answer undoes."""
    exercise, words = request.exercise, words_of(request.code.decode(errors="replace"))
    known = tuple(
        mistake
        for mistake in map(mistake_edits.KnownMistake.of, exercise.mistakes)
        if (code := mistake.apply_to(exercise.solution)) and may_make(words, code, exercise.solution)
    )

    def weigh(report: RepairReport) -> repairing.Judged:
        if _decide(judge, exercise, _Answer(report.actual, report.blob)).passed:
            return True, ()
        return False, _ask(judge, Recognize(report.actual, report.blob, known), Recognition).found

    values = None if answer.failure else RepairReport(answer.actual, answer.blob)
    names = frozenset(item.id for item in judgement.mistakes)
    copies = repairing.Copies(exercise, request.own_seed, hidden, child, weigh, values, names)
    found = repairing.find(request.code.decode(errors="replace"), copies, judgement.line)
    if found.repairs and found.is_later:
        # A copy may disturb later ones in the same process, so what is said has been tried alone.
        alone = _run(replace(request, code=found.repairs[0].code.encode()), child, hidden, lambda: False)
        if alone.failure or alone.missing or not _decide(judge, exercise, alone).passed:
            found = repairing.Found()
    named = _named(judgement.mistakes, found)
    lines = [item.line for item in named if item.line]
    # An exception has a line of its own, where it was raised.
    line = judgement.line if judgement.verdict == "error" else next(iter(lines), None)
    difference = judgement.difference
    if found.repairs and difference is not None and difference.line not in lines:
        # What differs first may be another way, and right.
        difference = None
    return replace(judgement, mistakes=named, line=line, difference=difference)


def _named(given: tuple[NamedMistake, ...], found: repairing.Found) -> tuple[NamedMistake, ...]:
    """Return the mistakes to name, with their lines, after edits have been tried; `given` are those named already."""
    if len(given) == 2:
        # What is left after an edit is one of the two, so the edit is on the line of the other.
        lines = [found.left[other.id].lines[0] if other.id in found.left else None for other in reversed(given)]
        return tuple(replace(item, line=line or item.line) for item, line in zip(given, lines, strict=True))
    if len(found.repairs) == 1:
        [repair] = found.repairs
        return tuple(replace(item, line=repair.lines[0]) for item in given) or (repair.mistake(),)
    if given:
        return given
    return tuple(repair.mistake(alone=False) for repair in found.repairs)


def _judge_answer(
    judge: ChildProcess,
    exercise: ExerciseStep,
    answer: _Answer,
    words: frozenset[str],
    diagnosis: Diagnosis,
    find_difference: Callable[[], tuple[int | None, AnswerDifference | None]],
) -> Judgement:
    """Judge the outcome of an answer whose code has these words. `find_difference` runs it once more, recorded."""
    if answer.missing:
        return _unjudged(exercise, "failed", verdict_words.undefined(answer.missing), stdout=answer.printed)
    if answer.failure is not None:
        failed = _failed(exercise, answer.failure, answer.printed)
        if failed.verdict != "error" or failed.stopped or diagnosis == "none" or not exercise.mistakes:
            return failed
        if diagnosis == "line":
            # For the lines of mistakes alone: a program that fails has not come to all of its results.
            find_difference()
        named = _diagnose(judge, exercise, words, failed.message, answer.operation)
        return replace(failed, mistakes=named)
    judgement = _decide(judge, exercise, answer)
    if judgement.verdict != "failed" or diagnosis == "none":
        return judgement
    # The recorded run comes first: a mistake whose intermediate results are not the answer's has not been made.
    line, difference = find_difference() if diagnosis == "line" else (None, None)
    named = _diagnose(judge, exercise, words)
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
        hidden = _ask(judge, job, HiddenInputs)
        # The judge never runs the learner's code, and must not be charged for processes which that code leaves behind.
        judge.set_idle(True)
        yield judge, hidden


def _ask(judge: ChildProcess, question: object, report: type[T]) -> T:
    """Ask the judge a question. Raises `WorkerError` if it does not reply with a report of this type."""
    try:
        channel.send(judge.talk, question)
        return channel.receive(judge.talk, report, deadline=time.monotonic() + JUDGE_LIMITS.wall)
    except (wire.WireError, TimeoutError):
        raise _judge_failed(judge) from None


def _judge_failed(judge: ChildProcess) -> WorkerError:
    if judge.end().reason == "no folder":
        return WorkerError(child_failures.no_folder())
    lines = output(judge.err).strip().splitlines()
    return WorkerError(verdict_words.judge_failed(lines))


def _run(
    request: Request, child: Child, hidden: HiddenInputs, cancelled: Callable[[], bool], *, trace: bool = False
) -> _Answer:
    """Run the learner's program in a child of its own; with `trace`, its values are its intermediate results."""
    limits = request.exercise.limits
    with child(limits) as job:
        try:
            answer = _converse(job, request, hidden, trace)
        except TimeoutError:
            answer = _Answer(failure=child_failures.timeout_failure(job, limits.wall), reported=False)
        except wire.WireError as error:
            failure = child_failures.exit_failure(job, error, limits, cancelled())
            answer = _Answer(failure=failure, reported=False)
        job.end()
        return replace(answer, printed=output(job.out))


def _converse(job: ChildProcess, request: Request, hidden: HiddenInputs, trace: bool) -> _Answer:
    """Load the learner's program in a child, then send the hidden inputs. Raises what `channel.receive` raises."""
    exercise = request.exercise
    deadline = time.monotonic() + exercise.limits.wall
    answer = RunAnswer(
        exercise.probe, request.own_seed, exercise.defines, exercise.without, trace=trace, blob=request.code
    )
    channel.send(job.talk, answer)
    loaded = channel.receive(job.talk, AnswerLoaded, deadline=deadline)
    if loaded.error or loaded.missing:
        return _with_error(_Answer(missing=loaded.missing), loaded.error)
    channel.send(job.talk, hidden)
    report = channel.receive(job.talk, AnswerReport, deadline=deadline)
    return _with_error(_Answer(report.actual, report.blob), report.error)


def _with_error(answer: _Answer, error: ErrorReport | None) -> _Answer:
    if error is None:
        return answer
    return replace(
        answer,
        failure=failure_of(error),
        operation=error.operation,
        untried=error.untried,
        suggestions=error.suggestions,
    )


# The verdict ---------------------------------------------------------------------------------------------------------


def _decide(judge: ChildProcess, exercise: ExerciseStep, answer: _Answer) -> Judgement:
    unreadable = verdict_words.unreadable()
    try:
        channel.send(judge.talk, Decide(answer.actual, answer.blob))
        report = channel.receive(judge.talk, Decision, Refusal, deadline=time.monotonic() + JUDGE_LIMITS.wall)
    except (wire.Closed, TimeoutError):
        raise _judge_failed(judge) from None
    except wire.WireError:
        return _unjudged(exercise, "error", unreadable, stdout=answer.printed)
    if isinstance(report, Refusal):
        return _unjudged(exercise, "error", unreadable, stdout=answer.printed)
    checks = report.checks
    wrong = [check for check in checks if not check.passed]
    if not wrong:
        return Judgement(exercise.exercise, "passed", verdict_words.passed(), checks=checks, stdout=answer.printed)
    message = f"{wrong[0].name}: {wrong[0].message}"
    return Judgement(exercise.exercise, "failed", message, checks=checks, stdout=answer.printed)


def _diagnose(
    judge: ChildProcess,
    exercise: ExerciseStep,
    words: frozenset[str],
    error: str | None = None,
    operation: str = "",
) -> tuple[NamedMistake, ...]:
    """Find the known mistakes with the same outcome as the answer: its values, or an exception of this operation."""
    mistakes = tuple(
        MistakeRequest(mistake_edits.KnownMistake.of(item), item.seen, item.why) for item in exercise.mistakes
    )
    names = {item.id: item.name for item in exercise.mistakes}
    try:
        report = _ask(judge, Diagnose(error, operation, mistakes, tuple(sorted(words))), DiagnosisReport)
    except WorkerError:
        # The verdict stands without a diagnosis.
        return ()
    return tuple(NamedMistake(item.id, names[item.id], item.text, item.line) for item in report.found)


def _difference(
    judge: ChildProcess, request: Request, child: Child, hidden: HiddenInputs, cancelled: Callable[[], bool]
) -> tuple[int | None, AnswerDifference | None]:
    """Record a second run of the answer. Returns the line to blame, and its first intermediate result that differs.

    The judge keeps the trace. Both are None if nothing was recorded.
    """
    first, first_input = _short(request, hidden)
    traced = _run(first, child, first_input, cancelled, trace=True)
    if traced.actual is None:
        return None, None
    try:
        report = _ask(judge, FindDifference(traced.actual, traced.blob), DifferenceReport)
    except WorkerError:
        return None, None
    found = report.difference
    if found is None:
        return report.line, None
    yours = _tensor(found.yours, report.blob)
    expected = _tensor(found.expected, report.blob)
    return report.line, AnswerDifference(found.name, found.line, yours, expected, found.agreed)


def _try_suggestions(
    judge: ChildProcess,
    request: Request,
    child: Child,
    hidden: HiddenInputs,
    cancelled: Callable[[], bool],
    answer: _Answer,
    *,
    named: bool,
) -> str:
    """Try what the message of a failure suggests. Returns the message with the first suggestion that helps, or "".

    It helps if the answer gets further. If it may run and still be wrong, then the line must also compute a result that
    the model answer has. But it must not be what the exercise asks for; and beside a mistake that is `named`, which
    may be a different one, only a misspelled name is corrected.
    """
    first, first_input = _short(request, hidden)
    source, models = request.code.decode(errors="replace"), right_answers(request.exercise)
    for suggestion in answer.suggestions:
        code = suggestion.apply_to(request.code)
        corrects = is_a_name(suggestion.code)
        if code is None or cancelled() or (named and not corrects) or gives_away(suggestion.code, source, models):
            continue
        traced = _run(replace(first, code=code), child, first_input, cancelled, trace=True)
        if traced.missing or traced.actual is None or not answer.failure:
            continue
        if traced.failure and (traced.failure.kind != "error" or traced.failure.line == answer.failure.line):
            continue
        if not corrects and not traced.failure:
            completed = _run(replace(request, code=code), child, hidden, cancelled)
            if not completed.failure and _decide(judge, request.exercise, completed).passed:
                return ""
        if not suggestion.semantic:
            return suggestion.text
        try:
            report = _ask(judge, CompareResults(traced.actual, traced.blob), ComparisonReport)
        except WorkerError:
            return ""
        if any(item.your_line == answer.failure.line for item in report.intermediates):
            return suggestion.text
    return ""


def _short(request: Request, hidden: HiddenInputs) -> tuple[Request, HiddenInputs]:
    """Return a request for a run on the first hidden input alone, within tight limits, and this input."""
    limits = request.exercise.limits
    short = limits.model_copy(update={"cpu": min(limits.cpu, TRACE_CPU), "wall": min(limits.wall, TRACE_WALL)})
    exercise = request.exercise.model_copy(update={"limits": short})
    first = Request(exercise, request.code, request.seeds[:1])
    return first, HiddenInputs(hidden.inputs[:1], hidden.seeds[:1], hidden.blob)


def _tensor(report: TensorReport, blob: bytes) -> Tensor:
    kind: Kind = "mask" if report.dtype == "bool" else "vector"
    return replies.tensor_of(UNLABELLED, ShownTensor.model_construct(name=report.name, kind=kind), report, blob)


def _failed(exercise: ExerciseStep, failure: Failure, printed: str) -> Judgement:
    verdict: Verdict = "error" if failure.kind == "stopped" else failure.kind
    judgement = _unjudged(exercise, verdict, failure.message, failure.line, printed)
    return replace(judgement, stopped=failure.kind == "stopped")


def _unjudged(
    exercise: ExerciseStep, verdict: Verdict, message: str, line: int | None = None, stdout: str = ""
) -> Judgement:
    """Return the judgement of an answer on which no check could be evaluated, so that none passed."""
    checks = tuple(CheckResult(check.name, False) for check in exercise.checks)
    return Judgement(exercise.exercise, verdict, message, line, checks=checks, stdout=stdout)
