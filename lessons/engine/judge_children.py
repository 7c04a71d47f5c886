"""The two children that judge an answer, what is asked of them, and what a verdict says where no check has judged.

The judge's child makes hidden inputs and decides; the other child runs the answer on them. Data for one from the other
is passed on unread: see `lessons.worker.jobs.judge`.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TypeVar

from attn_tutor.lessons.engine import children
from attn_tutor.lessons.engine.launching.launchers import ChildProcess, output
from attn_tutor.lessons.format.lesson import ExerciseStep, Limits
from attn_tutor.lessons.results.result import CheckResult, Failure, Judgement, WorkerError
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.results.verdict import Verdict
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel, wire
from attn_tutor.lessons.worker.judging_messages import (
    AnswerLoaded,
    AnswerReport,
    Decide,
    Decision,
    HiddenInputs,
    RunAnswer,
)

say = Wording("engine/verdict")


def passed_words() -> str:
    """Say that the answer passes."""
    return say("passed", "All checks pass.")


def no_code_words() -> str:
    """Say that there is nothing to judge."""
    return say("no-code", "There is no code yet.")


def too_long_words(kilobytes: int) -> str:
    """Say that a program has more than this size."""
    return say("too-long", "The program is longer than {kilobytes} KB.", kilobytes=kilobytes)


def undefined_words(names: Sequence[str]) -> str:
    """Say which names the code does not define."""
    listed = say("and", " and ").join(f"`{name}`" for name in names)
    return say("undefined", "Your code does not define {names}. The task says what to write.", names=listed)


def stopped_words() -> str:
    """Say that the learner has stopped the judging."""
    return say("stopped", "Stopped by you.")


def unreadable_words() -> str:
    """Say that the program sent something that is no reply."""
    return say("unreadable", "Your program was judged as not passed: its reply was unreadable.")


def nothing_to_compare_words() -> str:
    """Say that intermediate results cannot be compared."""
    return say("nothing-to-compare", "This code does not run, so there is nothing to compare.")


def judge_failed_words(lines: Sequence[str]) -> str:
    """Say that the judge's own process failed, with the last line of what it wrote, if it wrote anything."""
    if not lines:
        return say("judge-ended", "The judge of this exercise failed: it ended without a word")
    return say("judge-failed", "The judge of this exercise failed: {line}", line=lines[-1])


T = TypeVar("T")

JUDGE_LIMITS = Limits(cpu=30, wall=60, memory=2048)
SEEDS = 2**31

TRACE_CPU, TRACE_WALL = 3.0, 6.0
"""Limits in seconds for the second, recorded run of a wrong answer. They are tight: the verdict is already known."""

Child = Callable[[Limits], AbstractContextManager[ChildProcess]]
"""A function that starts a child for one purpose and ends it afterwards."""


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
class AnswerOutcome:
    """The outcome of the learner's program: its values (`actual`), still encoded, or a failure; and its output.

    `missing` are the names that the program does not define. `reported` is False if the child ended before it told the
    outcome.
    """

    actual: object = None
    blob: bytes = b""
    printed: str = ""
    failure: Failure | None = None
    missing: tuple[str, ...] = ()
    reported: bool = True

    @property
    def crash(self) -> str:
        """What is said of a program that crashed, empty for any other."""
        return self.failure.message if self.failure and self.failure.kind == "crash" else ""


def ask(judge: ChildProcess, question: object, report: type[T]) -> T:
    """Ask the judge a question. Raises `WorkerError` if it does not reply with a report of this type."""
    try:
        channel.send(judge.talk, question)
        return channel.receive(judge.talk, report, deadline=time.monotonic() + JUDGE_LIMITS.wall)
    except (wire.WireError, TimeoutError):
        raise judge_failed(judge) from None


def judge_failed(judge: ChildProcess) -> WorkerError:
    if judge.end().reason == "no folder":
        return WorkerError(children.no_folder())
    lines = output(judge.err).strip().splitlines()
    return WorkerError(judge_failed_words(lines))


