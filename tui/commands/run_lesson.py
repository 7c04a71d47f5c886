"""The verb `run`: a lesson as text or as JSON, with changes if the learner wants them."""

from __future__ import annotations

import argparse

from lessons.format.lesson import Lesson
from lessons.what_if import changes
from lessons.what_if.changes import UNCHANGED, Changes
from tui.commands import documents
from tui.commands.course_lookup import find_lesson, read_course
from tui.commands.errors import UsageError
from tui.commands.open_session import open_session
from tui.commands.output import print_json, print_lines
from tui.render import linear_text
from tui.tty.exit_codes import ExitCode


def run(options: argparse.Namespace) -> ExitCode:
    """Run the lesson and print it."""
    lesson = find_lesson(read_course(), options.lesson)
    if options.step is not None and options.step not in {step.id for step in lesson.steps}:
        known = ", ".join(step.id for step in lesson.steps)
        raise UsageError(f"lesson '{lesson.id}' has no step '{options.step}'. Its steps: {known}")
    try:
        wanted = changes.parse(lesson, options.set, options.words, options.cell)
    except changes.ChangeError as error:
        raise UsageError(str(error)) from None
    return print_lesson(lesson, options.step, wanted, as_json=options.json)


def print_lesson(
    lesson: Lesson, only: str | None = None, wanted: Changes = UNCHANGED, *, as_json: bool = False
) -> ExitCode:
    """Run a lesson with these changes, print all or one step of it, and return whether it ran without errors.

    Raises `UsageError`, before anything is printed, for a cell that cannot be changed: only the run knows the shapes.
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
