"""The records of a learner as plain data: states of steps, drafts, attempts, archived code, and help."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from attn_tutor.lessons.results.verdict import Verdict

State = Literal["new", "seen", "skipped", "done"]

RANK: dict[str, int] = {"new": 0, "seen": 1, "skipped": 2, "done": 3}
"""A state only rises: a skipped step stays skipped until it is done."""

HINT, GAVE_UP, TOOK_BACK, SOLUTION = "hint-", "gave-up", "took-back", "solution"
"""The kinds of help in the log; the kind of a hint ends with its number."""

OTHER_SESSION = "session"
"""Why code was archived: two sessions edited it, and neither had seen what the other one wrote."""

DAMAGED = "damaged"
"""Why code was archived: it is the last that is whole, and the draft that came after it was damaged on the disk."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A learner's unfinished code for an exercise.

    Attributes:
        code: the code.
        version: names what was read, so that a later save can say which draft it replaces; "" if there is no draft.
    """

    code: str | None = None
    version: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer to an exercise, what the judge said, and when (UTC, ISO 8601).

    `mistake` holds the ids of the mistakes that the judge named, joined by commas; `message` is its one sentence.
    """

    code: str
    verdict: Verdict
    time: str
    mistake: str = ""
    message: str = ""

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The ids of the mistakes that the judge named."""
        return tuple(filter(None, self.mistake.split(",")))


@dataclass(frozen=True, slots=True)
class ArchivedCode:
    """Code that other code replaced, and when (UTC, ISO 8601).

    `why` says what replaced it, in a word: `reset`, `gave-up`, `review` (which starts over), `watch` (a file became the
    draft), `session` (another session of the learner saved other code meanwhile; then `time` is when it was written),
    `damaged` (the disk changed what was written after it; then `time` is when that was found).
    """

    code: str
    time: str
    why: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sessions edited one exercise, and neither had seen what the other one wrote.

    Attributes:
        exercise: the id of the exercise.
        other: the code of the other session.
    """

    exercise: str
    other: str


@dataclass(frozen=True, slots=True)
class Help:
    """The help that a learner has taken with an exercise.

    Attributes:
        hints: how many hints they have read.
        give_ups: when they gave up (UTC, ISO 8601), without what they took back; oldest first.
        gave_up: whether they have given up and not taken it back.
        solution: whether they have read the solution.
    """

    hints: int = 0
    give_ups: tuple[str, ...] = ()
    gave_up: bool = False
    solution: bool = False

    def with_event(self, kind: str, time: str) -> Help:
        """Return the help after an event of the log is added."""
        if kind == GAVE_UP:
            return replace(self, give_ups=(*self.give_ups, time), gave_up=True)
        if kind == TOOK_BACK:
            # Only the latest give-up is taken back: earlier ones belong to earlier tries.
            return replace(self, give_ups=self.give_ups[: -1 if self.gave_up else None], gave_up=False)
        if kind == SOLUTION:
            return replace(self, solution=True)
        return replace(self, hints=max(self.hints, int(kind.removeprefix(HINT))))
