"""A number of a trace with its explanation, as text, and for notebooks as HTML that opens on a click."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attn_tutor.lessons.engine import explanation_tree
from attn_tutor.lessons.engine.explanation_tree import Node
from attn_tutor.lessons.render import explanation_lines, explanation_text, operand_choice
from attn_tutor.lessons.render import html_pieces as html
from attn_tutor.lessons.render.numbers import readable
from attn_tutor.lessons.results import explanation as e
from attn_tutor.lessons.results.explanation import Explanation, Operand
from attn_tutor.lessons.trace.harmless_text import harmless
from attn_tutor.lessons.worker.programs.record_questions import UNIT

if TYPE_CHECKING:
    from attn_tutor.lessons.worker.programs.record_questions import RecordQuestions

LEVELS = 2
"""Levels of numbers that the text of a number shows, as `attn-tutor explain` does."""

OPENED, MOST_OPENED = 4, 150
"""Levels and numbers that can be opened in HTML."""


@harmless
@dataclass(frozen=True, slots=True, repr=False)
class TracedOperand:
    """A number that another one was computed from."""

    _operand: Operand
    _questions: RecordQuestions

    @property
    def label(self) -> str:
        """The cell as the code would write it: `weights[1,0]`."""
        return self._operand.label

    @property
    def value(self) -> float:
        """The number."""
        return self._operand.value

    @property
    def is_leaf(self) -> bool:
        """Whether it was computed from nothing else: an input, a random draw, a constant."""
        return self._operand.leaf

    def explain(self) -> TracedNumber:
        """Explain how this number was computed in turn."""
        return TracedNumber(self._questions.follow(self._operand.ref), self._questions)

    def __repr__(self) -> str:
        return f"<{self.label} = {readable(self.value, self._operand.dtype)}>"


@harmless
@dataclass(frozen=True, slots=True, repr=False)
class TracedNumber:
    """A number, and how it was computed: `print` it, or look at it in a notebook.

    >>> number = trace.explain("context", 1, 0)
    >>> print(number)
    >>> number.operands[0].explain()
    """

    _explanation: Explanation
    _questions: RecordQuestions

    @property
    def label(self) -> str:
        """The cell as the code would write it: `context[1,0]`."""
        return self._explanation.label

    @property
    def value(self) -> float | None:
        """The number; None if the record no longer has it."""
        return self._explanation.value

    @property
    def dtype(self) -> str:
        """The type of the number in PyTorch, such as `float32`."""
        return self._explanation.dtype

    @property
    def operation(self) -> str:
        """The operation that computed it: `matmul`, `softmax`, `draw`, ..."""
        return self._explanation.op

    @property
    def formula(self) -> str:
        """The formula in Python's notation, over the labels of the operands; a leaf is the number itself.

        "" for a number that is unknown.
        """
        return e.python(self._explanation)

    @property
    def code(self) -> str:
        """The piece of code that computed it; "" if that is not known."""
        return self._explanation.code

    @property
    def file(self) -> str:
        """The file or cell of that code; "" if it is not known."""
        return self._explanation.file

    @property
    def line(self) -> int | None:
        """The line of that code; None if it is not known."""
        return self._explanation.line

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the number."""
        return self._explanation.notes

    @property
    def is_leaf(self) -> bool:
        """Whether it was computed from nothing else: an input, a random draw, a constant."""
        return self._explanation.leaf

    @property
    def operands(self) -> tuple[TracedOperand, ...]:
        """The numbers that it was computed from, each of which can be explained in turn."""
        return tuple(TracedOperand(operand, self._questions) for operand in self._explanation.operands)

    def text(self, depth: int = LEVELS) -> str:
        """Return how it was computed as text, with `depth` levels of numbers."""
        return "\n".join(explanation_lines.lines(self._tree(depth, explanation_tree.MOST_TOLD), in_shell=False))

    def _tree(self, depth: int, most: int) -> Node:
        found = explanation_tree.grow_below(
            self._questions,
            UNIT,
            self._explanation,
            depth,
            most,
            lambda item: operand_choice.choose(item).positions,
            once=True,
        )
        return found if isinstance(found, Node) else Node(self._explanation)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{explanation_text.one_line(self._explanation, 78)}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return html.page(html.number(self._tree(OPENED, MOST_OPENED)))
