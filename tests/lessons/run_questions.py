"""Questions about the tensors of a run, asked by the text form of the code unit that shows them."""

from __future__ import annotations

from typing import TypeVar

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import Window
from attn_tutor.lessons.results.summaries import Blocks, How, RowStats
from attn_tutor.lessons.results.tensor_questions import (
    BlocksQuestion,
    ExplainQuestion,
    Refusal,
    RowQuestion,
    TensorQuestion,
    WindowQuestion,
)

T = TypeVar("T")
Lead = tuple[int, ...]


def _reply(run: Run, question: TensorQuestion[T]) -> T | None:
    """Return the reply to a question; None if it is refused, or if the child has ended."""
    reply = run.ask(question)
    return None if isinstance(reply, Refusal) else reply


def window(run: Run, unit: str, name: str, lead: Lead, top: int, left: int, height: int, width: int) -> Window | None:
    """Ask for a window of a matrix."""
    return _reply(run, WindowQuestion(name, lead, top, left, height, width, CodeUnit.parse(unit)))


def blocks(run: Run, unit: str, name: str, lead: Lead, rows: int, cols: int, how: How) -> Blocks | None:
    """Ask for a summary of a matrix by blocks."""
    return _reply(run, BlocksQuestion(name, lead, rows, cols, how, CodeUnit.parse(unit)))


def row(run: Run, unit: str, name: str, lead: Lead, row: int, top: int) -> RowStats | None:
    """Ask for the statistics of a row."""
    return _reply(run, RowQuestion(name, lead, row, top, CodeUnit.parse(unit)))


def explain(run: Run, unit: str, name: str, index: tuple[int, ...]) -> Explanation | None:
    """Ask how an element was computed."""
    return _reply(run, ExplainQuestion(name, index, CodeUnit.parse(unit)))
