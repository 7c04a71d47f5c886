"""Judging an answer to an exercise of any kind, given as text: code, the answer to a question, or changes."""

from __future__ import annotations

from functools import singledispatch

from attn_tutor.lessons.engine.questions import answer_forms, experiment_judging
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.exercises import BaseExercise
from attn_tutor.lessons.format.lesson import Exercise, ExerciseStep, ExperimentStep, Lesson
from attn_tutor.lessons.format.questions import BaseQuestion
from attn_tutor.lessons.results.result import Judgement, StepResult
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes


def judge(session: Session, lesson: Lesson, exercise: Exercise, text: str, seed: int | None = None) -> Judgement:
    """Judge an answer; a question or an experiment is run first. `seed` makes the hidden inputs of code.

    The answer to an experiment is one change in each line. Raises `WorkerError`.
    """
    return _judge(exercise, session, lesson, text, seed)


@singledispatch
def _judge(exercise: BaseExercise, session: Session, lesson: Lesson, text: str, seed: int | None) -> Judgement:
    raise NotImplementedError(exercise.id)


@_judge.register
def _(exercise: ExerciseStep, session: Session, lesson: Lesson, text: str, seed: int | None) -> Judgement:
    return session.check(exercise, text, seed)


@_judge.register
def _(exercise: ExperimentStep, session: Session, lesson: Lesson, text: str, seed: int | None) -> Judgement:
    made = experiment_judging.read(lesson, exercise, text)
    if isinstance(made, Judgement):
        return made
    return experiment_judging.judge(exercise, made, result_of(session, lesson, exercise, made))


@_judge.register
def _(exercise: BaseQuestion, session: Session, lesson: Lesson, text: str, seed: int | None) -> Judgement:
    return answer_forms.judge(exercise, result_of(session, lesson, exercise), text)


def result_of(session: Session, lesson: Lesson, step: BaseExercise, changes: Changes = UNCHANGED) -> StepResult:
    """Run a lesson up to a step, and return the result of the last step that it reached. Raises `WorkerError`."""
    run = session.run(lesson, step.id, changes)
    run.close()
    return run.result(step.id) or run.steps[-1]
