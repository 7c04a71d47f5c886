"""The statistics of a row, in one line that fits."""

from __future__ import annotations

from math import log2

from rich.cells import cell_len

from attn_tutor.lessons.render.numbers import short, truncated, visible
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.results.summaries import RowStats
from attn_tutor.lessons.texts.wording import Wording

say = Wording("matrix/row")

TOP = 5
"""The number of columns named at most."""


def row_text(tensor: Tensor, stats: RowStats, room: int, unicode: bool = True) -> str:
    """Describe a row in at most `room` columns, by its greatest values and its entropy or sum."""
    ellipsis = "…" if unicode else "~"
    dtype = tensor.dtype if tensor.dtype.startswith(("bool", "int", "uint")) else "float32"
    if len(tensor.shape) > 1:
        name = say("row", "row {label}", label=_label(tensor, -2, stats.row))
    else:
        name = say("only-row", "row")
    head = f"{name}: "
    named = [(_column(tensor, col), _rounded(value, dtype)) for col, value in stats.top]
    best, most = truncated(name, room, ellipsis), -1
    for tail, worth in _tails(stats, dtype).items():
        for count in range(len(named) + 1):
            for longest in (12, 6):
                top = ", ".join(f"{truncated(label, longest, ellipsis)} {value}" for label, value in named[:count])
                text = head + "   ".join(filter(None, (top, tail)))
                # From the fourth column on, each is worth less.
                says = worth + min(2 * count, count + 3) + (longest == 12)
                if cell_len(text) <= room and says > most:
                    best, most = text, says
    return best


def _tails(stats: RowStats, dtype: str) -> dict[str, int]:
    """Return texts about the row as a whole, each with its information value (naming one column has the value 2)."""
    if stats.bits is not None and stats.equal_shares is not None:
        bits, most, shares = f"{stats.bits:.2f}", f"{log2(max(1, stats.support)):.2f}", f"{stats.equal_shares:.1f}"
        return {
            say(
                "entropy-explained",
                "entropy {bits} of {most} bits, like sharing evenly among {shares}",
                bits=bits,
                most=most,
                shares=shares,
            ): 9,
            say(
                "entropy-shares",
                "entropy {bits} of {most} bits, like {shares} equal shares",
                bits=bits,
                most=most,
                shares=shares,
            ): 8,
            say("entropy-of-most", "entropy {bits} of {most} bits", bits=bits, most=most): 6,
            say("entropy", "entropy {bits} bits", bits=bits): 5,
            "": 0,
        }
    total = say("sum", "sum {total}", total=_rounded(stats.total, dtype))
    if stats.low is None or stats.high is None:
        return {total: 5, "": 0}
    span = say("span", "from {low} to {high}", low=_rounded(stats.low, dtype), high=_rounded(stats.high, dtype))
    return {f"{total}   {span}": 6, total: 5, "": 0}


def _label(tensor: Tensor, axis: int, index: int) -> str:
    given = tensor.labels[axis] if len(tensor.labels) >= -axis else ()
    return visible(given[index]) if index < len(given) else str(index)


def _column(tensor: Tensor, col: int) -> str:
    """Return the label of a column, in brackets if it is a bare number, which could be mistaken for a value."""
    label = _label(tensor, -1, col)
    return f"[{label}]" if label == str(col) else label


def _rounded(value: float, dtype: str) -> str:
    if dtype == "float32" and 0.01 <= abs(value) < 1000:
        return f"{value:.2f}" if abs(value) < 100 else f"{value:.1f}"
    return short(value, dtype)
