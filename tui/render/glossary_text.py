"""Terms and references as linear text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.format.lesson import Course, Lesson
from attn_tutor.lessons.reading.glossary import Reference, Term
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.render.prose import plain_lines

say = Wording("linear/glossary")

WIDTH = 80


def terms(found: Sequence[Term], course: Course, width: int = WIDTH) -> Iterator[str]:
    """Yield the definitions of terms, each with the step that introduces it."""
    for index, term in enumerate(found):
        if index:
            yield ""
        also = f" ({say('also', 'also: {names}', names=', '.join(term.also))})" if term.also else ""
        yield from textwrap.wrap(term.term + also, width)
        yield from _indented(term.means, width)
        if term.see:
            yield from _indented(say("see-also", "See also: {terms}.", terms=", ".join(term.see)), width)
        yield from _indented(introduction(course, term), width)


def step_of(course: Course, step_path: str) -> tuple[Lesson, int] | None:
    """Return the step that a term names as `lesson/step`; None if there is no such step, which lint would find."""
    lesson_id, _, step = step_path.partition("/")
    try:
        lesson = course.lesson(lesson_id)
        return lesson, lesson.index(step)
    except KeyError:
        return None


def no_step(step_path: str) -> str:
    """Say that a course does not have the step that should introduce a term."""
    return say("no-step", "The course has no step '{step}', which should introduce it.", step=step_path)


def introduction(course: Course, term: Term) -> str:
    """Say where a term is introduced, or that there is no such step."""
    found = step_of(course, term.step)
    return no_step(term.step) if found is None else introduced(found[0], found[0].steps[found[1]].id)


def introduced(lesson: Lesson, step: str) -> str:
    """Say where a term is introduced: the lesson, the step as learners count it, and its title."""
    return say(
        "introduced",
        "Lesson {lesson}, {step}: {title}",
        lesson=lesson.number,
        step=main_path.name_of(lesson.steps, step),
        title=lesson.step(step).title,
    )


def references(found: Sequence[Reference]) -> Iterator[str]:
    """Yield the references for further reading, separated by empty lines."""
    for index, reference in enumerate(found):
        if index:
            yield ""
        yield from textwrap.wrap(f"{reference.title}", WIDTH)
        yield from _indented(f"{reference.authors}. {reference.where}, {reference.year}.")
        yield from _indented(reference.about)


def _indented(text: str, width: int = WIDTH) -> Iterator[str]:
    return (f"    {line}" for line in plain_lines(text, width - 4))
