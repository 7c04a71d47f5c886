"""Judging an answer, the parent's side: two children, of which only one ever runs the learner's code.

The judge's child makes hidden inputs and decides; the other runs the answer on them. What goes from one to the other
is passed on as it is, unread: see `lessons.worker.judge`.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from lessons import endings
from lessons.frames import failure_of
from lessons.launch import Job, output
from lessons.model import ExerciseStep, Limits
from lessons.result import CheckResult, Failure, Judgement, Verdict, WorkerError
from lessons.worker import wire

JUDGE_LIMITS = Limits(cpu=30, wall=60, memory=2048)
ROUNDS = 2
MAX_SOURCE = 1024 * 1024

Child = Callable[[Limits], AbstractContextManager[Job]]
"""Starts a child for one purpose and ends it afterwards."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the learner's program gave on the hidden inputs, unread, and what it printed."""

    gots: object
    blob: bytes
    printed: str


def check(exercise: ExerciseStep, source: str, child: Child, cancelled: Callable[[], bool]) -> Judgement:
    """Judge an answer. Raises `WorkerError` if it cannot be judged through no fault of the answer."""
    began = time.monotonic()
    try:
        judgement = _check(exercise, source, child, cancelled)
    except WorkerError:
        if not cancelled():
            raise
        judgement = _unjudged(exercise, "error", "Stopped by you.")
    return replace(judgement, seconds=round(time.monotonic() - began, 3))


def _check(exercise: ExerciseStep, source: str, child: Child, cancelled: Callable[[], bool]) -> Judgement:
    if not source.strip():
        return _unjudged(exercise, "failed", f"There is no code yet. {_define(exercise.defines)}")
    code = source.encode("utf-8", "surrogatepass")
    if len(code) > MAX_SOURCE:
        return _unjudged(exercise, "error", f"The program is longer than {MAX_SOURCE // 1024} KB.")
    seeds = [secrets.randbelow(2**31) for _ in range(ROUNDS)]
    with child(JUDGE_LIMITS) as judge:
        hidden = _hidden_inputs(judge, exercise, seeds)
        # It runs no program of the learner; what theirs leaves behind is not to be counted as its own.
        judge.settled()
        with child(exercise.limits) as job:
            try:
                answer = _run_answer(job, exercise, code, seeds, hidden)
            except TimeoutError:
                answer = _failed(exercise, endings.timed_out(job, exercise.limits.wall), output(job.out))
            except (wire.WireError, ValueError, KeyError, TypeError) as error:
                failure = endings.died(job, error, exercise.limits, cancelled())
                answer = _failed(exercise, failure, output(job.out))
        return answer if isinstance(answer, Judgement) else _decide(judge, exercise, answer)


def _run_answer(
    job: Job, exercise: ExerciseStep, code: bytes, seeds: list[int], hidden: wire.Frame
) -> _Answer | Judgement:
    """Run the learner's program, then hand it the hidden inputs. A judgement if it did not come that far."""
    deadline = time.monotonic() + exercise.limits.wall
    # Another seed than those of the hidden inputs: the program must not be able to make them before it has run.
    own = secrets.randbelow(2**31)
    request = {"op": "answer", "probe": exercise.probe, "seed": own, "defines": list(exercise.defines)}
    wire.send(job.talk, request, code)
    loaded = wire.receive(job.talk, deadline).header
    if loaded.get("error"):
        return _failed(exercise, failure_of(loaded["error"]), output(job.out))
    if loaded.get("missing"):
        names = tuple(str(name) for name in loaded["missing"])
        return _unjudged(exercise, "failed", _define(names), stdout=output(job.out))
    wire.send(job.talk, {"op": "contexts", "contexts": hidden.header["contexts"], "seeds": seeds}, hidden.blob)
    answered = wire.receive(job.talk, deadline)
    if answered.header.get("error"):
        return _failed(exercise, failure_of(answered.header["error"]), output(job.out))
    answer = answered.header["gots"], answered.blob
    job.end()
    return _Answer(*answer, output(job.out))


def _hidden_inputs(judge: Job, exercise: ExerciseStep, seeds: list[int]) -> wire.Frame:
    checks = [{"name": check.name, "test": check.test, "fail": check.fail} for check in exercise.checks]
    request = {"op": "judge", "seeds": seeds, "context": exercise.context, "probe": exercise.probe}
    try:
        wire.send(judge.talk, request | {"solution": exercise.solution, "checks": checks})
        return wire.receive(judge.talk, time.monotonic() + JUDGE_LIMITS.wall)
    except (wire.WireError, TimeoutError):
        raise _judge_failed(judge) from None


def _decide(judge: Job, exercise: ExerciseStep, answer: _Answer) -> Judgement:
    unreadable = "Your program was judged as not passed: its reply was unreadable."
    try:
        wire.send(judge.talk, {"op": "gots", "gots": answer.gots}, answer.blob)
        report = wire.receive(judge.talk, time.monotonic() + JUDGE_LIMITS.wall).header
        if report.get("error"):
            return _unjudged(exercise, "error", unreadable, stdout=answer.printed)
        checks = tuple(CheckResult(item["name"], item["passed"], item["message"]) for item in report["checks"])
    except (wire.Closed, TimeoutError, KeyError, TypeError):
        raise _judge_failed(judge) from None
    except wire.WireError:
        return _unjudged(exercise, "error", unreadable, stdout=answer.printed)
    wrong = [check for check in checks if not check.passed]
    if not wrong:
        return Judgement(exercise.exercise, "passed", "All checks pass.", checks=checks, stdout=answer.printed)
    message = f"{wrong[0].name}: {wrong[0].message}"
    return Judgement(exercise.exercise, "failed", message, checks=checks, stdout=answer.printed)


def _judge_failed(judge: Job) -> WorkerError:
    judge.end()
    lines = output(judge.err).strip().splitlines()
    return WorkerError(f"The judge of this exercise failed: {lines[-1] if lines else 'it ended without a word'}")


def _failed(exercise: ExerciseStep, failure: Failure, printed: str) -> Judgement:
    verdict: Verdict = "error" if failure.kind == "stopped" else failure.kind
    return _unjudged(exercise, verdict, failure.message, failure.line, printed)


def _unjudged(
    exercise: ExerciseStep, verdict: Verdict, message: str, line: int | None = None, stdout: str = ""
) -> Judgement:
    """The word on an answer that could not be looked at, so that no check passed."""
    checks = tuple(CheckResult(check.name, False) for check in exercise.checks)
    return Judgement(exercise.exercise, verdict, message, line, None, checks, stdout=stdout)


def _define(names: tuple[str, ...]) -> str:
    listed = " and ".join(f"`{name}`" for name in names)
    return f"Your code does not define {listed}. The task says what to write."
