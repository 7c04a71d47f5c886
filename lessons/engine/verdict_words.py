"""What a verdict says of an answer that no check has judged, or that all checks have passed."""

from __future__ import annotations

from collections.abc import Sequence

from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/verdict")


def passed() -> str:
    """Say that the answer passes."""
    return say("passed", "All checks pass.")


def no_code() -> str:
    """Say that there is nothing to judge."""
    return say("no-code", "There is no code yet.")


def too_long(kilobytes: int) -> str:
    """Say that a program has more than this size."""
    return say("too-long", "The program is longer than {kilobytes} KB.", kilobytes=kilobytes)


def undefined(names: Sequence[str]) -> str:
    """Say which names the code does not define."""
    listed = say("and", " and ").join(f"`{name}`" for name in names)
    return say("undefined", "Your code does not define {names}. The task says what to write.", names=listed)


def stopped() -> str:
    """Say that the learner has stopped the judging."""
    return say("stopped", "Stopped by you.")


def unreadable() -> str:
    """Say that the program sent something that is no reply."""
    return say("unreadable", "Your program was judged as not passed: its reply was unreadable.")


def nothing_to_compare() -> str:
    """Say that intermediate results cannot be compared."""
    return say("nothing-to-compare", "This code does not run, so there is nothing to compare.")


def judge_failed(lines: Sequence[str]) -> str:
    """Say that the judge's own process failed, with the last line of what it wrote, if it wrote anything."""
    if not lines:
        return say("judge-ended", "The judge of this exercise failed: it ended without a word")
    return say("judge-failed", "The judge of this exercise failed: {line}", line=lines[-1])
