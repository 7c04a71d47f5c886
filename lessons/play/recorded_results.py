"""The recorded results of lessons, read when they are first shown."""

from __future__ import annotations

from typing import Protocol

from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.reading import recorded_outputs
from attn_tutor.lessons.results.result import StepResult


class Recorded(Protocol):
    """What was recorded of lessons."""

    def result(self, lesson: Lesson, step: str) -> StepResult | None:
        """Return the recorded result of a step, None if it has none."""


class NothingRecorded:
    """What was recorded of something that is run only here and now: nothing."""

    def result(self, lesson: Lesson, step: str) -> None:
        """Return None."""


class RecordedResults:
    """The recorded results of all lessons that were shown."""

    def __init__(self) -> None:
        self._by_lesson: dict[str, dict[str, StepResult]] = {}

    def of(self, lesson: Lesson) -> dict[str, StepResult]:
        """Return the recorded results of a lesson by step; they are read only once."""
        if lesson.id not in self._by_lesson:
            self._by_lesson[lesson.id] = recorded_outputs.load(lesson)
        return self._by_lesson[lesson.id]

    def result(self, lesson: Lesson, step: str) -> StepResult | None:
        """Return the recorded result of a step, None if it has none."""
        return self.of(lesson).get(step)
