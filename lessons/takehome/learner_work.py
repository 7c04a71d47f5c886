"""What a learner has done, as far as they take it home, and their code that passed, in the order of the course."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from attn_tutor.lessons.format.lesson import Course, ExerciseStep, Lesson
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.learner.records import Attempt, Help


@dataclass(frozen=True, slots=True)
class LearnerWork:
    """The work of a learner.

    Attributes:
        states: how far they are with steps, by lesson and step; without the new ones.
        attempts: their answers, oldest first, by exercise.
        drafts: their unfinished answers, by exercise.
        help: the help that they took, by exercise.
    """

    states: Mapping[tuple[str, str], str] = field(default_factory=dict)
    attempts: Mapping[str, tuple[Attempt, ...]] = field(default_factory=dict)
    drafts: Mapping[str, str] = field(default_factory=dict)
    help: Mapping[str, Help] = field(default_factory=dict)

    def passing_answer(self, exercise: str) -> str | None:
        """Return the last answer to an exercise that passed, None if none did."""
        passed = [each.code for each in self.attempts.get(exercise, ()) if each.verdict == "passed"]
        return passed[-1] if passed else None

    def is_answered(self, exercise: str) -> bool:
        """Return whether an exercise may show what it reveals: it was passed, or given up."""
        return self.passing_answer(exercise) is not None or self.help.get(exercise, Help()).gave_up


def read_work(progress: Progress, course: Course) -> LearnerWork:
    """Read the work of a learner on a course."""
    attempts: dict[str, tuple[Attempt, ...]] = {}
    for exercise, attempt in progress.history():
        attempts[exercise] = (*attempts.get(exercise, ()), attempt)
    names = [step.exercise for lesson in course.lessons for step in lesson.exercises]
    drafts = {name: code for name in names if (code := progress.draft(name)) is not None}
    return LearnerWork(progress.states(), attempts, drafts, progress.help())


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


def find_passing_answers(course: Course, passed: Mapping[str, str]) -> Iterator[PassingAnswer]:
    """Yield the answers among `passed`, exercises with their last passing answers, that are code."""
    for lesson in course.lessons:
        for step in lesson.code_exercises.values():
            if step.exercise in passed:
                yield PassingAnswer(lesson, step, passed[step.exercise])
