"""The replies to questions about the tensors of a run, which `lessons.results.tensor_questions` lists."""

from __future__ import annotations

from typing import Any

from lessons.results.flow import Flow
from lessons.worker.message_parts import TensorReport, message


@message
class WindowReport:
    """The numbers of a window: `rows` rows with the `array` type code `code`."""

    rows: int
    code: str
    blob: bytes


@message
class BlocksReport:
    """The blocks of a matrix that is `width` cells wide, in `rows` rows.

    The blob holds a double for each block, then the flat index of the greatest cell of each block, as int64.
    """

    rows: int
    width: int
    blob: bytes


@message
class RowReport:
    """The statistics of a row. The blob holds its sum and the values at `cols`, as doubles."""

    low: float | None
    high: float | None
    support: int
    bits: float | None
    cols: tuple[int, ...]
    blob: bytes


@message
class ExplanationReport:
    """The explanation of a number; `lessons.results.explanation.of_json` reads it."""

    explanation: dict[str, Any]


@message
class FlowReport:
    """The flow of a run."""

    flow: Flow


@message
class ShowReport:
    """A tensor that is shown from now on; its numbers are in `blob`."""

    tensor: TensorReport
    blob: bytes
