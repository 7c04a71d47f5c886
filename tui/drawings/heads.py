"""All heads of a tensor side by side, each as a thumbnail in shades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, isnan

from rich.style import Style

from attn_tutor.lessons.render.numbers import truncated, visible
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.results.summaries import Blocks, How
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.hints import hint
from attn_tutor.tui.drawings.cell_styles import background
from attn_tutor.tui.drawings.drawing_scene import Face, GridLayout, Scene
from attn_tutor.tui.drawings.grid import draw, layout
from attn_tutor.tui.drawings.overview import BlockPlan, bounds, caption, face_of, how_word
from attn_tutor.tui.drawings.styled_line import Runs, StyledLine

say = Wording("matrix/heads")

NARROWEST, LOWEST = 4, 2
"""The minimum columns and lines of a thumbnail."""


@dataclass(frozen=True, slots=True)
class ThumbnailGrid:
    """The arrangement of thumbnails: how many side by side, their columns and lines, and how they are divided."""

    across: int
    width: int
    height: int
    division: BlockPlan


@dataclass(frozen=True, slots=True)
class Heads:
    """Everything that the drawing of all heads depends on; `scene` is for the header and the leading axes above it."""

    scene: Scene
    thumbs: ThumbnailGrid
    grids: Mapping[tuple[int, ...], Blocks]

    @property
    def layout(self) -> GridLayout:
        """The layout of the header and the leading axes."""
        return self.scene.layout

    def head_at(self, x: int, y: int) -> int | None:
        """Return the head whose thumbnail is at x and y, None if there is none."""
        tier, slot = (y - self.layout.labels) // (self.thumbs.height + 1), x // (self.thumbs.width + 1)
        head = tier * self.thumbs.across + slot
        inside = y >= self.layout.labels and slot < self.thumbs.across
        return head if inside and head < self.scene.face.tensor.lead_shape[-1] else None

    @property
    def title_at(self) -> tuple[int, int]:
        """The x and y at which the title of the chosen head begins."""
        tier, slot = divmod(self.scene.lead[-1], self.thumbs.across)
        return slot * (self.thumbs.width + 1) + 2, self.layout.labels + tier * (self.thumbs.height + 1)


def arrange(face: Face, width: int, height: int) -> ThumbnailGrid | None:
    """Return the arrangement with the largest thumbnails, None if they do not all fit."""
    count = face.tensor.lead_shape[-1] if face.tensor.lead_shape else 0
    # The first title replaces the line of labels.
    lines = height - max(0, layout(face, width, height, 0, 0).labels)
    best: ThumbnailGrid | None = None
    for across in range(1, count + 1):
        down = -(-count // across)
        columns, rows = width // across - 1, lines // down - 1
        # A line is as high as two columns are wide.
        if (
            columns >= NARROWEST
            and rows >= LOWEST
            and (best is None or min(columns, 2 * rows) > min(best.width, 2 * best.height))
        ):
            best = ThumbnailGrid(across, columns, rows, _division(face.tensor, columns, rows))
    return best


def _division(tensor: Tensor, columns: int, lines: int) -> BlockPlan:
    rows, cols = tensor.matrix_shape
    return BlockPlan(-(-rows // lines), -(-cols // columns), 0)


def scene_of(
    scene: Scene, thumbs: ThumbnailGrid, how: How, grids: Mapping[tuple[int, ...], Blocks], note: str = ""
) -> Heads:
    """Return the drawing of all heads of a scene's tensor, with the thumbnails that have arrived."""
    source, shown = scene.face, tuple(grids.values())
    face = face_of(source, thumbs.division, how, None)
    low, high, least = bounds(source.tensor, shown)
    # Use one scale for all heads, so that they can be compared.
    face = replace(
        face,
        tensor=replace(face.tensor, low=low, high=high),
        scale=replace(scene.palette.scale(face.tensor.kind, low, high), least=least),
    )
    times = "×" if scene.palette.unicode else "x"
    keys = (hint("matrix.overview", how_word("mean" if how == "max" else "max")),)
    return Heads(
        replace(
            scene, face=face, caption=note + caption(thumbs.division, how, times, source.tensor.matrix_shape), keys=keys
        ),
        thumbs,
        grids,
    )


def draw_heads(heads: Heads, y: int) -> Runs:
    """Return one line of the drawing."""
    scene, thumbs, layout = heads.scene, heads.thumbs, heads.scene.layout
    if y < layout.labels:
        return draw(scene, y)
    line = StyledLine()
    tier, inside = divmod(y - layout.labels, thumbs.height + 1)
    count = scene.face.tensor.lead_shape[-1]
    for head in range(tier * thumbs.across, min(count, (tier + 1) * thumbs.across)):
        x = (head - tier * thumbs.across) * (thumbs.width + 1)
        line.pad_to(x + 1)
        if inside == 0:
            line.add(*_title(heads, head))
        else:
            _draw_strip(heads, line, (*scene.lead[:-1], head), inside - 1)
    return line.runs(layout.width)


def _title(heads: Heads, head: int) -> tuple[str, Style | None]:
    scene = heads.scene
    axes = scene.face.tensor.axes
    axis = visible(axes[len(scene.lead) - 1]) if axes else ""
    text = f"{axis} {head}".strip()
    if len(text) > heads.thumbs.width - 2:
        text = str(head)
    if head == scene.lead[-1]:
        style = scene.palette.cursor if scene.focused else scene.palette.current
        return f"[{truncated(text, heads.thumbs.width - 2, '')}]", style
    return f" {text} ", None


def _draw_strip(heads: Heads, line: StyledLine, lead: tuple[int, ...], row: int) -> None:
    """Draw one line of a thumbnail."""
    down, across = heads.thumbs.division.shape(heads.scene.face.shape[-2:])  # type: ignore[arg-type]
    if row >= down:
        return
    blocks, scale = heads.grids.get(lead), heads.scene.face.scale
    for col in range(across):
        value = blocks.grid[row][col] if blocks else None
        look = scale.look(value)
        missing = "·" if scale.palette.unicode else "."
        glyph = missing if value is None else "!" if isnan(value) or value == inf else look.glyph
        line.add(glyph, background(look.style) if glyph == " " else look.style)


def describe(heads: Heads, how: How) -> str:
    """Describe the chosen head."""
    scene = heads.scene
    tensor = scene.face.tensor
    text = say(
        "head",
        "{name}, {axis} {index} of {size}",
        name=visible(tensor.name),
        axis=visible(tensor.axes[len(scene.lead) - 1]) if tensor.axes else say("axis", "axis"),
        index=scene.lead[-1],
        size=tensor.lead_shape[-1],
    )
    if (blocks := heads.grids.get(scene.lead)) is None:
        return text
    low, high, _ = bounds(replace(tensor, low=None, high=None), (blocks,))
    if low is None:
        return text
    if how == "max":
        span = say("max-of-blocks", "max of its blocks: from {low:.4g} to {high:.4g}", low=low, high=high)
    else:
        span = say("mean-of-blocks", "mean of its blocks: from {low:.4g} to {high:.4g}", low=low, high=high)
    return f"{text}   {span}"
