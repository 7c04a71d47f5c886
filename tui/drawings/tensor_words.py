"""A tensor in words: the header above its drawing, its leading axes, a cell, and the statistics of a row."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from rich.cells import cell_len
from rich.style import Style

from attn_tutor.lessons.render.numbers import exact, short, truncated, visible
from attn_tutor.lessons.results.explanation import label
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.results.summaries import RowStats
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.hints import hint
from attn_tutor.tui.drawings.drawing_scene import DrawingScene, Face, index_of
from attn_tutor.tui.drawings.marks import ellipsis, times
from attn_tutor.tui.drawings.styled_line import StyledLine

say = Wording("matrix/header")

NOTE_WIDTH = 12
"""The width reserved for the note, so that the legend does not move when the note gets shorter."""


def describe(face: Face, lead: tuple[int, ...], row: int, col: int, value: float | None) -> str:
    """Describe a cell, with its exact value."""
    tensor = face.tensor
    parts = [equation(face, lead, row, col, value)]
    if len(tensor.shape) > 1:
        parts.append(say("row", "row: {name}", name=index_name(tensor, len(lead), face.row_labels[row], row)))
    if tensor.shape:
        name = index_name(tensor, len(tensor.shape) - 1, face.col_labels[col], col)
        parts.append(say("column", "column: {name}", name=name))
    return "   ".join(parts)


def equation(face: Face, lead: tuple[int, ...], row: int, col: int, value: float | None) -> str:
    """Return a cell as Python would write it, with its exact value."""
    tensor = face.tensor
    shown = exact(value, tensor.dtype) if value is not None else ("…" if face.scale.palette.unicode else "...")
    return f"{label(visible(tensor.name), index_of(tensor, lead, row, col))} = {shown}"


def draw_header(
    scene: DrawingScene, line: StyledLine, axes: Sequence[str], legend: Sequence[tuple[str, Style | None]] = ()
) -> None:
    """Draw the header: name, shape, the longest description of the axes that fits, legend, and note."""
    face, layout, colors = scene.face, scene.layout, scene.palette
    name, shape = visible(face.tensor.name), _shape(face)
    more = [scene.caption] if scene.caption else []
    if scene.lead and layout.lead < 0:
        more.append(_lead_text(face.tensor, scene.lead))
    note = scene.note
    room = layout.width - 1

    def width(left: str, with_legend: bool, with_note: bool) -> int:
        parts = [left]
        if with_legend and legend:
            parts.append("".join(text for text, _ in legend))
        if with_note and note:
            parts.append(note.ljust(NOTE_WIDTH))
        return cell_len(name) + sum(map(cell_len, parts)) + 3 * (len(parts) - 1)

    choices = (
        *(("  ".join(["", shape, *more, text]), True, True) for text in axes),
        ("  ".join(["", shape, *more]), True, True),
        ("  ".join(["", shape, *more]), False, True),
        ("  ".join(["", *more]), False, True),
        ("  ".join(["", shape, *more]), False, False),
        ("  ".join(["", *more]), False, False),
    )
    left, with_legend, with_note = next((choice for choice in choices if width(*choice) <= room), choices[-1])
    # Nobody can tell matrices apart whose names have made room for what is said about them.
    shown = truncated(name, max(1, room - cell_len(left), room // 2), ellipsis(colors))
    line.add(" ")
    line.add(shown, colors.name)
    line.add(truncated(left, max(0, room - cell_len(shown)), ellipsis(colors)))
    right = StyledLine()
    if with_legend:
        for text, style in legend:
            right.add(text, style)
    if with_note and note:
        right.add(("   " if right.width else "") + note.ljust(NOTE_WIDTH))
    line.pad_to(layout.width - right.width)
    for text, style in right.runs(right.width):
        line.add(text, style)


def draw_lead(scene: DrawingScene, line: StyledLine) -> None:
    """Draw the line of the leading indices, with the keys that change them."""
    tensor, colors = scene.face.tensor, scene.palette
    line.add(" " + _lead_text(tensor, scene.lead), colors.name)
    keys: list[str] = []
    if scene.row < 0:
        # No cursor, no keys.
        return
    if tensor.lead_shape[-1] > 1:
        keys.append(hint("matrix.head", axis_name(tensor, len(scene.lead) - 1) or _axis()))
    if len(scene.lead) > 1 and tensor.lead_shape[0] > 1:
        keys.append(hint("matrix.batch", axis_name(tensor, 0) or _axis()))
    keys += scene.keys
    while keys and line.width + 3 + cell_len("  ".join(keys)) >= scene.layout.width:
        keys.pop()
    if keys:
        line.add("   " + "  ".join(keys), colors.muted)


def axis_name(tensor: Tensor, axis: int) -> str:
    """Return the name of an axis, "" if it has none."""
    return visible(tensor.axes[axis]) if 0 <= axis < len(tensor.axes) else ""


def index_name(tensor: Tensor, axis: int, label: str, index: int) -> str:
    """Describe an index along an axis."""
    where = f"{axis_name(tensor, axis)} {index}".strip()
    return where if label in (str(index), where) else f"{label} ({where})"


def axes_text(tensor: Tensor) -> list[str]:
    rows, columns = _meaning(tensor, len(tensor.shape) - 2), _meaning(tensor, len(tensor.shape) - 1)
    parts = [say("rows", "rows: {name}", name=rows)] if rows else []
    if columns:
        parts.append(say("columns", "columns: {name}", name=columns))
    return [" " + "  ".join(parts)] if parts else []


def axes_short(face: Face) -> list[str]:
    names = [_meaning(face.tensor, axis) for axis in range(len(face.tensor.shape))][-2:]
    return [times(face.scale.palette).join(names)] if all(names) else []


def _meaning(tensor: Tensor, axis: int) -> str:
    """Return the name of an axis, "" where it says nothing: the labels of an axis of indices say what they are."""
    name = axis_name(tensor, axis)
    return "" if name == "index" else name


def _lead_text(tensor: Tensor, lead: tuple[int, ...]) -> str:
    sizes = zip(lead, tensor.lead_shape, strict=True)
    return "  ".join(
        say("lead", "{axis} {index} of {size}", axis=axis_name(tensor, axis) or _axis(), index=at, size=size)
        for axis, (at, size) in enumerate(sizes)
    )


def _axis() -> str:
    """Return what an axis without a name is called."""
    return say("axis", "axis")


def hidden_lines(above: int, below: int) -> str:
    """Say how many lines of a drawing are hidden above and below, "" if there are none."""
    hidden = [say("above", "+{count} above", count=above)] if above else []
    if below:
        hidden.append(say("below", "+{count} below", count=below))
    return "  ".join(hidden)


def _shape(face: Face) -> str:
    return times(face.scale.palette).join(map(str, face.shape)) or say("scalar", "scalar")


def title(face: Face) -> str:
    """Return name and shape."""
    return f"{visible(face.tensor.name)}  {_shape(face)}"


def legend_runs(face: Face) -> list[tuple[str, Style | None]]:
    """Return the lower bound, the looks between the bounds, and the upper bound."""
    scale, tensor = face.scale, face.tensor
    if tensor.low is None or tensor.high is None:
        return []
    looks = scale.swatches()
    if scale.kind == "mask":
        bounds = dict.fromkeys((tensor.low, tensor.high))
        runs: list[tuple[str, Style | None]] = []
        for bound, look in zip(bounds, looks, strict=True):
            runs += [("  " if runs else "", None), (f" {short(bound, tensor.dtype)}{look.glyph}", look.style)]
        return runs
    swatches = [(look.glyph, look.style) for look in looks]
    if tensor.low == tensor.high:
        return [(short(tensor.low, tensor.dtype) + " ", None), *swatches]
    high = " " + short(tensor.high, tensor.dtype)
    if scale.least is not None:
        high += " " + say("logarithmic", "log")
    return [(short(tensor.low, tensor.dtype) + " ", None), *swatches, (high, None)]


def legend_text(face: Face) -> str:
    return "".join(text for text, _ in legend_runs(face))


TOP = 5
"""The number of columns named at most."""


def row_text(tensor: Tensor, stats: RowStats, room: int, unicode: bool = True) -> str:
    """Describe a row in at most `room` columns, by its greatest values and its entropy or sum."""
    ellipsis = "…" if unicode else "~"
    dtype = tensor.dtype if tensor.dtype.startswith(("bool", "int", "uint")) else "float32"
    if len(tensor.shape) > 1:
        name = say("row-row", "row {label}", label=_label(tensor, -2, stats.row))
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
