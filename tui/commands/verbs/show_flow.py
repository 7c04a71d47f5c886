"""The verb `flow`: which tensors were computed from which, as a list, as JSON, or for Graphviz."""

from __future__ import annotations

import argparse
from contextlib import ExitStack, closing

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.format.lesson import Course, Lesson
from attn_tutor.lessons.play import step_document
from attn_tutor.lessons.render import flow_text
from attn_tutor.lessons.render.source_text import NO_NAMES, names_of_steps
from attn_tutor.lessons.results.code_unit import PROGRAM, CodeUnit
from attn_tutor.lessons.results.flow import Flow
from attn_tutor.lessons.results.tensor_questions import FlowQuestion
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import documents, own_program
from attn_tutor.tui.commands.course_lookup import find_lesson, no_running_step, read_course
from attn_tutor.tui.commands.open_session import open_session
from attn_tutor.tui.commands.output import CommandError, UsageError, print_error, print_json, print_lines
from attn_tutor.tui.render import linear_text
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/flow")

OWN = str(PROGRAM)


def run(options: argparse.Namespace) -> ExitCode:
    """Run the lesson up to the step, or the learner's program, and print its flow."""
    limited = not options.no_limits
    own = own_program.is_program(options.lesson)
    if own:
        program, step, names = (
            own_program.read_program(options.lesson, options.arguments, limited=limited),
            OWN,
            NO_NAMES,
        )
    else:
        lesson, step = _what_runs(read_course(options), options.lesson, options.step)
        names = names_of_steps(lesson, with_ids=True)
    with ExitStack() as stack, open_session(limited=limited) as session:
        if own:
            run = stack.enter_context(closing(own_program.run_program(session, program)))
        else:
            run = session.run(lesson, step)
            result = run.result(step) or run.steps[-1]
            if result.error is not None:
                print_error(step_document.failure(result.error))
                return ExitCode.NOT_PASSED
        flow = _opened(run, CodeUnit.step(step), options.open or [])
    if not flow.boxes:
        raise CommandError(say("no-flow", "There is no flow to show, because this code computes nothing with tensors."))
    if options.json:
        print_json(documents.flow(flow))
    else:
        print_lines(flow_text.as_dot(flow) if options.dot else flow_text.lines(flow, linear_text.WIDTH, step, names))
    return own_program.status(run.steps[0]) if own else ExitCode.OK


def _opened(lesson_run: Run, unit: CodeUnit, names: list[str]) -> Flow:
    """Return the flow with the named boxes open, one after the other: a box may be inside of one before it."""
    flow = _ask(lesson_run, FlowQuestion((), (), unit))
    for name in names:
        closed = flow_text.closed(flow)
        if name not in closed:
            raise UsageError(flow_text.why_not_opened(flow, name))
        opened = (*(box.id for box in flow.opened), closed[name])
        flow = _ask(lesson_run, FlowQuestion(opened, (), unit))
    return flow


def _ask(lesson_run: Run, question: FlowQuestion) -> Flow:
    flow = lesson_run.ask(question)
    if not isinstance(flow, Flow):
        raise CommandError(
            flow.reason
            if flow is not None
            else say("worker-ended", "The process that runs PyTorch ended before it had answered. Please try again.")
        )
    return flow


def _what_runs(course: Course, name: str, step: str) -> tuple[Lesson, str]:
    """Return the lesson and the step to run it up to. Raises `UsageError`."""
    lesson = find_lesson(course, name)
    if step not in {item.id for item in lesson.filled}:
        raise UsageError(no_running_step(lesson, step, lesson.filled))
    return lesson, step
