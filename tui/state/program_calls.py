"""The choice of a call of a function, on the screen and in the dialogue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attn_tutor.lessons.engine.programs.program_lesson import Group
from attn_tutor.lessons.engine.programs.program_session import LAST, ProgramSession
from attn_tutor.lessons.results.tensor_questions import Refusal

Which = Literal["before", "after", "first", "last"]
"""A call by its place: the one before or after that which is shown, or the first or last one that is recorded."""


def choose(session: ProgramSession, page: str, which: Which | int) -> int | Refusal:
    """Show another call of the function of a page, by its place or number. Return the page, or why there is none."""
    match which:
        case "before" | "after":
            return session.choose_call(page, None, which)
        case "first":
            return session.choose_call(page, 0, "after")
        case "last":
            return session.choose_call(page, LAST, "before")
        case _:
            return session.choose_call(page, which)


def are_alike(before: Sequence[Group], after: Sequence[Group]) -> bool:
    """Return whether pages are about the same functions and modules as before, so that changes of cells still hold.

    A cell is known by the number of its page.
    """
    return [(group.title, group.file) for group in before] == [(group.title, group.file) for group in after]
