"""The files that a learner takes home, as texts, in each format, with what is said about each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course, Lesson
from attn_tutor.lessons.results.clean_text import clean_code
from attn_tutor.lessons.takehome import (
    course_document,
    html_page,
    learner_work,
    markdown_file,
    module_file,
    notebook_file,
)
from attn_tutor.lessons.takehome.learner_work import LearnerWork, PassingAnswer
from attn_tutor.lessons.takehome.module_file import ModuleFile
from attn_tutor.lessons.takehome.taken_document import Document
from attn_tutor.lessons.texts.wording import Wording


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the ending of its files, its writer, and whether it has room for explanations."""

    ending: str
    write: Callable[[Document], str]
    explains: bool = False


FORMATS: Mapping[str, Format] = {
    "markdown": Format(".md", markdown_file.write),
    "notebook": Format(".ipynb", notebook_file.write),
    "html": Format(".html", html_page.write, explains=True),
}


say = Wording("take-home/files")

MODULE = "module"
FILES: Mapping[str, str] = MappingProxyType({MODULE: ".py", **{name: each.ending for name, each in FORMATS.items()}})
"""What can be taken home, with the ending of its file."""

OnLine = Callable[[str], object]
"""Called with a line that says what is being done."""


class NothingToTake(ValueError):
    """The learner has done nothing yet that could be in the file; the text is a sentence."""


@dataclass(frozen=True, slots=True)
class HomeFile:
    """A file that a learner takes home: its text, and lines about what is in it."""

    text: str
    about: tuple[str, ...]


def file_name(kind: str, course: Course) -> str:
    """Return the name of the file that is written if none is named, such as `my_attention.py`: it names the course."""
    return f"{module_file.module_name(course)}{FILES[kind]}"


def take(
    kind: str,
    session: Session,
    course: Course,
    work: LearnerWork,
    *,
    whole: bool = False,
    on_line: OnLine = lambda _: None,
) -> HomeFile:
    """Return one of `FILES`.

    Args:
        kind: which one.
        session: the worker that runs lessons, or judges answers.
        course: the course, or some of its lessons.
        work: what the learner has done.
        whole: whether a document has also what the learner has not read.
        on_line: told what is being done, as that takes a while.

    Raises:
        NothingToTake: if there would be nothing in it.
        WorkerError: if the worker cannot run anything.
    """
    if kind == MODULE:
        return _module(session, course, work, on_line)
    return _document(FORMATS[kind], session, course, work, on_line, whole=whole)


def _document(
    chosen: Format, session: Session, course: Course, work: LearnerWork, on_line: OnLine, *, whole: bool
) -> HomeFile:
    if not whole and not any(course_document.steps_read(lesson, work) for lesson in course.lessons):
        raise NothingToTake(say("nothing-read", "You have not read any of it yet."))

    def on_lesson(lesson: Lesson) -> None:
        on_line(say("running", "Running lesson {number}: {title}", number=lesson.number, title=lesson.title))

    document = course_document.build(session, course, work, whole=whole, explain=chosen.explains, on_lesson=on_lesson)
    return HomeFile(chosen.write(document), (_about_document(document),))


def _about_document(document: Document) -> str:
    """Say how much is in a document."""
    steps = sum(len(chapter.read_sections) for chapter in document.chapters)
    lessons = len(document.chapters)
    return say("lessons-and-steps", "Lessons in it: {lessons}. Steps: {steps}.", lessons=lessons, steps=steps)


def _module(session: Session, course: Course, work: LearnerWork, on_line: OnLine) -> HomeFile:
    exercises = [step.exercise for lesson in course.lessons for step in lesson.exercises]
    passed = {name: clean_code(code) for name in exercises if (code := work.passing_answer(name)) is not None}
    answers = list(learner_work.find_passing_answers(course, passed))
    if not answers:
        raise NothingToTake(
            say("nothing-passed", "You have not passed an exercise in code yet, so there is nothing to write.")
        )

    def on_judged(answer: PassingAnswer) -> None:
        on_line(say("judged", "Judged as it stands in the file: {id}", id=answer.id))

    built = module_file.build(session, course, answers, on_judged)
    return HomeFile(built.text, tuple(_about_module(built)))


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
