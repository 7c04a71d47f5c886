"""The tutor in another language: every kind of step opens, keys and answers work as they do in English."""

from __future__ import annotations

import re

from attn_tutor.lessons.format.lesson import ChoiceStep, Course
from attn_tutor.tui.actions.hints import GAP
from tests.course import COURSE
from tests.tui.learner import Learner, tutor

LETTERS = re.compile(r"a-[a-h]")


async def shows(learner: Learner, title: str) -> None:
    # Long titles are cut at the right end.
    await learner.sees(title[:20])


async def test_map_keys_and_help_are_translated(translated: Course) -> None:
    async with tutor(size=(120, 40)) as learner:
        await learner.sees(f"⟦{COURSE.lessons[0].title}⟧", "⟦quit⟧", "⟦find⟧", "⟦experiment⟧")
        await learner.press("f1")
        await learner.sees("⟦choose a lesson⟧", "⟦Any key closes this.⟧")


async def test_every_kind_of_step_opens(translated: Course) -> None:
    kinds: dict[str, tuple[str, int, str]] = {}
    for lesson in translated.lessons:
        for index, step in enumerate(lesson.steps):
            kinds.setdefault(step.kind, (lesson.id, index, step.title))
    async with tutor(size=(120, 40)) as learner:
        for lesson_id, index, title in kinds.values():
            learner.opens(lesson_id, index)
            await shows(learner, title)
            assert untranslated(learner.keys) == []


def untranslated(keys: str) -> list[str]:
    """Return the parts of a line of keys in which nothing is translated, but for `a-d`."""
    return [
        part for part in keys.split(GAP) if part.strip() and "⟦" not in part and not LETTERS.fullmatch(part.strip())
    ]


async def test_question_is_answered_by_its_letter(translated: Course) -> None:
    lesson, index = next(
        (lesson, index)
        for lesson in translated.lessons
        for index, step in enumerate(lesson.steps)
        if isinstance(step, ChoiceStep)
    )
    step = lesson.steps[index]
    assert isinstance(step, ChoiceStep)
    right = next(number for number, option in enumerate(step.options) if option.right)
    async with tutor(size=(120, 40)) as learner:
        learner.opens(lesson.id, index)
        await shows(learner, step.title)
        await learner.press("abcdefgh"[right], "enter")
        await learner.sees(lambda: learner.progress.passed(step.exercise))
