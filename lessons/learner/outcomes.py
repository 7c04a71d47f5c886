"""The one way to record an outcome: an answer is kept as an attempt, with all that follows from passing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lessons.learner import milestones

if TYPE_CHECKING:
    from lessons.format.lesson import Exercise, Lesson
    from lessons.learner.progress import Progress
    from lessons.results.result import Judgement


def record(progress: Progress, lesson: Lesson, exercise: Exercise, code: str, judgement: Judgement) -> str:
    """Record an answer and what the judge said, and do what follows from that.

    A check that was stopped is no attempt. Whoever passes the challenge of a lesson may have tested out of it.

    Args:
        progress: of the learner.
        lesson: the lesson that the exercise is a step of.
        exercise: an exercise or a question.
        code: the answer.
        judgement: what the judge said.

    Returns:
        What else follows, as a sentence for the learner; "" if nothing does.
    """
    if judgement.stopped:
        return ""
    mistakes = ",".join(mistake.id for mistake in judgement.mistakes)
    progress.add_attempt(exercise.exercise, code, judgement.verdict, mistakes, judgement.message)
    return milestones.complete(progress, lesson, exercise) if judgement.passed else ""
