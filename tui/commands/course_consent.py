"""The question that is asked once about a course of somebody else: may its code run? Its code is shown in a pager."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable

from attn_tutor.lessons.courses import consent, course_code
from attn_tutor.lessons.courses.course_content import RefusedCourse
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.reading import kept_course
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.folders import CourseFolder
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.output import CommandError, NotAllowed, print_error, print_lines, print_now
from attn_tutor.tui.render import course_text

USUAL_PAGER = "less"


def show_in_pager(lines: Iterable[str]) -> bool:
    """Show lines in the learner's pager; return False, with nothing shown, where nobody reads or there is none."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        command = shlex.split(os.environ.get("PAGER") or USUAL_PAGER)
        # In its secure mode, less starts no other programs.
        environ = {"LESS": "F", **os.environ, "LESSSECURE": "1"}
        text = clean("\n".join(lines)).encode(sys.stdout.encoding or "utf-8", "backslashreplace")
        return subprocess.run(command, input=text, env=environ, check=False).returncode == 0
    except (OSError, ValueError):
        return False


say = Wording("command/course-consent")

YES, SHOW = ("y", "yes"), ("s", "show")


def ensure_allowed(course: CourseFolder) -> None:
    """Ask whether a course may run that nobody has allowed to, as its files are now.

    Raises `NotAllowed` if it may not, and `CommandError` if nobody can be asked.
    """
    try:
        if consent.is_allowed(course):
            return
        changed = consent.was_allowed(course)
        # The hash is of what is shown, and not of what somebody may write meanwhile.
        digest = consent.digest_of(course)
        loaded = load_as(course)
        if not can_ask():
            raise CommandError(_not_allowed(course, changed=changed))
        why = (
            say("changed", "The course '{id}' has changed since you allowed it to run.", id=course.id)
            if changed
            else say("new", "The course '{id}' was not opened here before.", id=course.id)
        )
        print_lines([why, "", *what_runs_in(loaded, digest), ""])
        if not ask(say("may-run", "May it run?"), lambda: show_code(loaded)):
            raise NotAllowed(say("refused", "The course '{id}' was not opened.", id=course.id))
        remember(course, digest)
    except (RefusedCourse, LessonError) as error:
        raise CommandError(
            say("unreadable", "The course '{id}' cannot be opened. {reason}", id=course.id, reason=error)
        ) from None


def load_as(found: CourseFolder) -> Course:
    """Read a course that has to have the id that it was found by. Raises `RefusedCourse` and `LessonError`."""
    course = kept_course.load_course(found)
    says = course.description.id if course.description is not None else ""
    if says != found.id:
        raise RefusedCourse(say("other-id", "Its course.yaml calls it '{other}'.", other=says))
    return course


def what_runs_in(course: Course, digest: str) -> Iterable[str]:
    """Yield what a course says about itself, and what of it runs."""
    width = shutil.get_terminal_size().columns - 1
    if course.description is not None:
        yield from course_text.about(course.description, width)
        yield ""
    yield from course_text.runs(course_code.what_runs(course), digest, width)


def remember(course: CourseFolder, digest: str) -> None:
    """Remember that a course may run. If that cannot be kept, say so: it is asked again the next time."""
    if not consent.allow(course, digest):
        print_error(say("not-kept", "That cannot be remembered, because the folder for progress cannot be written to."))


def can_ask() -> bool:
    """Return whether somebody can be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def show_code(course: Course) -> None:
    """Print all code of a course, in the learner's pager if somebody sits at a terminal."""
    lines = list(course_text.code(course_code.pieces_of(course)))
    if not show_in_pager(lines):
        print_lines(lines)


def ask(question: str, show: Callable[[], object]) -> bool:
    """Ask on the terminal, where only a clear yes is one; `show` prints the code, then it is asked again."""
    while True:
        print_now([f"{question} {say('choices-and-code', '[y/N, s shows the code]')}"])
        answer = sys.stdin.readline().strip().casefold()
        if answer not in (*SHOW, say("show", "s").casefold()):
            return answer in (*YES, say("yes", "y").casefold())
        show()


def _not_allowed(course: CourseFolder, *, changed: bool) -> str:
    if changed:
        return say(
            "changed-unasked",
            "The course '{id}' has changed since you allowed it to run. 'attn-tutor courses verify {id}' shows what "
            "runs and asks; with --yes, it allows it.",
            id=course.id,
        )
    return say(
        "new-unasked",
        "The course '{id}' is not allowed to run yet. 'attn-tutor courses verify {id}' shows what runs and asks; with "
        "--yes, it allows it.",
        id=course.id,
    )
