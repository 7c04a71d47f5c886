"""Wrong answers, made by editing known mistakes into a right answer: each alone, and two at once.

Plain data without pydantic, since the judge's process makes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attn_tutor.lessons.format.exercises import ExerciseStep, Mistake, Variant

Edits = tuple[tuple[str, str], ...]
"""Pairs of a text to find and its replacement, which only together make a mistake."""


@dataclass(frozen=True, slots=True)
class KnownMistake:
    """A mistake that can be made in a right answer.

    Attributes:
        id: the id of the mistake.
        edit_lists: alternatives; the first that fits the right answer is used.
        code: a whole wrong answer, for a mistake that no edit makes.
    """

    id: str
    edit_lists: tuple[Edits, ...]
    code: str = ""

    @classmethod
    def of(cls, mistake: Mistake) -> KnownMistake:
        """Convert a mistake of an exercise."""
        edit_lists = tuple(tuple((edit.find, edit.replace) for edit in edits) for edits in mistake.edits)
        return cls(mistake.id, edit_lists, mistake.code)

    def apply_to(self, code: str) -> str | None:
        """Make the mistake in a right answer; return None if none of its edits fit."""
        return self.code or next(
            (found for edits in self.edit_lists if (found := apply_edits(code, edits)) is not None), None
        )


def apply_edits(code: str, edits: Iterable[tuple[str, str]]) -> str | None:
    """Make all edits in code, one after the other; return None if one finds nothing, or nothing changes."""
    result = code
    for find, replacement in edits:
        if find not in result:
            return None
        result = result.replace(find, replacement)
    return result if result != code else None


def not_found(code: str, edits: Iterable[tuple[str, str]]) -> str:
    """Return the first text that edits, one after the other, do not find in code; "" if they find all."""
    for find, replacement in edits:
        if find not in code:
            return find
        code = code.replace(find, replacement)
    return ""


def with_mistake(exercise: ExerciseStep, mistake: Mistake) -> str | None:
    """Make one mistake in the model answer of an exercise; return None if that is impossible."""
    return KnownMistake.of(mistake).apply_to(exercise.solution)


def variant_code(exercise: ExerciseStep, variant: Variant) -> str | None:
    """Return the code of a variant of the model answer; None if its edits do not fit."""
    return variant.code or apply_edits(exercise.solution, ((edit.find, edit.replace) for edit in variant.edits))


def right_answers(exercise: ExerciseStep) -> list[str]:
    """Return the right answers that an exercise has: the model answer, then the accepted ones."""
    return [exercise.solution, *filter(None, (variant_code(exercise, item) for item in exercise.accepted))]


def with_two_mistakes(
    solution: str, mistakes: Sequence[KnownMistake]
) -> Iterator[tuple[KnownMistake, KnownMistake, str]]:
    """Yield all answers with two of the mistakes in them, as both mistakes and the code.

    Likelier pairs come first if the mistakes are sorted by likelihood. Two make a pair only if they give the same
    answer in both orders: else one replaces code that the other is about, and what is said of this is no longer true.
    """
    answers = {mistake.id: mistake.apply_to(solution) for mistake in mistakes if not mistake.code}
    seen = {solution, *answers.values()}
    for position, later in enumerate(mistakes):
        for earlier in mistakes[:position]:
            one, other = answers.get(earlier.id), answers.get(later.id)
            if one is None or other is None:
                continue
            answer = later.apply_to(one)
            if answer is not None and answer not in seen and answer == earlier.apply_to(other):
                seen.add(answer)
                yield earlier, later, answer
