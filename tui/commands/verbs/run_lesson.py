"""The verb `run`: a lesson as text or as JSON, with changes if the learner wants them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace

from attn_tutor.lessons.format.lesson import SETUP, Lesson
from attn_tutor.lessons.reading import recorded_outputs
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if import cells, changes, refused_cells
from attn_tutor.lessons.what_if.cells import CellChange
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes
from attn_tutor.tui.commands import documents
from attn_tutor.tui.commands.course_lookup import find_lesson, read_course
from attn_tutor.tui.commands.open_session import open_session
from attn_tutor.tui.commands.output import UsageError, print_json, print_lines
from attn_tutor.tui.render import linear_text
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/run")


def run(options: argparse.Namespace) -> ExitCode:
    """Run the lesson and print it."""
    lesson = find_lesson(read_course(options), options.lesson)
    if options.step is not None and options.step not in {step.id for step in lesson.steps}:
        known = ", ".join(step.id for step in lesson.steps)
        raise UsageError(
            say(
                "no-step",
                "Lesson '{lesson}' has no step '{step}'. Its steps are: {known}",
                lesson=lesson.id,
                step=options.step,
                known=known,
            )
        )
    try:
        wanted = changes.parse(lesson, options.set, options.words, options.cell)
    except changes.ChangeError as error:
        raise UsageError(str(error)) from None
    if missing := list(_missing_cells(lesson, wanted)):
        raise UsageError(" ".join(missing))
    return print_lesson(lesson, options.step, wanted, as_json=options.json)


def print_lesson(
    lesson: Lesson, only: str | None = None, wanted: Changes = UNCHANGED, *, as_json: bool = False
) -> ExitCode:
    """Run a lesson with these changes, print all or one step of it, and return whether it ran without errors.

    Raises `UsageError`, before anything is printed, for a cell that cannot be changed, as far as only the run knows.
    """
    with open_session() as session:
        lesson_run = session.run(lesson, only, wanted)
        lesson_run.close()
    refusals = [note for result in lesson_run.steps for note in result.notes]
    if refusals:
        raise UsageError(" ".join(refusals))
    results = {result.id: result for result in lesson_run.steps}
    if as_json:
        print_json(documents.lesson(lesson, results, only, wanted))
    else:
        if wanted:
            print_lines(linear_text.changes(changes.describe(lesson, wanted)))
        print_lines(linear_text.lesson(changes.apply(lesson, wanted), results, only))
    return ExitCode.NOT_PASSED if any(result.error for result in lesson_run.steps) else ExitCode.OK


def _missing_cells(lesson: Lesson, wanted: Changes) -> Iterator[str]:
    """Yield a sentence for each cell that does not exist, as far as that is known before the lesson runs.

    The shapes come from the recorded results, so nothing is known of a lesson whose knobs are set.
    """
    if wanted.knobs or not wanted.cells:
        return
    recorded = recorded_outputs.load(lesson)
    for cell in wanted.cells:
        shape = _recorded_shape(lesson, cell, recorded)
        if shape is not None and (why := refused_cells.why_missing(cell.name, cell.index, shape)) is not None:
            yield refused_cells.not_made(cell.name, cell.index, cell.value, why)


def _recorded_shape(lesson: Lesson, cell: CellChange, recorded: Mapping[str, StepResult]) -> tuple[int, ...] | None:
    """Return the shape of a cell's tensor, if a step shows it as the statement before the cell has left it."""
    made_by = cells.statement_before(lesson, cell)
    for step in lesson.steps[0 if made_by.part == SETUP else lesson.index(made_by.part) :]:
        if step.id not in recorded:
            continue
        for shown, tensor in zip(step.tensors, recorded[step.id].tensors, strict=False):
            here = replace(cell, step=step.id)
            if cells.variable(shown) == cell.name and cells.statement_before(lesson, here) == made_by:
                return tensor.shape
    return None
