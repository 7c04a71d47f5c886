"""The shape ribbon: to the right of each line of code, the shapes of its input and output tensors.

Named shapes must fit beside the longest line, bare shapes only beside their own line. A ribbon that does not fit is
shortened, then left out; code is never wrapped for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from attn_tutor.lessons.render.numbers import visible
from attn_tutor.lessons.results.line_shapes import LineShapes, Shape
from attn_tutor.tui.render.code_text import line_of

RIBBON = Style(dim=True)
GAP = 2
"""The minimum number of columns between the longest line and the widest ribbon."""

AXES = {"batch": "b", "head": "heads", "token": "tokens", "query": "queries", "key": "keys", "index": ""}
"""The names of axes in a ribbon, where they differ from the axes' own names."""

_SIGNS = {True: ("→", {"@": "·", ",": ", "}), False: ("->", {"@": " @ ", ",": ", "})}


def with_ribbon(code: Text, lines: Sequence[LineShapes], width: int, unicode: bool = True) -> Text:
    """Add the ribbon to the right of code that `rich_code` has styled.

    Args:
        code: The styled code; what stands above or below it has no lines.
        lines: The shapes of its lines, as `StepResult.shapes` has them.
        width: The columns available for code and ribbon.
        unicode: Whether the ribbon may contain non-ASCII characters.
    """
    rows = code.split("\n", allow_blank=True)
    room = width - max((row.cell_len for row in rows), default=0) - GAP
    shapes = {line.line: line for line in lines}
    for row in rows:
        number = line_of(row)
        ribbon = text(shapes[number], room, width - row.cell_len - GAP, unicode) if number in shapes else ""
        if ribbon:
            row.append(" " * (width - row.cell_len - cell_len(ribbon)))
            row.append(ribbon, RIBBON)
    return Text("\n").join(rows)


def text(line: LineShapes, room: int, own_room: int, unicode: bool = True) -> str:
    """Return the longest form of a line's ribbon that fits, "" if none does.

    `room` is the space in columns beside the longest line, `own_room` the space beside the line itself.
    """
    made = LineShapes(line.line, made=line.made)
    forms = (
        (_form(line, unicode, named_took=True, named_made=True), room),
        (_form(line, unicode, named_took=False, named_made=True), room),
        (_form(line, unicode, named_took=False, named_made=False), own_room),
        (_form(made, unicode, named_took=False, named_made=False), own_room),
    )
    return next((form for form, space in forms if cell_len(form) <= space), "")


def named(shape: Shape) -> str:
    """Return a shape with its name and axes: `queries (b=2, heads=2, tokens=6, head_dim=4)`."""
    sizes = (
        f"{axis}={size}" if (axis := AXES.get(name, name)) else str(size)
        for name, size in zip(shape.axes, shape.sizes, strict=True)
    )
    # In a prompt, the code is the learner's own and may contain anything.
    return f"{visible(shape.name)} ({', '.join(sizes)})".strip()


def compact(shape: Shape) -> str:
    """Return only the sizes of a shape: `(2,2,6,4)`."""
    return f"({','.join(map(str, shape.sizes))})"


def bare(line: LineShapes, unicode: bool = True) -> str:
    """Return the ribbon of a line with shapes only, without names."""
    return _form(line, unicode, named_took=False, named_made=False)


def _form(line: LineShapes, unicode: bool, *, named_took: bool, named_made: bool) -> str:
    arrow, joints = _SIGNS[unicode]
    took = ""
    for index, shape in enumerate(line.took):
        joint = joints[line.joints[index - 1]] if index else ""
        # Between words, the dot of a product needs spaces around it.
        joint = f" {joint.strip()} " if joint and named_took and line.joints[index - 1] == "@" else joint
        took += joint + (named(shape) if named_took else compact(shape))
    made = ", ".join(named(shape) if named_made else compact(shape) for shape in line.made)
    return " ".join(part for part in (took, f"{arrow} {made}" if made else "") if part)
