"""The verb `explain`: how a number was computed, down to the inputs."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack, closing

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.format.lesson import Course, Lesson
from attn_tutor.lessons.play import step_document
from attn_tutor.lessons.render import cell_index, explanation_lines
from attn_tutor.lessons.render.source_text import NO_NAMES, names_of_steps
from attn_tutor.lessons.results import explanation_tree
from attn_tutor.lessons.results.code_unit import PROGRAM, CodeUnit
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import documents, own_program
from attn_tutor.tui.commands.course_lookup import find_lesson, no_running_step, read_course
from attn_tutor.tui.commands.open_session import open_session
from attn_tutor.tui.commands.output import CommandError, UsageError, print_error, print_json, print_lines
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/explain")

OWN = str(PROGRAM)


def run(options: argparse.Namespace) -> ExitCode:
    """Run the lesson up to the step, or the user's own program, and print the explanation."""
    index = _index(options.index)
    if options.depth is not None and options.depth < 1:
        raise UsageError(say("depth-too-small", "--depth must be 1 or more."))
    depth = options.depth if options.depth is not None or options.json else 2
    limited = not options.no_limits
    own = own_program.is_program(options.lesson)
    if own:
        program, step, steps = (
            own_program.read_program(options.lesson, options.arguments, limited=limited),
            OWN,
            NO_NAMES,
        )
    else:
        lesson, step = _lesson_that_shows(read_course(options), options.lesson, options.step, options.tensor)
        steps = names_of_steps(lesson, with_ids=True)
    name = options.tensor
    with ExitStack() as stack, open_session(limited=limited) as session:
        if own:
            run = stack.enter_context(closing(own_program.run_program(session, program)))
            name = own_program.whole_name(run, name)
            tensor = own_program.show(run, name)
        else:
            run = session.run(lesson, step)
            tensor = _shown_tensor(run, step, name)
        if tensor is None:
            return ExitCode.NOT_PASSED
        shape = tensor.shape
        if (why := cell_index.why_no_cell(name, shape, index)) is not None:
            raise UsageError(why)
        # A program reads JSON, so nothing is left out there.
        most = sys.maxsize if options.all or options.json else explanation_lines.MOST_OPERANDS
        choose = None if most == sys.maxsize else lambda item: explanation_lines.choose_operands(item, most).positions
        nodes = explanation_tree.MOST_TOLD if choose is not None else explanation_tree.MOST_NODES
        found = explanation_tree.grow(
            run, CodeUnit.step(step), name, index, depth, nodes, choose, once=not options.json
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
        print_lines(explanation_lines.lines(found, most, step, steps))
    return own_program.status(run.steps[0]) if own else ExitCode.OK


def _index(text: str) -> tuple[int, ...]:
    """Return the index that a text such as `1,0` or `[1, 0]` means. Raises `UsageError`."""
    try:
        return tuple(int(part) for part in text.strip("[]() ").split(",") if part.strip())
    except ValueError:
        raise UsageError(say("not-an-index", "'{text}' is not an index. Write it like 1,0.", text=text)) from None


def _shown_tensor(run: Run, step: str, name: str) -> Tensor | None:
    """Return a tensor that a step shows; None, after saying why, if the lesson has failed."""
    result = run.result(step) or run.steps[-1]
    if result.error is not None:
        print_error(step_document.failure(result.error))
        return None
    return next(item for item in result.tensors if item.name == name)


def _lesson_that_shows(course: Course, name: str, step: str, tensor: str) -> tuple[Lesson, str]:
    """Return a lesson that shows the tensor, and the step that does. Raises `UsageError`."""
    lesson = find_lesson(course, name)
    try:
        return own_program.with_shown_tensor(lesson, step, tensor), step
    except KeyError:
        running = (item for item in lesson.running if not item.is_exercise)
        raise UsageError(no_running_step(lesson, step, running)) from None
