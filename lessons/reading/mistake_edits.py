"""The wrong answers that known mistakes make of a right one: each alone, and two at once.

Plain data without pydantic, since the judge's process makes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lessons.format.exercises import ExerciseStep, Mistake, Variant

Way = tuple[tuple[str, str], ...]
"""Texts to find, and what becomes of them: all together make a mistake."""


@dataclass(frozen=True, slots=True)
class KnownMistake:
    """A mistake that can be made in a right answer: by the first of `ways` that fits, or as `code` in its place."""

    id: str
    ways: tuple[Way, ...]
    code: str = ""

    @classmethod
    def of(cls, mistake: Mistake) -> KnownMistake:
        """What there is to know of a mistake of an exercise."""
        ways = tuple(tuple((edit.find, edit.replace) for edit in edits) for edits in mistake.edits)
        return cls(mistake.id, ways, mistake.code)

    def made_in(self, code: str) -> str | None:
        """A right answer with the mistake made in it; None if it cannot be made there."""
        return self.code or next((found for way in self.ways if (found := edited(code, way)) is not None), None)


def edited(code: str, way: Iterable[tuple[str, str]]) -> str | None:
    """The code with all edits made, one after the other; None if one of them finds nothing, or nothing changes."""
    result = code
    for find, put in way:
        if find not in result:
            return None
        result = result.replace(find, put)
    return result if result != code else None


def alone(exercise: ExerciseStep, mistake: Mistake) -> str | None:
    """The model answer of an exercise with one mistake in it; None if it cannot be made there."""
    return KnownMistake.of(mistake).made_in(exercise.solution)


def variant(exercise: ExerciseStep, given: Variant) -> str | None:
    """Another answer to the exercise; None if its edits do not fit."""
    return given.code or edited(exercise.solution, ((edit.find, edit.replace) for edit in given.edits))


def pairs(solution: str, mistakes: Sequence[KnownMistake]) -> Iterator[tuple[KnownMistake, KnownMistake, str]]:
    """All answers with two of the mistakes in them, the likelier first if the mistakes are in this order.

    Each pair comes in both orders where these give different answers. A second edit that undoes the first, or finds
    nothing after it, makes no pair.
    """
    alone = {mistake.id: mistake.made_in(solution) for mistake in mistakes}
    seen = {solution, *alone.values()}
    for place, later in enumerate(mistakes):
        for earlier in mistakes[:place]:
            for first, second in ((earlier, later), (later, earlier)):
                half = alone[first.id]
                whole = second.made_in(half) if half is not None and not (first.code or second.code) else None
                if whole is not None and whole not in seen:
                    seen.add(whole)
                    yield earlier, later, whole
