"""A tensor in words: the header above its drawing, the line of its leading axes, and the description of a cell."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.style import Style

from attn_tutor.lessons.render.numbers import exact, short, truncated, visible
from attn_tutor.lessons.results.explanation import label
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.hints import hint
from attn_tutor.tui.drawings.cell_styles import ellipsis, times
from attn_tutor.tui.drawings.drawing_scene import Face, Scene, index_of
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
    scene: Scene, line: StyledLine, axes: Sequence[str], legend: Sequence[tuple[str, Style | None]] = ()
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


def draw_lead(scene: Scene, line: StyledLine) -> None:
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
