"""The verb `record`: write the results of a run beside each lesson of a course, to be shown until live ones arrive."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from attn_tutor.lessons.authoring import recordings
from attn_tutor.lessons.courses import course_content
from attn_tutor.lessons.courses.course_content import RefusedCourse
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.reading import recorded_outputs
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.loader import load_course
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.open_session import open_session
from attn_tutor.tui.commands.output import CommandError, UsageError, print_error, print_lines, print_now
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/record")


def run(options: argparse.Namespace) -> ExitCode:
    """Run the lessons of a folder and write what came out beside each. Raises `CommandError`."""
    folder = Path(options.folder)
    lessons = _lessons(folder, options.lesson)
    with open_session() as session:
        for lesson in lessons:
            if not _record(session, lesson, train=options.train):
                return ExitCode.NOT_PASSED
    try:
        # What cannot be shared should be known before it is.
        course_content.files_of(folder)
    except RefusedCourse as error:
        raise CommandError(
            say("not-shareable", "The recordings are written, but the course cannot be shared. {why}", why=error)
        ) from None
    return ExitCode.OK


def _lessons(folder: Path, ids: Sequence[str]) -> list[Lesson]:
    """Return the lessons of a folder, or those of these ids. Raises `CommandError`."""
    try:
        lessons = load_course(folder).lessons
    except LessonError as error:
        raise CommandError(
            say("unreadable", "Nothing was recorded, because the lessons cannot be read:\n{findings}", findings=error)
        ) from None
    known = [lesson.id for lesson in lessons]
    if unknown := [name for name in ids if name not in known]:
        raise UsageError(
            say(
                "no-lesson",
                "There is no lesson '{name}'. The lessons are: {known}",
                name=clean(unknown[0], keep=""),
                known=", ".join(known),
            )
        )
    return [lesson for lesson in lessons if not ids or lesson.id in ids]


def _record(session: Session, lesson: Lesson, *, train: bool) -> bool:
    """Write the results of a lesson; return whether all of it ran. Raises `CommandError`."""
    try:
        for line in recordings.train(session, lesson) if train else ():
            print_now([line])
        with closing(session.run(lesson)) as results:
            steps = results.steps
        if failed := [step for step in steps if step.error is not None]:
            for step in failed:
                print_error(f"{lesson.id}/{step.id}: {step.error.message if step.error else ''}")
            print_error(say("failed", "Lesson '{lesson}' was not recorded, because it does not run.", lesson=lesson.id))
            return False
        recordings.save(lesson, steps)
    except RuntimeError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(
            say("not-written", "The results cannot be written: {why}.", why=error.strerror or error)
        ) from None
    file = Path(lesson.folder) / recorded_outputs.FILE
    if set(recorded_outputs.load(lesson)) != {step.id for step in steps}:
        raise CommandError(say("unreadable-again", "{file} cannot be read again.", file=file))
    print_lines(
        [
            say.count(
                "recorded",
                len(steps),
                "{lesson}: {count} step recorded",
                "{lesson}: {count} steps recorded",
                lesson=lesson.id,
            )
        ]
    )
    return True
