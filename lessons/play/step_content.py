"""What is shown of a step: its result, and how that came about. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from attn_tutor.lessons.format.lesson import Step
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes

say = Wording("screen/results")


@dataclass(frozen=True, slots=True)
class StepContent:
    """The content that a view shows for a step: its result, and how the result came about.

    Attributes:
        result: the result of the step.
        note: the kind of result in a few words, such as recorded or live.
        base: the result without the learner's changes; None if nothing was changed.
        changes: the changes that the lesson was run with.
    """

    result: StepResult
    note: str = ""
    base: StepResult | None = None
    changes: Changes = UNCHANGED


def at_once(step: Step, recorded: StepResult | None) -> StepContent:
    """Return what can be shown before a step has run."""
    return StepContent(recorded or StepResult(step.id), recorded_note() if recorded else say("not-run", "not run yet"))


def of_run(
    result: StepResult, base: StepResult, recorded: StepResult | None, changes: Changes = UNCHANGED
) -> StepContent:
    """Return what is shown of a run.

    Args:
        result: the result of the step, or of the last one that the run reached.
        base: the result of a run without changes.
        recorded: the recorded result, None if there is none.
        changes: the changes that the lesson was run with.
    """
    note = live_note(result)
    if result.error is not None and changes:
        # Steps that the changed run did not reach are shown without changes.
        result = replace(base, stdout=result.stdout, error=result.error, notes=result.notes)
        note = say("before", "before the change")
    elif result.error is not None and recorded is not None:
        # Steps that the run did not reach are shown as recorded.
        result = replace(recorded, stdout=result.stdout, error=result.error)
        note = recorded_note()
    return StepContent(result, note, base if changes else None, changes)


def live_note(result: StepResult) -> str:
    """Say that a result was computed here and now, and how long it took."""
    return say("live", "live, {time} ms", time=f"{result.seconds * 1000:.0f}")


def recorded_note() -> str:
    """Say that a result is that of an earlier run."""
    return say("recorded", "recorded")
