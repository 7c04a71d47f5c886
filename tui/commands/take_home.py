"""What a learner takes home: what they read, wrote and saw, in a file that needs no tutor."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing

from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.takehome import home_files, learner_work
from attn_tutor.lessons.takehome.home_files import MODULE, NothingToTake
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import new_file
from attn_tutor.tui.commands.course_lookup import find_lesson, read_course
from attn_tutor.tui.commands.errors import CommandError, UsageError
from attn_tutor.tui.commands.open_progress import open_to_read
from attn_tutor.tui.commands.open_session import open_session
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/take-home")


def run(kind: str, rest: Sequence[str], options: argparse.Namespace) -> ExitCode:
    """Write what is asked for, and say what is in it. Raises `CommandError`."""
    if len(rest) > 1:
        raise UsageError(say("one-file", "Name one file for it. '{extra}' is one too many.", extra=rest[1]))
    if kind == MODULE and options.all:
        raise UsageError(say("no-all", "The module has the code that you passed, and no more: --all is not for it."))
    course = _chosen(read_course(options), options.lesson)
    file = rest[0] if rest else home_files.file_name(kind, course)
    new_file.check_free(file, force=options.force)
    with closing(open_to_read(course)) as progress:
        work = learner_work.read(progress, course)
    try:
        with open_session() as session:
            taken = home_files.take(kind, session, course, work, whole=options.all, on_line=_say_what_runs)
    except NothingToTake as error:
        further = "" if kind == MODULE else " " + say("with-all", "With --all, the whole course is written.")
        raise CommandError(f"{error}{further}") from None
    new_file.write(file, taken.text, force=options.force)
    # What goes to standard output is the file, and nothing else.
    stream = sys.stderr if file == new_file.STANDARD_OUTPUT else sys.stdout
    for line in taken.about:
        print(line, file=stream)
    if file != new_file.STANDARD_OUTPUT:
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
