"""The learner's code that passed, in the order of the course."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from attn_tutor.lessons.format.lesson import Course, ExerciseStep, Lesson


@dataclass(frozen=True, slots=True)
class PassingAnswer:
    """An answer in code that passed, with its exercise and the lesson of that."""

    lesson: Lesson
    exercise: ExerciseStep
    code: str

    @property
    def id(self) -> str:
        """The id of the exercise."""
        return self.exercise.exercise


def find(course: Course, passed: Mapping[str, str]) -> Iterator[PassingAnswer]:
    """Yield the answers among `passed`, exercises with their last passing answers, that are code."""
    for lesson in course.lessons:
        for step in lesson.exercises:
            if isinstance(step, ExerciseStep) and step.exercise in passed:
                yield PassingAnswer(lesson, step, passed[step.exercise])
