"""Judging an answer, the parent's side: two children, of which only one ever runs the learner's code.

The judge's child makes hidden inputs and decides; the other runs the answer on them. What goes from one to the other
is passed on as it is, unread: see `lessons.worker.jobs.judge`. A wrong answer is then diagnosed: by the known mistakes
of the exercise, and by a second run, under a recorder, that tells where its intermediate results part from ours.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from lessons.engine import child_failures, replies
from lessons.engine.launchers import ChildProcess, output
from lessons.engine.replies import failure_of
from lessons.format.lesson import ExerciseStep, Kind, Lesson, Limits, ShownTensor
from lessons.reading import mistake_edits
from lessons.results.result import (
    AnswerComparison,
    AnswerDifference,
    CheckResult,
    Failure,
    Intermediate,
    Judgement,
    NamedMistake,
    Tensor,
    Verdict,
    WorkerError,
)
from lessons.worker import wire

JUDGE_LIMITS = Limits(cpu=30, wall=60, memory=2048)
ROUNDS = 2
MAX_SOURCE = 1024 * 1024
SEEDS = 2**31

TRACE_CPU, TRACE_WALL = 3.0, 6.0
"""Seconds for the second, recorded run of a wrong answer, which only adds to what is said of it."""

Diagnosis = Literal["none", "mistakes", "line"]
"""How far a wrong answer is looked into: not at all, for known mistakes, or also for the line where it goes wrong."""

Child = Callable[[Limits], AbstractContextManager[ChildProcess]]
"""Starts a child for one purpose and ends it afterwards."""

UNLABELLED = Lesson.model_construct(tokens=())
"""Hidden inputs are no words: the rows and columns of what was made of them are numbered."""


@dataclass(frozen=True, slots=True)
class Request:
    """An answer to be judged, and the hidden inputs that it is judged on, by their seeds."""

    exercise: ExerciseStep
    code: bytes
    seeds: tuple[int, ...]

    @classmethod
    def of(cls, exercise: ExerciseStep, source: str, seed: int | None, rounds: int) -> Request:
        """The request; without a seed the hidden inputs are others each time."""
        first = secrets.randbelow(SEEDS) if seed is None else seed % SEEDS
        seeds = tuple((first + place) % SEEDS for place in range(rounds))
        return cls(exercise, source.encode("utf-8", "surrogatepass"), seeds)

    @property
    def own_seed(self) -> int:
        """What the generator of the answer's program is seeded with: no seed of hidden inputs, which it could make."""
        return (self.seeds[0] * 48_271 + 11) % SEEDS


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the learner's program gave, unread: values (`gots`), or a failure; and what it printed."""

    gots: object = None
    blob: bytes = b""
    printed: str = ""
    failure: Failure | None = None
    missing: tuple[str, ...] = ()


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

    `diagnosis` says how far a wrong one is looked into. Raises `WorkerError` if it cannot be judged through no fault of
    the answer.
    """
    began = time.monotonic()
    request = Request.of(exercise, source, seed, rounds)
    try:
        judgement = _check(request, child, cancelled, diagnosis)
    except WorkerError:
        if not cancelled():
            raise
        judgement = replace(_unjudged(exercise, "error", "Stopped by you."), stopped=True)
    return replace(judgement, seconds=round(time.monotonic() - began, 3), seed=request.seeds[0])


def compare(exercise: ExerciseStep, source: str, child: Child, seed: int | None = None) -> AnswerComparison:
    """The intermediate results of the model answer beside those of another answer, on one hidden input.

    Raises `WorkerError` if they cannot be had.
    """
    request = Request.of(exercise, source, seed, 1)
    with _judge(request, child) as (judge, hidden):
        made = _run(request, child, hidden, lambda: False, trace=True)
        if made.failure or made.missing:
            raise WorkerError("This code does not run, so there is nothing to compare.")
        reply = _ask(judge, {"op": "compare", "made": made.gots}, made.blob).header
        return AnswerComparison(_intermediates(reply["intermediates"]), _intermediates(reply["own"]))


def _intermediates(rows: list[dict[str, Any]]) -> tuple[Intermediate, ...]:
    return tuple(
        Intermediate(row["name"], row["line"], tuple(row["shape"]), row["yours"], row["your_line"]) for row in rows
    )


def _check(request: Request, child: Child, cancelled: Callable[[], bool], diagnosis: Diagnosis) -> Judgement:
    exercise = request.exercise
    if not request.code.strip():
        return _unjudged(exercise, "failed", f"There is no code yet. {_define(exercise.defines)}")
    if len(request.code) > MAX_SOURCE:
        return _unjudged(exercise, "error", f"The program is longer than {MAX_SOURCE // 1024} KB.")
    with _judge(request, child) as (judge, hidden):
        answer = _run(request, child, hidden, cancelled)
        if answer.missing:
            return _unjudged(exercise, "failed", _define(answer.missing), stdout=answer.printed)
        if answer.failure is not None:
            failed = _failed(exercise, answer.failure, answer.printed)
            return failed if diagnosis == "none" else _name_failure(judge, exercise, failed)
        judgement = _decide(judge, exercise, answer)
        if judgement.verdict != "failed" or diagnosis == "none":
            return judgement
        named = _diagnose(judge, exercise, None)
        parting = _part(judge, request, child, hidden, cancelled) if diagnosis == "line" else None
        line = parting.line if parting else None
        # A mistake with a name explains itself; only one without needs to be looked at.
        return replace(judgement, mistakes=named, line=line, difference=None if named else parting)


# The two children ----------------------------------------------------------------------------------------------------


@contextmanager
def _judge(request: Request, child: Child) -> Iterator[tuple[ChildProcess, wire.Frame]]:
    """The judge's child, and the hidden inputs that it has made."""
    exercise = request.exercise
    checks = [{"name": check.name, "test": check.test, "fail": check.fail} for check in exercise.checks]
    header = {"op": "judge", "seeds": list(request.seeds), "context": exercise.context, "probe": exercise.probe}
    with child(JUDGE_LIMITS) as judge:
        hidden = _ask(judge, header | {"solution": exercise.solution, "checks": checks})
        # It runs no program of the learner; what theirs leaves behind is not to be counted as its own.
        judge.settled()
        yield judge, hidden


