"""The replies to questions about the tensors of a run, which `lessons.results.tensor_questions` lists."""

from __future__ import annotations

from typing import Annotated, Any

from attn_tutor.lessons.results import explanation
from attn_tutor.lessons.results.field_bounds import Between, Count, Finite, Longest, ReadBy
from attn_tutor.lessons.results.flow import Flow
from attn_tutor.lessons.results.result import LONGEST_AXIS
from attn_tutor.lessons.worker.message_parts import (
    BYTES,
    LARGEST_NUMBER,
    Code,
    TensorReport,
    are_rows,
    check_shown,
    message,
)

LARGEST_WINDOW = 256
"""The most rows, and the most columns, of a window."""

MOST_BLOCKS = 1 << 14
"""The most blocks of a matrix."""


@message
class WindowReport:
    """The numbers of a window: `rows` rows with the `array` type code `code`."""

    rows: Annotated[int, Between(0, LARGEST_WINDOW)]
    code: Code
    blob: Annotated[bytes, Longest(LARGEST_WINDOW**2 * LARGEST_NUMBER)]

    def check(self) -> None:
        """Raise `ValueError` if the numbers are no rows."""
        count, rest = divmod(len(self.blob), BYTES[self.code])
        if rest or not are_rows(count, self.rows) or count > self.rows * LARGEST_WINDOW:
            raise ValueError("not the numbers of a window")


@message
class BlocksReport:
    """The blocks of a matrix that is `width` cells wide, in `rows` rows.

    The blob holds a double for each block, then the flat index of the greatest cell of each block, as int64.
    """

    rows: Annotated[int, Between(0, MOST_BLOCKS)]
    width: Annotated[int, Between(0, LONGEST_AXIS)]
    blob: Annotated[bytes, Longest(2 * MOST_BLOCKS * LARGEST_NUMBER)]

    def check(self) -> None:
        """Raise `ValueError` if the numbers are no rows of blocks."""
        count, rest = divmod(len(self.blob), 2 * LARGEST_NUMBER)
        if rest or not are_rows(count, self.rows) or (count and not self.width):
            raise ValueError("not the numbers of blocks")


@message
class RowReport:
    """The statistics of a row. The blob holds its sum and the values at `cols`, as doubles."""

    low: Finite | None
    high: Finite | None
    support: Count
    bits: Annotated[float, Between(0, 64)] | None
    cols: Annotated[tuple[Count, ...], Longest(LARGEST_WINDOW)]
    blob: bytes

    def check(self) -> None:
        """Raise `ValueError` if there is not a number for the sum and for each column."""
        if len(self.blob) != (1 + len(self.cols)) * LARGEST_NUMBER:
            raise ValueError("not the numbers of a row")


@message
class ExplanationReport:
    """The explanation of a number: plain data, of which the receiver makes an `Explanation`."""

    explanation: Annotated[Any, ReadBy(explanation.of_json)]


@message
class FlowReport:
    """The flow of a run."""

    flow: Flow


@message
class ShowReport:
    """A tensor that is shown from now on; its numbers are in `blob`."""

    tensor: TensorReport
    blob: bytes

    def check(self) -> None:
        """Raise `ValueError` if the numbers are not there, or the tensor is too large."""
        check_shown((self.tensor,), self.blob)
