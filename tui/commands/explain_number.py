"""The verb `explain`: how a number was computed, down to the inputs."""

from __future__ import annotations

import argparse
import sys

from lessons.engine import explanation_tree
from lessons.format.lesson import Lesson, RunningStep
from lessons.render import cell_index, explanation_lines, operand_choice
from lessons.render.source_text import names_of_steps
from lessons.results.code_unit import CodeUnit
from lessons.texts.wording import Wording
from tui.commands import documents, own_program
from tui.commands.course_lookup import find_lesson, no_running_step, read_course
from tui.commands.errors import CommandError, UsageError
from tui.commands.open_session import open_session
from tui.commands.output import print_error, print_json, print_lines
from tui.render import linear_text
from tui.tty.exit_codes import ExitCode

say = Wording("command/explain")


def run(options: argparse.Namespace) -> ExitCode:
    """Run the lesson up to the step and print the explanation."""
    index = _index(options.index)
    if options.depth is not None and options.depth < 1:
        raise UsageError(say("depth-too-small", "--depth must be 1 or more."))
    lesson, step = _lesson_that_shows(options.lesson, options.step, options.tensor)
    depth = options.depth if options.depth is not None or options.json else 2
    with open_session() as session:
        lesson_run = session.run(lesson, step)
        result = lesson_run.result(step) or lesson_run.steps[-1]
        if result.error is not None:
            print_error(linear_text.failure(result.error))
            return ExitCode.NOT_PASSED
        shape = next(item.shape for item in result.tensors if item.name == options.tensor)
        if (why := cell_index.why_no_cell(options.tensor, shape, index)) is not None:
            raise UsageError(why)
        # A program reads JSON, so nothing is left out there.
        most = sys.maxsize if options.all or options.json else operand_choice.MOST
        choose = None if most == sys.maxsize else lambda item: operand_choice.choose(item, most).positions
        nodes = explanation_tree.MOST_TOLD if choose is not None else explanation_tree.MOST_NODES
        found = explanation_tree.grow(
            lesson_run, CodeUnit.step(step), options.tensor, index, depth, nodes, choose, once=not options.json
        )
    if not isinstance(found, explanation_tree.Node):
        raise CommandError(
            found
            or say(
                "worker-ended", "The process that runs PyTorch ended before everything was explained. Please try again."
            )
        )
    if options.json:
        print_json(documents.explanation(found))
    else:
        print_lines(explanation_lines.lines(found, most, step, names_of_steps(lesson, with_ids=True)))
    return ExitCode.OK


def _index(text: str) -> tuple[int, ...]:
    """Return the index that a text such as `1,0` or `[1, 0]` means. Raises `UsageError`."""
    try:
        return tuple(int(part) for part in text.strip("[]() ").split(",") if part.strip())
    except ValueError:
        raise UsageError(say("not-an-index", "'{text}' is not an index. Write it like 1,0.", text=text)) from None


def _lesson_that_shows(name: str, step: str, tensor: str) -> tuple[Lesson, str]:
    """Return a lesson that shows the tensor, and the step that does. Raises `UsageError`."""
    try:
        if own_program.is_program(name):
            program = own_program.read_program(name)
            return own_program.with_shown_tensor(program, own_program.STEP, tensor), own_program.STEP
        lesson = find_lesson(read_course(), name)
        return own_program.with_shown_tensor(lesson, step, tensor), step
    except KeyError:
        running = (item for item in lesson.steps if isinstance(item, RunningStep) and not item.is_exercise)
        raise UsageError(no_running_step(lesson, step, running)) from None
