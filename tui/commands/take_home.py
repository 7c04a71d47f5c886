"""What a learner takes home: what they read, wrote and saw, or one matrix, in a file that needs no tutor."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from attn_tutor.lessons.format.lesson import Course, Lesson
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.result import WHOLE, Tensor
from attn_tutor.lessons.takehome import home_files, learner_work, matrix_file
from attn_tutor.lessons.takehome.home_files import MODULE, NothingToTake
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import files, own_program
from attn_tutor.tui.commands.course_lookup import find_lesson, no_running_step, read_course
from attn_tutor.tui.commands.open_progress import open_to_read
from attn_tutor.tui.commands.open_session import open_session
from attn_tutor.tui.commands.output import CommandError, UsageError
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/take-home")


def write_work(kind: str, rest: Sequence[str], options: argparse.Namespace) -> ExitCode:
    """Write what is asked for, and say what is in it. Raises `CommandError`."""
    if len(rest) > 1:
        raise UsageError(say("one-file", "Name one file for it. '{extra}' is one too many.", extra=rest[1]))
    if kind == MODULE and options.all:
        raise UsageError(say("no-all", "The module has the code that you passed, and no more: --all is not for it."))
    course = _chosen(read_course(options), options.lesson)
    file = rest[0] if rest else home_files.file_name(kind, course)
    files.check_free(file, force=options.force)
    with closing(open_to_read(course)) as progress:
        work = learner_work.read_work(progress, course)
    try:
        with open_session() as session:
            taken = home_files.take(kind, session, course, work, whole=options.all, on_line=_say_what_runs)
    except NothingToTake as error:
        further = "" if kind == MODULE else " " + say("with-all", "With --all, the whole course is written.")
        raise CommandError(f"{error}{further}") from None
    files.write_new(file, taken.text, force=options.force)
    # What goes to standard output is the file, and nothing else.
    stream = sys.stderr if file == files.STANDARD_OUTPUT else sys.stdout
    for line in taken.about:
        print(line, file=stream)
    if file != files.STANDARD_OUTPUT:
        print(say("written", "Written: {file}", file=clean(file, keep="")), file=stream)
    return ExitCode.OK


def _chosen(course: Course, names: Sequence[str]) -> Course:
    """Return the course with the lessons that are asked for. Raises `UsageError`."""
    wanted = {find_lesson(course, name).id for name in names}
    lessons = tuple(lesson for lesson in course.lessons if not wanted or lesson.id in wanted)
    return course.model_copy(update={"lessons": lessons})


def _say_what_runs(text: str) -> None:
    """Say to somebody who waits at a terminal what is being done."""
    if sys.stderr.isatty():
        print(clean(text, keep=""), file=sys.stderr, flush=True)


DEFAULT = "matrix.csv"


def write_matrix(rest: Sequence[str], options: argparse.Namespace) -> ExitCode:
    """Write a tensor of a lesson as text, CSV or SVG, as the ending of the file says. Raises `CommandError`."""
    if len(rest) > 1:
        raise UsageError(say("one-file", "Name one file for it. '{extra}' is one too many.", extra=rest[1]))
    if len(options.lesson) != 1 or not options.step or not options.tensor or options.all:
        raise UsageError(say("which", "Say which matrix: export matrix FILE --lesson LESSON --step STEP --tensor NAME"))
    file = rest[0] if rest else DEFAULT
    writer = matrix_file.WRITERS.get(".txt" if file == files.STANDARD_OUTPUT else Path(file).suffix.lower())
    if writer is None:
        known = ", ".join(matrix_file.WRITERS)
        raise UsageError(
            say("ending", "{file} needs one of these endings: {known}", file=clean(file, keep=""), known=known)
        )
    files.check_free(file, force=options.force)
    files.write_new(file, writer(_tensor(read_course(options), options)), force=options.force)
    if file != files.STANDARD_OUTPUT:
        print(say("written", "Written: {file}", file=clean(file, keep="")), file=sys.stdout)
    return ExitCode.OK


def _tensor(course: Course, options: argparse.Namespace) -> Tensor:
    """Run the lesson up to the step, and return its tensor. Raises `CommandError`."""
    lesson, name = find_lesson(course, options.lesson[0]), options.tensor
    shows = _lesson_that_shows(lesson, options.step, name)
    with open_session() as session:
        run = session.run(shows, options.step)
        run.close()
    result = run.result(options.step)
    found = next((tensor for tensor in result.tensors if tensor.name == name), None) if result else None
    if found is None:
        error = next((each.error for each in run.steps if each.error), None)
        message = error.message if error else say("no-tensor", "There is no tensor '{name}'.", name=name)
        raise CommandError(message)
    if found.values is None:
        raise CommandError(
            say(
                "too-large",
                "'{name}' has {size} numbers, and at most {most} are written. Take a part of it, such as '{part}'.",
                name=name,
                size=found.size,
                most=WHOLE,
                part=f"{name}[:8]",
            )
        )
    return found


def _lesson_that_shows(lesson: Lesson, step: str, name: str) -> Lesson:
    try:
        return own_program.with_shown_tensor(lesson, step, name)
    except KeyError:
        raise UsageError(no_running_step(lesson, step, lesson.running)) from None