def _ask(judge: ChildProcess, question: dict[str, Any], blob: bytes = b"") -> wire.Frame:
    """Put a question to the judge. Raises `WorkerError` if it does not answer."""
    try:
        wire.send(judge.talk, question, blob)
        return wire.receive(judge.talk, time.monotonic() + JUDGE_LIMITS.wall)
    except (wire.WireError, TimeoutError):
        raise _judge_failed(judge) from None


def _judge_failed(judge: ChildProcess) -> WorkerError:
    judge.end()
    lines = output(judge.err).strip().splitlines()
    return WorkerError(f"The judge of this exercise failed: {lines[-1] if lines else 'it ended without a word'}")


def _run(
    request: Request, child: Child, hidden: wire.Frame, cancelled: Callable[[], bool], *, trace: bool = False
) -> _Answer:
    """Run the learner's program in a child of its own. With `trace`, it hands back its intermediate results."""
    limits = request.exercise.limits
    with child(limits) as job:
        try:
            answer = _converse(job, request, hidden, trace)
        except TimeoutError:
            answer = _Answer(failure=child_failures.timed_out(job, limits.wall))
        except (wire.WireError, ValueError, KeyError, TypeError) as error:
            answer = _Answer(failure=child_failures.died(job, error, limits, cancelled()))
        job.end()
        return replace(answer, printed=output(job.out))


def _converse(job: ChildProcess, request: Request, hidden: wire.Frame, trace: bool) -> _Answer:
    """Have the learner's program loaded, then hand it the hidden inputs. Raises whatever its replies lead to."""
    exercise = request.exercise
    deadline = time.monotonic() + exercise.limits.wall
    header = {"op": "answer", "probe": exercise.probe, "seed": request.own_seed, "defines": list(exercise.defines)}
    wire.send(job.talk, header | {"without": list(exercise.without), "trace": trace}, request.code)
    loaded = wire.receive(job.talk, deadline).header
    if loaded.get("error"):
        return _Answer(failure=failure_of(loaded["error"]))
    if loaded.get("missing"):
        return _Answer(missing=tuple(str(name) for name in loaded["missing"]))
    inputs = {"op": "contexts", "contexts": hidden.header["contexts"], "seeds": list(request.seeds)}
    wire.send(job.talk, inputs, hidden.blob)
    answered = wire.receive(job.talk, deadline)
    failure = answered.header.get("error")
    return _Answer(answered.header["gots"], answered.blob, failure=failure_of(failure) if failure else None)


# The word ------------------------------------------------------------------------------------------------------------


