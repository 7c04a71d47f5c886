"""What a learner takes home: what they read, wrote and saw, in a file that needs no tutor."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing

from lessons.format.lesson import Course, Lesson
from lessons.results.clean_text import clean
from lessons.takehome import course_document, learner_work, module_file, passing_answers
from lessons.takehome.formats import FORMATS, Format
from lessons.takehome.module_file import ModuleFile
from lessons.takehome.passing_answers import PassingAnswer
from lessons.takehome.taken_document import Document
from lessons.texts.wording import Wording
from tui.commands import new_file
from tui.commands.course_lookup import find_lesson, read_course
from tui.commands.errors import CommandError, UsageError
from tui.commands.open_progress import open_progress
from tui.commands.open_session import open_session
from tui.tty.exit_codes import ExitCode

say = Wording("command/take-home")

MODULE = "module"
FILES = {MODULE: "my_attention.py", **{name: each.file for name, each in FORMATS.items()}}
"""The file in the current folder that is written if none is named."""


def run(kind: str, rest: Sequence[str], options: argparse.Namespace) -> ExitCode:
    """Write what is asked for, and say what is in it. Raises `CommandError`."""
    if len(rest) > 1:
        raise UsageError(say("one-file", "Name one file for it. '{extra}' is one too many.", extra=rest[1]))
    if kind == MODULE and options.all:
        raise UsageError(say("no-all", "The module has the code that you passed, and no more: --all is not for it."))
    file = rest[0] if rest else FILES[kind]
    new_file.check_free(file, force=options.force)
    course = _chosen(read_course(options), options.lesson)
    text, lines = _module(course) if kind == MODULE else _document(course, FORMATS[kind], whole=options.all)
    new_file.write(file, text, force=options.force)
    # What goes to standard output is the file, and nothing else.
    stream = sys.stderr if file == new_file.STANDARD_OUTPUT else sys.stdout
    for line in lines:
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


# Documents -----------------------------------------------------------------------------------------------------------


def _document(course: Course, chosen: Format, *, whole: bool) -> tuple[str, Iterator[str]]:
    """Return a document of what the learner read, or of the whole course, and what is said of it.

    Raises `CommandError`.
    """
    with closing(open_progress(course)) as progress:
        work = learner_work.read(progress, course)
    if not whole and not any(course_document.steps_read(lesson, work) for lesson in course.lessons):
        raise CommandError(
            say("nothing-read", "You have not read any of it yet. With --all, the whole course is written.")
        )

    def on_lesson(lesson: Lesson) -> None:
        _say_what_runs(say("running", "Running lesson {number}: {title}", number=lesson.number, title=lesson.title))

    with open_session() as session:
        document = course_document.build(
            session, course, work, whole=whole, explain=chosen.explains, on_lesson=on_lesson
        )
    return chosen.write(document), _about_document(document)


def _about_document(document: Document) -> Iterator[str]:
    """Yield what is in a document."""
    steps = sum(len(chapter.read_sections) for chapter in document.chapters)
    lessons = len(document.chapters)
    yield say("lessons-and-steps", "Lessons in it: {lessons}. Steps: {steps}.", lessons=lessons, steps=steps)


# The module ----------------------------------------------------------------------------------------------------------


def _module(course: Course) -> tuple[str, Iterator[str]]:
    """Return the module of the learner's passing answers, and what is said of it. Raises `CommandError`."""
    with closing(open_progress(course)) as progress:
        answers = list(passing_answers.find(course, progress.last_passed()))
    if not answers:
        raise CommandError(
            say("nothing-passed", "You have not passed an exercise in code yet, so there is nothing to write.")
        )

    def on_judged(answer: PassingAnswer) -> None:
        _say_what_runs(say("judged", "Judged as it stands in the file: {id}", id=answer.id))

    with open_session() as session:
        built = module_file.build(session, answers, on_judged)
    return built.text, _about_module(built)


def _about_module(built: ModuleFile) -> Iterator[str]:
    """Yield what is in a module, and what is not."""
    count = len(built.answers)
    yield say.count(
        "pieces",
        count,
        "{count} answer of yours is in it, and passes its exercise as it stands there.",
        "{count} answers of yours are in it, and each passes its exercise as it stands there.",
    )
    yield say.count(
        "checked",
        len(built.checked),
        "Its own check compares {count} with the course's code: the numbers are the same.",
        "Its own check compares {count} with the course's code: all numbers are the same.",
    )
    unchecked = [answer.id for answer in built.answers if answer.id not in built.checked]
    if unchecked:
        yield say(
            "unchecked",
            "The check leaves these out, which compute something else there: {names}",
            names=", ".join(unchecked),
        )
    for each in built.left_out:
        yield say("left-out", "Left out: {name}. {why}", name=each.answer.id, why=each.why)
