"""Python code as styled text: the code and the output of a step, and beside each line the shapes of its tensors.

Named shapes must fit beside the longest line, bare shapes only beside their own line. A ribbon that does not fit is
shortened, then left out; code is never wrapped for it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache, lru_cache

from rich.cells import cell_len
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from attn_tutor.lessons.format.lesson import Step
from attn_tutor.lessons.reading import package_source
from attn_tutor.lessons.render.numbers import visible
from attn_tutor.lessons.results.line_shapes import LineShapes, Shape
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.render.palette import BOLD, DIM

MARKED, UNDERLINED = Style(reverse=True, bold=True, dim=False), Style(underline=True)
NUMBER = Style(dim=True)
LINE = "line"
"""What tells in a style which line it numbers."""


@cache
def _highlighter(theme: str) -> Syntax:
    return Syntax("", "python", theme=theme)


def rich_code(code: str, theme: str, numbered: bool = True) -> Text:
    """Highlight code with a Pygments theme, with line numbers if `numbered`.

    The theme's background is left out, so that the screen's own shows through, which also costs fewer bytes.
    """
    return _highlighted(code, theme, numbered).copy()


@lru_cache(maxsize=8)
def _highlighted(code: str, theme: str, numbered: bool) -> Text:
    # The pages of a program have the same code, and a file of a thousand lines takes as long as all else on a page.
    colored = _highlighter(theme).highlight(code.rstrip("\n"))
    text = Text(colored.plain.rstrip("\n"))
    for start, end, style in colored.spans:
        if isinstance(style, Style) and (style.color or style.bold or style.italic):
            text.stylize(Style(color=style.color, bold=style.bold, italic=style.italic), start, end)
    if not numbered:
        return text
    lines = text.split("\n", allow_blank=True)
    width = len(str(len(lines)))
    numbers = (
        Text.assemble((f"{number:{width}}  ", NUMBER + Style(meta={LINE: number})))
        for number in range(1, len(lines) + 1)
    )
    return Text("\n").join(number.append_text(line) for number, line in zip(numbers, lines, strict=True))


def line_of(row: Text) -> int | None:
    """Return the number that `rich_code` has given to a row; None for a row of anything else."""
    return next(
        (style.meta[LINE] for _, _, style in row.spans if isinstance(style, Style) and LINE in style.meta), None
    )


def marked(code: Text, line: int | None, changed: Collection[int] = ()) -> Text:
    """Mark one line of numbered code (number reversed, code bold) and underline the changed lines.

    What stands above or below the code, such as what it has printed, has no lines.
    """
    rows = code.split("\n", allow_blank=True)
    last = max((number for row in rows if (number := line_of(row))), default=0)
    width = len(str(last))
    for row in rows:
        number = line_of(row)
        if number is not None and number == line:
            row.stylize(MARKED, 0, width)
            row.stylize(BOLD, width)
        if number in changed:
            row.stylize(UNDERLINED, width + 2)
    return Text("\n").join(rows)


say = Wording("screen/lesson")


def code_text(step: Step, theme: str) -> Text:
    """Return the code of a step, below that of the package if the step shows some, colored by a theme of Pygments."""
    text = Text()
    if step.source_name:
        module, _, name = step.source_name.partition(":")
        file = f"{module.replace('.', '/')}.py"
        text.append("# " + say("source", "{name}, in {file}", name=name, file=file) + "\n", DIM)
        text.append_text(rich_code(package_source.read(step.source_name), theme, numbered=False))
    if step.run_code.strip():
        if text.plain:
            text.append("\n\n")
        text.append_text(rich_code(step.run_code, theme))
    return text


def output_text(result: StepResult) -> Text:
    """Return what a step has printed, how it failed, and the notes on it."""
    said = [*([result.error.message] if result.error is not None else ()), *result.notes]
    texts = Text(result.stdout.rstrip("\n")), *(Text(each, BOLD) for each in said)
    return Text("\n").join(each for each in texts if each)


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
        ribbon = ribbon_text(shapes[number], room, width - row.cell_len - GAP, unicode) if number in shapes else ""
        if ribbon:
            row.append(" " * (width - row.cell_len - cell_len(ribbon)))
            row.append(ribbon, RIBBON)
    return Text("\n").join(rows)


def ribbon_text(line: LineShapes, room: int, own_room: int, unicode: bool = True) -> str:
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


def named_shape(shape: Shape) -> str:
    """Return a shape with its name and axes: `queries (b=2, heads=2, tokens=6, head_dim=4)`."""
    sizes = (
        f"{axis}={size}" if (axis := AXES.get(name, name)) else str(size)
        for name, size in zip(shape.axes, shape.sizes, strict=True)
    )
    # In a prompt, the code is the learner's own and may contain anything.
    return f"{visible(shape.name)} ({', '.join(sizes)})".strip()


def compact_shape(shape: Shape) -> str:
    """Return only the sizes of a shape: `(2,2,6,4)`."""
    return f"({','.join(map(str, shape.sizes))})"


def bare_ribbon(line: LineShapes, unicode: bool = True) -> str:
    """Return the ribbon of a line with shapes only, without names."""
    return _form(line, unicode, named_took=False, named_made=False)


def _form(line: LineShapes, unicode: bool, *, named_took: bool, named_made: bool) -> str:
    arrow, joints = _SIGNS[unicode]
    took = ""
    for index, shape in enumerate(line.took):
        joint = joints[line.joints[index - 1]] if index else ""
        # Between words, the dot of a product needs spaces around it.
        joint = f" {joint.strip()} " if joint and named_took and line.joints[index - 1] == "@" else joint
        took += joint + (named_shape(shape) if named_took else compact_shape(shape))
    made = ", ".join(named_shape(shape) if named_made else compact_shape(shape) for shape in line.made)
    return " ".join(part for part in (took, f"{arrow} {made}" if made else "") if part)
