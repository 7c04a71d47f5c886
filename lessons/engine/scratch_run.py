"""Scratch runs of an answer: nothing is judged, and every matrix that the answer computes can be inspected.

The answer, followed by the exercise's own call of it, runs after the lesson's earlier steps, on the lesson's values.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import partial

from attn_tutor.lessons.engine.children import CodeRequest, gone, tensors_of
from attn_tutor.lessons.engine.launching.launchers import ChildProcess, output
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format import axis_labels
from attn_tutor.lessons.format.lesson import ExerciseStep, Lesson, RunStep
from attn_tutor.lessons.reading import mistake_edits
from attn_tutor.lessons.reading.repairs import gives_away
from attn_tutor.lessons.results import line_shapes
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import Failure, StepResult
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.messages import RunScratch, ScratchReport

say = Wording("engine/scratch-run")

STEP = "your-code"
"""The id of the step that holds the learner's code."""


def code_of(exercise: ExerciseStep, source: str) -> str:
    """Return the code to run: the answer, then the exercise's call of it."""
    call = exercise.attempt.strip("\n")
    if not call:
        return source
    comment = "# " + " ".join(say("tried", "tried on the lesson's own numbers").split())
    return "\n".join((source.rstrip(), "", "", comment, call, ""))


def lines_before_call(source: str) -> int:
    """Return how many lines stand before the exercise's own call in `code_of` this source."""
    return len(source.rstrip().split("\n")) + 3


def lesson_with(lesson: Lesson, exercise: ExerciseStep, source: str) -> Lesson:
    """Return the lesson up to the exercise, followed by a step with the answer and its call.

    The step is not validated, since the learner's code need not be Python.
    """
    step = RunStep.model_construct(
        kind="run",
        id=STEP,
        title=say("title", "Your code"),
        prose=_prose(source),
        code=code_of(exercise, source),
    )
    steps = (*lesson.steps[: lesson.index(exercise.id)], step)
    return lesson.model_copy(update={"steps": steps, "knobs": (), "limits": exercise.limits})


def _prose(source: str) -> str:
    line = open_gap(source)
    if line is None:
        return say("prose", "Your code, and what it makes.")
    return say("prose-gap", "Your code, and what it makes. The gap in line {line} is still open.", line=line)


def open_gap(source: str) -> int | None:
    """Return the line of the first `...` that stands for code that is still to be written; None if there is none.

    The dots of `x[..., 0]` and of types are code.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    gaps: list[int] = []
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Constant) and node.value is ...:
            gaps.append(node.lineno)
        if isinstance(node, ast.Subscript):
            nodes.append(node.value)
        else:
            nodes.extend(ast.iter_child_nodes(node))
    return min(gaps, default=None)


def _comes_of_gap(symptom: str, source: str, line: int) -> bool:
    """Tell whether an error, in the words of Python, may come of the gap in this line.

    The value of `...` is an ellipsis, and an error about it says so. A gap that is a whole statement may lack anything.
    """
    return "ellipsis" in symptom.lower() or source.split("\n")[line - 1].strip() == "..."


def _after_gap(result: StepResult, source: str) -> StepResult:
    """Return a result that blames an open gap, if there is one, for what went wrong where it was used."""
    error = result.error
    line = open_gap(source) if error is not None and error.kind == "error" else None
    if error is None or line is None:
        return result
    symptom = error.symptom or error.message
    if not _comes_of_gap(symptom, source, line):
        return result
    message = say("open-gap", "The gap is still open. Write code in place of the dots. ({symptom})", symptom=symptom)
    return replace(result, error=replace(error, message=message, line=line, names_line=False))


def run(session: Session, lesson: Lesson, exercise: ExerciseStep, source: str) -> tuple[Lesson, Run]:
    """Run an answer. Returns a lesson in which it is the step `STEP`, and the run of that lesson.

    Raises `WorkerError` if the worker cannot run anything.
    """
    with_code = lesson_with(lesson, exercise, source)
    before = with_code.model_copy(update={"steps": with_code.steps[:-1]})
    held = session.run(before)
    reply = session.run_code(held, request(with_code, exercise, source)) if held.alive else None
    failed = next((step.error for step in held.steps if step.error), None) or gone()
    held.steps.append(_after_gap(reply[0], source) if reply else StepResult(STEP, error=failed))
    return with_code, held


def _without_answer(error: Failure, exercise: ExerciseStep, source: str) -> Failure:
    """Return an error without a suggestion that the exercise asks for."""
    models = mistake_edits.right_answers(exercise)
    spoils = any(gives_away(item.code, source, models) for item in error.suggestions)
    return replace(error, message=error.untried) if spoils else error


def request(lesson: Lesson, exercise: ExerciseStep, source: str) -> CodeRequest[ScratchReport, StepResult]:
    """Build the request to run the code of the step `STEP`."""
    step = lesson.step(STEP)
    assert isinstance(step, RunStep)

    def read(report: ScratchReport, job: ChildProcess, seconds: float) -> StepResult:
        return StepResult(
            STEP,
            stdout=output(job.out, 0, report.printed),
            error=report.error and _without_answer(report.error, exercise, source),
            tensors=tensors_of(lesson, STEP, report.tensors, report.blob),
            shapes=line_shapes.of_worker(report.shapes, partial(axis_labels.axes_of, lesson, STEP)),
            seconds=seconds,
        )

    def failed(failure: Failure, job: ChildProcess, seconds: float) -> StepResult:
        return StepResult(STEP, stdout=output(job.out), error=failure, seconds=seconds)

    return CodeRequest(
        RunScratch(CodeUnit.step(STEP), step.code), ScratchReport, exercise.limits.wall, lesson.limits, read, failed
    )
