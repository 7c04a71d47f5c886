"""A scratch run of an answer: nothing is judged, and every matrix that it makes can be looked at.

The answer and the exercise's own call of it run where the lesson has come to, on the lesson's values.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from lessons.engine import replies
from lessons.engine.child_code import GONE, drawn_as, run_in_child
from lessons.engine.launchers import ChildProcess, output
from lessons.engine.run import Run
from lessons.engine.session import Session
from lessons.format import axis_labels
from lessons.format.lesson import ExerciseStep, Lesson, RunStep
from lessons.results import line_shapes
from lessons.results.result import Failure, StepResult
from lessons.worker import wire

STEP = "your-code"
"""The id of the step whose code is the learner's."""


def code_of(exercise: ExerciseStep, source: str) -> str:
    """What is run: the answer, then the call of it."""
    call = exercise.attempt.strip("\n")
    return f"{source.rstrip()}\n\n\n# tried on the lesson's own numbers\n{call}\n" if call else source


def lesson_with(lesson: Lesson, exercise: ExerciseStep, source: str) -> Lesson:
    """The lesson up to the exercise, then a step with what is run.

    The step is not checked: the learner's code need not be Python.
    """
    step = RunStep.model_construct(
        kind="run", id=STEP, title="Your code", prose="Your code, and what it makes.", code=code_of(exercise, source)
    )
    steps = (*lesson.steps[: lesson.index(exercise.id)], step)
    return lesson.model_copy(update={"steps": steps, "knobs": (), "limits": exercise.limits})


def run(session: Session, lesson: Lesson, exercise: ExerciseStep, source: str) -> tuple[Lesson, Run]:
    """Run an answer. Its result is that of the step `STEP`, in the lesson that is returned.

    Raises `WorkerError` if nothing can be run.
    """
    with_code = lesson_with(lesson, exercise, source)
    before = with_code.model_copy(update={"steps": with_code.steps[:-1]})
    held = session.run(before)
    answer = session.enter(held, partial(_ask, with_code, exercise.limits.wall)) if held.alive else None
    failed = next((step.error for step in held.steps if step.error), GONE)
    held.steps.append(answer[0] if answer else StepResult(STEP, error=failed))
    return with_code, held


def _ask(lesson: Lesson, wall: float, job: ChildProcess, cancelled: Callable[[], bool]) -> tuple[StepResult, bool]:
    """Have the child run the code. Returns what became of it, and whether the child survived it."""
    began = time.monotonic()
    step = lesson.step(STEP)
    assert isinstance(step, RunStep)

    def read(reply: wire.Frame) -> StepResult:
        return _result(lesson, reply, job, time.monotonic() - began)

    answer = run_in_child(
        {"op": "attempt", "place": STEP, "code": step.code}, read, wall, lesson.limits, job, cancelled
    )
    if not isinstance(answer, Failure):
        return answer, True
    return StepResult(STEP, stdout=output(job.out), error=answer, seconds=time.monotonic() - began), False


def _result(lesson: Lesson, reply: wire.Frame, job: ChildProcess, seconds: float) -> StepResult:
    if reply.op != "attempt":
        raise ValueError("another answer")
    header = reply.header["attempt"]
    return StepResult(
        STEP,
        stdout=output(job.out, 0, int(header["printed"])),
        error=replies.failure_of(header["error"]) if header["error"] else None,
        tensors=tuple(
            replies.tensor_of(lesson, drawn_as(lesson, STEP, entry), entry, reply.blob) for entry in header["tensors"]
        ),
        shapes=line_shapes.of_worker(header["shapes"], partial(axis_labels.axes_of, lesson, STEP)),
        seconds=seconds,
    )
