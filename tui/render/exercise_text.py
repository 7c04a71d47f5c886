"""The text below the editor of an exercise while there is no verdict."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text

from attn_tutor.lessons.format.exercises import ExerciseStep
from attn_tutor.lessons.learner.records import DAMAGED
from attn_tutor.lessons.results.result import Judgement
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.hints import GAP, key_line, mention
from attn_tutor.tui.actions.key_names import short_keys

say = Wording("exercise/text")

DIM = Style(dim=True)


def welcome(
    step: ExerciseStep, hints: int, help_key: str, *, reviewed: bool, passed: bool, gave_up: bool, skips: bool
) -> Text:
    """Return the text for an exercise without a verdict: the learner's progress on it, and the keys to use next.

    Args:
        step: the exercise.
        hints: how many of its hints the learner has read.
        help_key: what the key for hints does now.
        reviewed, passed, gave_up: what the learner has done with it; only the first that is true is mentioned.
        skips: whether passing it skips unfinished steps of the lesson.
    """
    said = ""
    if reviewed:
        last = mention("exercise.reset", say("last-code", "your last code"))
        said = say("once-more", "Once more, from the starter ({last}).", last=last) + GAP
    elif passed:
        said = say("passed-before", "Passed before.") + GAP
    elif gave_up:
        said = say("gave-up", "You gave up on this one; you can still solve it.") + GAP
    elif skips:
        said = say(
            "challenge", "This is the challenge of the lesson: pass it, and the rest of the lesson is behind you."
        )
        said += "\n"
    left = len(step.hints) - hints
    many = say("hints-left", "({count} left)", count=left) if hints else say("hints", "(there are {count})", count=left)
    more = left > 0 and (reviewed or not (passed or gave_up))
    ask = mention("exercise.hint", help_key) + (f" {many}" if more else "")
    keys = key_line([mention("exercise.check"), mention("exercise.run", say("run", "run and look")), ask])
    return Text(f"{said}{keys}", DIM)


def other_code(why: str, more: Text | None = None) -> Text:
    """Return the remark that there is different code and how to see it, followed by `more`; `why` as it is archived."""
    offer = Text(
        (
            say("damaged-code", "The disk has changed a part of your code; your last whole code is kept as well.")
            if why == DAMAGED
            else say("other-code", "Another session of yours wrote other code for this exercise. Both are kept.")
        )
        + GAP
        + mention("exercise.reset", say("see-other-code", "the other one (again: this one)"))
    )
    return offer if more is None else Text("\n").join((offer, more))


def no_more_hints() -> Text:
    """Return the warning that one more press of the key for hints gives up."""
    again = say(
        "give-up",
        "{key} again: give up and see the solution (can be taken back)",
        key=short_keys("exercise.hint"),
    )
    return Text(say("no-more-hints", "There are no more hints.") + GAP + again)


def after_giving_up() -> Text:
    """Return the text below the editor after the learner has given up."""
    keys = key_line([mention("exercise.hint", say("solution", "solution")), mention("exercise.check")])
    return Text(say("given-up", "You gave up; your code is as it was.") + GAP + keys, DIM)


def nothing_to_compare(judgement: Judgement | None) -> str:
    """Say why there is no difference to show after a verdict, or before the first one (None)."""
    if judgement is None or judgement.stopped:
        return say("nothing-checked", "Nothing has been checked yet.") + GAP + mention("exercise.check")
    if judgement.passed:
        return say("nothing-wrong", "There is nothing to compare: this code has passed.")
    return say(
        "nothing-beside",
        "There is nothing to compare: the check has found no result to set beside one of the model answer.",
    )
