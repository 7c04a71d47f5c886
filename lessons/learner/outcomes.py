"""The outcome of an answer: stored as an attempt, with all consequences of passing, and what is told of it at first.

Of a bug hunt, a learner is told the symptoms first, then, when they check again, the diagnosis.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from attn_tutor.lessons.learner import milestones
from attn_tutor.lessons.texts.wording import Wording

if TYPE_CHECKING:
    from attn_tutor.lessons.format.lesson import Exercise, Lesson
    from attn_tutor.lessons.learner.progress import Progress
    from attn_tutor.lessons.results.result import Judgement, StepResult


def record_outcome(
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


say = Wording("progress/symptoms")


def symptoms_of_first_check(progress: Progress, exercise: Exercise, judgement: Judgement) -> tuple[Judgement, str]:
    """Return what to show of a judgement, and a sentence on what is held back, "" if nothing is.

    The first wrong answer to an exercise with a bug in its starter shows what is wrong with the results, or the
    exception, but neither the name of the mistake nor its line nor advice, so that the learner looks for the cause. A
    hint counts as a check. Call this before the outcome is recorded.
    """
    diagnosed = bool(judgement.mistakes or judgement.difference or judgement.symptom)
    if judgement.passed or judgement.stopped or not diagnosed or not _is_new_hunt(progress, exercise):
        return judgement, ""
    # Where an exception stopped the code is a symptom; the line that a comparison blames is not.
    line = judgement.line if judgement.verdict == "error" else None
    held_back = say("check-again", "Look for the cause. Check again, or take a hint, and you are told more about it.")
    message = judgement.symptom or judgement.message
    return replace(judgement, message=message, mistakes=(), difference=None, line=line), held_back


def symptoms_of_first_run(progress: Progress, exercise: Exercise, result: StepResult) -> StepResult:
    """Return what to show of a scratch run: before the first check of a bug hunt, an exception without advice."""
    if result.error is None or not result.error.symptom or not _is_new_hunt(progress, exercise):
        return result
    return replace(result, error=replace(result.error, message=result.error.symptom))


def _is_new_hunt(progress: Progress, exercise: Exercise) -> bool:
    """Tell whether an exercise has a bug in its starter, and the learner has neither checked it nor taken a hint."""
    name = exercise.exercise
    known = progress.attempts(name) or progress.hints_used(name) or progress.passed(name)
    return exercise.starts_with_bug and not known
