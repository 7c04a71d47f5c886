"""The judge of experiments: what was changed, and what came of it. Pure functions over plain data."""

from __future__ import annotations

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import ExperimentStep, Lesson, Way
from attn_tutor.lessons.results.result import CheckResult, Judgement, NamedMistake, StepResult
from attn_tutor.lessons.results.verdict import Verdict
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if import changes
from attn_tutor.lessons.what_if.changes import Changes

say = Wording("engine/experiment")


def judge(step: ExperimentStep, made: Changes, result: StepResult) -> Judgement:
    """Judge the changes that a learner has made by the result of the step that ran with them.

    No changes, or ones with which the step does not run, get the verdict `error`, and are not counted (`stopped`).
    """
    if not made:
        return Judgement(step.exercise, "error", say("nothing-changed", "Nothing is changed yet."), stopped=True)
    if result.error is not None:
        return Judgement(
            step.exercise,
            "error",
            say("fails-with-change", "With this change: {message}", message=result.error.message),
            stopped=True,
        )
    way = way_of(step, made, result)
    if way is None:
        return _judgement(step, "failed", template.fill(step.otherwise, result.text))
    message = template.fill(way.why, result.text).strip()
    if way.right:
        return _judgement(step, "passed", f"{message} {template.fill(step.why, result.text)}")
    return _judgement(step, "failed", message, NamedMistake(way.id, way.name, ""))


def is_attempt(judgement: Judgement) -> bool:
    """Return whether changes were an attempt; those on the way, neither right nor a known wrong turn, are none."""
    return judgement.passed or bool(judgement.mistakes)


def way_of(step: ExperimentStep, made: Changes, result: StepResult) -> Way | None:
    """Return the first way that matches the changes and their effect, None if there is none."""
    names = changes.changed_names(made)
    for way in step.ways:
        known = not way.changed or names <= set(way.changed)
        # A condition that could not be computed is not true.
        if known and result.text.get(step.condition(way).key) == "true":
            return way
    return None


def read(lesson: Lesson, step: ExperimentStep, text: str) -> Changes | Judgement:
    """Return the changes in a text, one in each line, or the judgement on a text that cannot be read."""
    try:
        return changes.read_lines(lesson, text)
    except changes.ChangeError as error:
        return Judgement(step.exercise, "error", str(error), stopped=True)


def solution(step: ExperimentStep) -> str:
    """Return changes that reach what the experiment asks for, as a learner may write them."""
    return next(way for way in step.ways if way.right).proof[0]


def _judgement(step: ExperimentStep, verdict: Verdict, message: str, *mistakes: NamedMistake) -> Judgement:
    checks = (CheckResult(say("goal", "the effect"), verdict == "passed"),)
    return Judgement(step.exercise, verdict, message, checks=checks, mistakes=mistakes)
