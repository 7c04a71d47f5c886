"""Links from the explanation of a number to those of the numbers that it was computed from."""

from __future__ import annotations

from collections.abc import Iterator

from attn_tutor.lessons.play.step_document import Matrix
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.takehome.taken_document import Chapter, Document

MOST_LINKS = 12
"""The most links of one explanation: a page has thousands of explanations."""


class ExplainedLinks:
    """Gives each explanation of a document a number, and finds those of its operands.

    An operand is known by what the code calls it and by its value, in its own lesson: a name may have had several
    values, and only the one that was used is the right one.
    """

    def __init__(self, document: Document) -> None:
        self._numbers: dict[int, int] = {}
        self._chapters: dict[int, int] = {}
        self._cells: dict[tuple[int, str, float | None], int] = {}
        for chapter_number, chapter in enumerate(document.chapters):
            for found in _explanations(chapter):
                number = self._numbers[id(found)] = len(self._numbers) + 1
                self._chapters[id(found)] = chapter_number
                # The first is where the learner met it.
                self._cells.setdefault((chapter_number, found.label, found.value), number)

    def number_of(self, explanation: Explanation) -> int:
        """Return the number of an explanation of the document, from 1. Raises `KeyError` for another one."""
        return self._numbers[id(explanation)]

    def of(self, explanation: Explanation) -> tuple[tuple[str, int], ...]:
        """Return the operands that are explained in the document themselves: their labels, and their numbers."""
        own, chapter = self._numbers[id(explanation)], self._chapters[id(explanation)]
        found: dict[str, int] = {}
        for operand in explanation.operands:
            number = self._cells.get((chapter, operand.label, operand.value))
            if number is not None and number != own and not operand.leaf:
                found[operand.label] = number
        return tuple(found.items())[:MOST_LINKS]


def _explanations(chapter: Chapter) -> Iterator[Explanation]:
    for section in chapter.read_sections:
        for block in section.blocks:
            if isinstance(block, Matrix):
                yield from (each.explanation for each in block.explained)