def run(
    request: Request, child: Child, hidden: HiddenInputs, cancelled: Callable[[], bool], *, trace: bool = False
) -> AnswerOutcome:
    """Run the learner's program in a child of its own; with `trace`, its values are its intermediate results."""
    limits = request.exercise.limits
    with child(limits) as job:
        try:
            answer = _converse(job, request, hidden, trace)
        except TimeoutError:
            answer = AnswerOutcome(failure=children.timeout_failure(job, limits.wall), reported=False)
        except wire.WireError as error:
            failure = children.exit_failure(job, error, limits, cancelled())
            answer = AnswerOutcome(failure=failure, reported=False)
        job.end()
        return replace(answer, printed=output(job.out))


def _converse(job: ChildProcess, request: Request, hidden: HiddenInputs, trace: bool) -> AnswerOutcome:
    """Load the learner's program in a child, then send the hidden inputs. Raises what `channel.receive` raises."""
    exercise = request.exercise
    deadline = time.monotonic() + exercise.limits.wall
    answer = RunAnswer(
        exercise.probe, request.own_seed, exercise.defines, exercise.without, trace=trace, blob=request.code
    )
    channel.send(job.talk, answer)
    loaded = channel.receive(job.talk, AnswerLoaded, deadline=deadline)
    if loaded.error or loaded.missing:
        return AnswerOutcome(failure=loaded.error, missing=loaded.missing)
    channel.send(job.talk, hidden)
    report = channel.receive(job.talk, AnswerReport, deadline=deadline)
    return AnswerOutcome(report.actual, report.blob, failure=report.error)


def decide(judge: ChildProcess, exercise: ExerciseStep, answer: AnswerOutcome) -> Judgement:
    unreadable = unreadable_words()
    try:
        channel.send(judge.talk, Decide(answer.actual, answer.blob))
        report = channel.receive(judge.talk, Decision, Refusal, deadline=time.monotonic() + JUDGE_LIMITS.wall)
    except (wire.Closed, TimeoutError):
        raise judge_failed(judge) from None
    except wire.WireError:
        return unjudged(exercise, "error", unreadable, stdout=answer.printed)
    if isinstance(report, Refusal):
        return unjudged(exercise, "error", unreadable, stdout=answer.printed)
    checks = report.checks
    wrong = [check for check in checks if not check.passed]
    if not wrong:
        return Judgement(exercise.exercise, "passed", passed_words(), checks=checks, stdout=answer.printed)
    message = f"{wrong[0].name}: {wrong[0].message}"
    return Judgement(exercise.exercise, "failed", message, checks=checks, stdout=answer.printed)


def short(request: Request, hidden: HiddenInputs) -> tuple[Request, HiddenInputs]:
    """Return a request for a run on the first hidden input alone, within tight limits, and this input."""
    limits = request.exercise.limits
    short = limits.model_copy(update={"cpu": min(limits.cpu, TRACE_CPU), "wall": min(limits.wall, TRACE_WALL)})
    exercise = request.exercise.model_copy(update={"limits": short})
    first = Request(exercise, request.code, request.seeds[:1])
    return first, HiddenInputs(hidden.inputs[:1], hidden.seeds[:1], hidden.recorded[:1], hidden.blob)


def failed(exercise: ExerciseStep, failure: Failure, printed: str) -> Judgement:
    verdict: Verdict = "error" if failure.kind == "stopped" else failure.kind
    judgement = unjudged(exercise, verdict, failure.message, failure.line, printed)
    return replace(judgement, stopped=failure.kind == "stopped", names_line=failure.names_line)


def unjudged(
    exercise: ExerciseStep, verdict: Verdict, message: str, line: int | None = None, stdout: str = ""
) -> Judgement:
    """Return the judgement of an answer on which no check could be evaluated, so that none passed."""
    checks = tuple(CheckResult(check.name, False) for check in exercise.checks)
    return Judgement(exercise.exercise, verdict, message, line, checks=checks, stdout=stdout)
