"""Questions about the tensors of a run, by the name of what shows them."""

from __future__ import annotations

from typing import TypeVar

from lessons.engine.run import Run
from lessons.results.code_unit import CodeUnit
from lessons.results.explanation import Explanation
from lessons.results.result import Window
from lessons.results.summaries import Blocks, How, RowStats
from lessons.results.tensor_questions import (
    BlocksQuestion,
    ExplainQuestion,
    Refusal,
    RowQuestion,
    TensorQuestion,
    WindowQuestion,
)

T = TypeVar("T")
Lead = tuple[int, ...]


def _answered(run: Run, question: TensorQuestion[T]) -> T | None:
    """The reply, None for a refusal, after which the run can still be asked, and if the child is gone."""
    reply = run.ask(question)
    return None if isinstance(reply, Refusal) else reply


def window(run: Run, unit: str, name: str, lead: Lead, top: int, left: int, height: int, width: int) -> Window | None:
    return _answered(run, WindowQuestion(name, lead, top, left, height, width, CodeUnit.parse(unit)))


def blocks(run: Run, unit: str, name: str, lead: Lead, rows: int, cols: int, how: How) -> Blocks | None:
    return _answered(run, BlocksQuestion(name, lead, rows, cols, how, CodeUnit.parse(unit)))


def row(run: Run, unit: str, name: str, lead: Lead, row: int, top: int) -> RowStats | None:
    return _answered(run, RowQuestion(name, lead, row, top, CodeUnit.parse(unit)))


def explain(run: Run, unit: str, name: str, index: tuple[int, ...]) -> Explanation | None:
    return _answered(run, ExplainQuestion(name, index, CodeUnit.parse(unit)))
