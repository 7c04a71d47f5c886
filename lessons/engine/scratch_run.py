"""Scratch runs of an answer: nothing is judged, and every matrix that the answer computes can be inspected.

The answer, followed by the exercise's own call of it, runs after the lesson's earlier steps, on the lesson's values.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from attn_tutor.lessons.engine.children import CodeRequest, gone
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExerciseStep, Lesson, RunStep
from attn_tutor.lessons.reading import mistake_edits
from attn_tutor.lessons.reading.repairs import gives_away
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.messages import RunScratch

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
    code = RunScratch(CodeUnit.step(STEP), code_of(exercise, source))
    request = CodeRequest(code, with_code, STEP, exercise.limits.wall)
    reply = session.run_code(held, request) if held.alive else None
    failed = next((step.error for step in held.steps if step.error), None) or gone()
    result = _without_answer(reply[0], exercise, source) if reply else StepResult(STEP, error=failed)
    held.steps.append(_after_gap(result, source) if reply else result)
    return with_code, held


def _without_answer(result: StepResult, exercise: ExerciseStep, source: str) -> StepResult:
    """Return a result whose error does not suggest what the exercise asks for."""
    error = result.error
    if error is None or not error.suggestions:
        return result
    models = mistake_edits.right_answers(exercise)
    spoils = any(gives_away(item.code, source, models) for item in error.suggestions)
    return replace(result, error=replace(error, message=error.untried)) if spoils else result
