"""Learners of tests who take something home."""

from __future__ import annotations

from collections.abc import Mapping

from attn_tutor.lessons.format.lesson import Course, ExerciseStep, Lesson
from attn_tutor.lessons.learner.records import Attempt
from attn_tutor.lessons.takehome import learner_work
from attn_tutor.lessons.takehome.learner_work import PassingAnswer
from tests.course import COURSE


def solutions(*exercises: str) -> dict[str, str]:
    """Return the model answers of exercises, as what a learner has passed them with; of all exercises without names."""
    found: dict[str, str] = {}
    for lesson in COURSE.lessons:
        for step in lesson.exercises:
            if isinstance(step, ExerciseStep) and (not exercises or step.exercise in exercises):
                found[step.exercise] = step.solution
    return found


def answers(passed: Mapping[str, str], course: Course = COURSE) -> list[PassingAnswer]:
    """Return passing answers in the order of the course."""
    return list(learner_work.find_passing_answers(course, passed))


def attempts(passed: Mapping[str, str]) -> dict[str, tuple[Attempt, ...]]:
    """Return answers as the attempts of a learner, each of which passed."""
    return {exercise: (Attempt(code, "passed", "2026-01-01"),) for exercise, code in passed.items()}


def read_steps(lesson: Lesson, count: int) -> dict[tuple[str, str], str]:
    """Return the states of a learner who has read the first steps of a lesson."""
    return {(lesson.id, step.id): "done" for step in lesson.steps[:count]}
