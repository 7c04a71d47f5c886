"""The one way to record an outcome: an answer is stored as an attempt, with all consequences of passing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attn_tutor.lessons.learner import milestones

if TYPE_CHECKING:
    from attn_tutor.lessons.format.lesson import Exercise, Lesson
    from attn_tutor.lessons.learner.progress import Progress
    from attn_tutor.lessons.results.result import Judgement


def record(
    progress: Progress, lesson: Lesson, exercise: Exercise, code: str, judgement: Judgement, *, challenged: bool = False
) -> str:
    """Record an answer and its verdict, and apply the consequences.

    A check that was stopped is no attempt. A learner who takes the challenge of a lesson and passes it tests out of it.

    Args:
        progress: the learner's progress.
        lesson: the lesson that the exercise is a step of.
        exercise: an exercise or a question.
        code: the answer.
        judgement: the judge's verdict.
        challenged: whether the learner has come to the exercise as the challenge of its lesson.

    Returns:
        Further consequences, as a sentence for the learner; "" if there are none.
    """
    if judgement.stopped:
        return ""
    mistakes = ",".join(mistake.id for mistake in judgement.mistakes)
    progress.add_attempt(exercise.exercise, code, judgement.verdict, mistakes, judgement.message)
    return milestones.complete(progress, lesson, exercise, challenged=challenged) if judgement.passed else ""