def _decide(judge: ChildProcess, exercise: ExerciseStep, answer: _Answer) -> Judgement:
    unreadable = "Your program was judged as not passed: its reply was unreadable."
    try:
        wire.send(judge.talk, {"op": "verdict", "gots": answer.gots}, answer.blob)
        report = wire.receive(judge.talk, time.monotonic() + JUDGE_LIMITS.wall).header
    except (wire.Closed, TimeoutError):
        raise _judge_failed(judge) from None
    except wire.WireError:
        return _unjudged(exercise, "error", unreadable, stdout=answer.printed)
    if report.get("error"):
        return _unjudged(exercise, "error", unreadable, stdout=answer.printed)
    checks = tuple(CheckResult(item["name"], item["passed"], item["message"]) for item in report["checks"])
    wrong = [check for check in checks if not check.passed]
    if not wrong:
        return Judgement(exercise.exercise, "passed", "All checks pass.", checks=checks, stdout=answer.printed)
    message = f"{wrong[0].name}: {wrong[0].message}"
    return Judgement(exercise.exercise, "failed", message, checks=checks, stdout=answer.printed)


def _diagnose(judge: ChildProcess, exercise: ExerciseStep, error: str | None) -> tuple[NamedMistake, ...]:
    """The known mistakes that give what the answer gave: values, or an exception with this message."""
    mistakes = [
        asdict(mistake_edits.KnownMistake.of(item)) | {"seen": item.seen, "why": item.why} for item in exercise.mistakes
    ]
    names = {item.id: item.name for item in exercise.mistakes}
    try:
        named = _ask(judge, {"op": "diagnose", "error": error, "mistakes": mistakes}).header["named"]
    except WorkerError:
        # Without it there is still a verdict.
        return ()
    return tuple(NamedMistake(item["id"], names[item["id"]], item["text"]) for item in named)


def _name_failure(judge: ChildProcess, exercise: ExerciseStep, judgement: Judgement) -> Judgement:
    """The word on an answer that ended with an exception: with the known mistakes that end so."""
    if judgement.verdict != "error" or judgement.stopped:
        return judgement
    return replace(judgement, mistakes=_diagnose(judge, exercise, judgement.message))


def _part(
    judge: ChildProcess, request: Request, child: Child, hidden: wire.Frame, cancelled: Callable[[], bool]
) -> AnswerDifference | None:
    """Run the answer again, recorded, and find its first intermediate result that differs; None if that fails."""
    limits = request.exercise.limits
    short = limits.model_copy(update={"cpu": min(limits.cpu, TRACE_CPU), "wall": min(limits.wall, TRACE_WALL)})
    exercise = request.exercise.model_copy(update={"limits": short})
    first = Request(exercise, request.code, request.seeds[:1])
    made = _run(first, child, _first_input(hidden), cancelled, trace=True)
    if made.failure or made.missing:
        return None
    try:
        reply = _ask(judge, {"op": "part", "made": made.gots}, made.blob)
    except WorkerError:
        return None
    found = reply.header["parting"]
    if found is None:
        return None
    yours, expected = (_tensor(found[key], reply.blob) for key in ("yours", "expected"))
    return AnswerDifference(found["name"], found["line"], yours, expected, tuple(found["agreed"]))


def _first_input(hidden: wire.Frame) -> wire.Frame:
    return wire.Frame(hidden.header | {"contexts": hidden.header["contexts"][:1]}, hidden.blob)


def _tensor(entry: dict[str, Any], blob: bytes) -> Tensor:
    kind: Kind = "mask" if entry["dtype"] == "bool" else "vector"
    return replies.tensor_of(UNLABELLED, ShownTensor.model_construct(name=entry["name"], kind=kind), entry, blob)


def _failed(exercise: ExerciseStep, failure: Failure, printed: str) -> Judgement:
    verdict: Verdict = "error" if failure.kind == "stopped" else failure.kind
    judgement = _unjudged(exercise, verdict, failure.message, failure.line, printed)
    return replace(judgement, stopped=failure.kind == "stopped")


def _unjudged(
    exercise: ExerciseStep, verdict: Verdict, message: str, line: int | None = None, stdout: str = ""
) -> Judgement:
    """The word on an answer that could not be looked at, so that no check passed."""
    checks = tuple(CheckResult(check.name, False) for check in exercise.checks)
    return Judgement(exercise.exercise, verdict, message, line, checks=checks, stdout=stdout)


def _define(names: tuple[str, ...]) -> str:
    listed = " and ".join(f"`{name}`" for name in names)
    return f"Your code does not define {listed}. The task says what to write."
