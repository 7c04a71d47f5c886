"""The drawing of a flow: boxes in layers from top to bottom, with names, shapes and thumbnails, joined by arrows.

It follows Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system structures" (1981):
layers, then an order in each layer with few crossings, then columns, then tracks. All is in whole cells of a terminal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from rich.cells import cell_len
from rich.style import Style

from attn_tutor.lessons.render.flow_text import shape_text
from attn_tutor.lessons.render.numbers import truncated, visible
from attn_tutor.lessons.results.flow import Flow, FlowBox, nearest
from attn_tutor.tui.drawings.marks import ellipsis
from attn_tutor.tui.drawings.styled_line import Runs, StyledLine, over
from attn_tutor.tui.render.palette import Palette

LAYER_GAP = 2
"""Columns between neighbors."""

STRETCH = 4
SWEEPS = 8

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Rectangle:
    """The cells of a box: column and line of its first cell, columns and lines."""

    x: int
    y: int
    width: int
    height: int

    @property
    def middle(self) -> int:
        """The column in the middle."""
        return self.x + self.width // 2


@dataclass(frozen=True, slots=True)
class ArrowSegment:
    """A straight piece of an arrow, with both ends: from left to right, or from top to bottom."""

    x0: int
    y0: int
    x1: int
    y1: int


@dataclass(frozen=True, slots=True)
class FlowLayout:
    """Boxes and arrows on a canvas.

    Attributes:
        rectangles: of each box, by id.
        layers: the ids of the boxes in each layer, from left to right.
        arrows: the pieces of each arrow; those that lead back have none.
        heads: where each arrow ends, just above its box: column and line.
    """

    width: int
    height: int
    rectangles: Mapping[str, Rectangle]
    layers: tuple[tuple[str, ...], ...]
    arrows: Mapping[Edge, tuple[ArrowSegment, ...]]
    heads: Mapping[Edge, tuple[int, int]]


@dataclass(slots=True, eq=False)
class _Node:
    """A box, or the point where a long arrow passes a layer (`id` is then "")."""

    id: str
    width: int
    height: int
    layer: int
    x: float = 0.0
    above: list[_Node] = field(default_factory=list)
    below: list[_Node] = field(default_factory=list)

    @property
    def middle(self) -> float:
        return self.x + self.width // 2

    @property
    def start(self) -> int:
        return int(self.x)


def arrange(flow: Flow, sizes: Mapping[str, tuple[int, int]], height: int = 0) -> FlowLayout:
    """Lay out a flow whose boxes have these columns and lines.

    With `height`, arrows are up to `STRETCH` lines longer than they need to be, as far as there are so many lines.
    """
    layers, chains = _in_layers(flow, sizes)
    _reorder(layers)
    _choose_columns(layers)
    found = _route(layers, chains)
    channels = len(layers) - 1
    stretch = min(STRETCH, (height - found.height) // channels) if channels > 0 else 0
    return _route(layers, chains, stretch) if stretch > 0 else found


def least_size(flow: Flow, sizes: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """Return columns and lines that the layout of a flow has at least, in a fraction of the time of the layout."""
    layers, _ = _in_layers(flow, sizes)
    columns = max((sum(node.width + LAYER_GAP for node in layer) - LAYER_GAP for layer in layers), default=0)
    # A line for the heads of arrows between layers.
    return columns, sum(max(node.height for node in layer) + 1 for layer in layers) - 1


def _in_layers(flow: Flow, sizes: Mapping[str, tuple[int, int]]) -> tuple[list[list[_Node]], dict[Edge, list[_Node]]]:
    """Return the nodes of each layer, and the nodes that each arrow joins."""
    edges = [(arrow.source, arrow.target) for arrow in flow.arrows if not arrow.back]
    depth = _layers([box.id for box in flow.boxes], edges)
    # Each arrow ends in a column of its own, with one between.
    least = {box.id: 1 + 2 * sum(target == box.id for _, target in edges) for box in flow.boxes}
    nodes = {
        id: _Node(id, max(columns, least[id]), lines, depth[id])
        for id, (columns, lines) in ((box.id, sizes[box.id]) for box in flow.boxes)
    }
    layers: list[list[_Node]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node in nodes.values():
        layers[node.layer].append(node)
    chains = {edge: _chain(nodes[edge[0]], nodes[edge[1]], layers) for edge in edges}
    return layers, chains


def _layers(ids: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Return the layer of each box: below all that it was computed from, and inputs just above their first use."""
    sources: dict[str, list[str]] = {id: [] for id in ids}
    targets: dict[str, list[str]] = {id: [] for id in ids}
    for source, target in edges:
        sources[target].append(source)
        targets[source].append(target)
    layer: dict[str, int] = {}
    for id in ids:  # in the order of computation: sources come first
        layer[id] = 1 + max((layer[source] for source in sources[id]), default=-1)
    for id in reversed(ids):
        if not sources[id] and targets[id]:
            layer[id] = min(layer[target] for target in targets[id]) - 1
    return layer


def _chain(source: _Node, target: _Node, layers: list[list[_Node]]) -> list[_Node]:
    """Connect two boxes; where the arrow passes layers between them, it gets a node of its own there."""
    chain = [source]
    for layer in range(source.layer + 1, target.layer):
        passing = _Node("", 1, 1, layer)
        layers[layer].append(passing)
        chain.append(passing)
    chain.append(target)
    for upper, lower in pairwise(chain):
        upper.below.append(lower)
        lower.above.append(upper)
    return chain


def _reorder(layers: list[list[_Node]]) -> None:
    """Order the nodes of each layer by where their neighbors are, and keep the order with the fewest crossings."""
    best = _crossings(layers)
    order = [list(layer) for layer in layers]
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in layers[1:] if down else layers[-2::-1]:
            near = {node: index for other in layers for index, node in enumerate(other)}
            ranks = {}
            for index, node in enumerate(layer):
                neighbors = node.above if down else node.below
                ranks[node] = sum(map(near.__getitem__, neighbors)) / len(neighbors) if neighbors else index
            layer.sort(key=ranks.__getitem__)
        crossings = _crossings(layers)
        if crossings < best:
            best, order = crossings, [list(layer) for layer in layers]
    layers[:] = order


def _crossings(layers: list[list[_Node]]) -> int:
    """Count the pairs of arrows that cross."""
    count = 0
    for layer in layers:
        below = {other for node in layer for other in node.below}
        index = {node: at for at, node in enumerate(node for other in layers for node in other if node in below)}
        ends = [index[other] for node in layer for other in sorted(node.below, key=index.__getitem__)]
        count += sum(one > other for at, one in enumerate(ends) for other in ends[at + 1 :])
    return count


def _choose_columns(layers: list[list[_Node]]) -> None:
    """Choose columns: each node near the middle of its neighbors, and none on top of another."""
    for layer in layers:
        _pack(layer, [0.0] * len(layer), [1.0] * len(layer))
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else layers[::-1]:
            wanted, weights = [], []
            for node in layer:
                neighbors = (node.above or node.below) if down else (node.below or node.above)
                middle = sum(other.middle for other in neighbors) / len(neighbors) if neighbors else node.middle
                wanted.append(middle - node.width // 2)
                # Long arrows are best straight.
                weights.append(4.0 if not node.id else 1.0)
            _pack(layer, wanted, weights)
    _close_gaps(layers)
    left = min((node.x for layer in layers for node in layer), default=0.0)
    for layer in layers:
        last = -LAYER_GAP
        for node in layer:
            node.x = max(round(node.x - left), last + LAYER_GAP)
            last = node.start + node.width


def _close_gaps(layers: list[list[_Node]]) -> None:
    """Move parts of the flow that no arrow joins next to each other: nothing else pulls them together."""
    parts: list[set[_Node]] = []
    for node in (node for layer in layers for node in layer):
        near = {node, *node.above, *node.below}
        apart, joined = [part for part in parts if not part & near], [part for part in parts if part & near]
        parts = [*apart, near.union(*joined)]
    for part in sorted(parts, key=lambda part: min(node.x for node in part)):
        room = min(_room_left(layer, part) for layer in layers if part & set(layer))
        for node in part if 0 < room < float("inf") else ():
            node.x -= room


def _room_left(layer: list[_Node], part: set[_Node]) -> float:
    """Return the columns between the first node of a part in a layer and the node before it; infinite without one."""
    first = next(index for index, node in enumerate(layer) if node in part)
    return layer[first].x - (layer[first - 1].x + layer[first - 1].width + LAYER_GAP) if first else float("inf")


def _pack(layer: list[_Node], wanted: Sequence[float], weights: Sequence[float]) -> None:
    """Place nodes in their order as near as possible to where they want to be (least squares, pooling neighbors)."""
    offsets, total = [], 0
    for node in layer:
        offsets.append(total)
        total += node.width + LAYER_GAP
    for node, position in zip(layer, _spread(wanted, offsets, weights), strict=True):
        node.x = position


def _spread(wanted: Sequence[float], offsets: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return positions as near as possible to the wanted ones that are as far from each other as the offsets are."""
    blocks: list[tuple[float, float, int]] = []
    for want, offset, weight in zip(wanted, offsets, weights, strict=True):
        block = (want - offset, weight, 1)
        while blocks and blocks[-1][0] > block[0]:
            mean, other, count = blocks.pop()
            both = other + block[1]
            block = ((mean * other + block[0] * block[1]) / both, both, count + block[2])
        blocks.append(block)
    positions = [mean for mean, _, count in blocks for _ in range(count)]
    return [position + offset for position, offset in zip(positions, offsets, strict=True)]


@dataclass(slots=True)
class _Net:
    """All arrows that leave one node towards the next layer: they share a track."""

    node: _Node
    start: int
    ends: dict[_Node, int]
    track: int = 0

    @property
    def straight(self) -> bool:
        return all(end == self.start for end in self.ends.values())

    @property
    def span(self) -> tuple[int, int]:
        columns = (self.start, *self.ends.values())
        return min(columns), max(columns)


def _route(layers: list[list[_Node]], chains: Mapping[Edge, list[_Node]], stretch: int = 0) -> FlowLayout:
    rectangles: dict[str, Rectangle] = {}
    pieces: dict[tuple[_Node, _Node], list[ArrowSegment]] = {}
    top, width = 0, 0
    for number, layer in enumerate(layers):
        height = max(node.height for node in layer)
        for node in layer:
            if node.id:
                rectangles[node.id] = Rectangle(node.start, top, node.width, node.height)
                width = max(width, node.start + node.width)
        bottom = top + height
        nets = _nets(layer)
        tracks = _assign_tracks(nets)
        # One more line for the heads of the arrows.
        following = bottom + tracks + 1 + stretch
        for net in nets:
            begin = top + net.node.height if net.node.id else top
            for target, end in net.ends.items():
                track = bottom + net.track + stretch // 2
                parts = [ArrowSegment(net.start, begin, net.start, following - 1 if end == net.start else track)]
                if end != net.start:
                    parts += [
                        ArrowSegment(min(end, net.start), track, max(end, net.start), track),
                        ArrowSegment(end, track, end, following - 1),
                    ]
                pieces[net.node, target] = parts
                width = max(width, end + 1)
        top = following if number + 1 < len(layers) else bottom
    arrows: dict[Edge, tuple[ArrowSegment, ...]] = {}
    heads: dict[Edge, tuple[int, int]] = {}
    for edge, chain in chains.items():
        parts = [part for pair in pairwise(chain) for part in pieces[pair]]
        arrows[edge] = tuple(parts)
        heads[edge] = (parts[-1].x1, parts[-1].y1)
    order = tuple(tuple(node.id for node in layer if node.id) for layer in layers)
    return FlowLayout(width, top, rectangles, order, arrows, heads)


def _nets(layer: list[_Node]) -> list[_Net]:
    """Return what leaves a layer; arrows end side by side on their box, in the order of where they come from."""
    arriving: dict[_Node, list[_Node]] = {}
    for node in layer:
        for target in node.below:
            arriving.setdefault(target, []).append(node)
    columns: dict[tuple[_Node, _Node], int] = {}
    for target, sources in arriving.items():
        sources.sort(key=lambda node: node.middle)
        room = target.width - 2 if target.id else 1
        if not target.id:
            columns[sources[0], target] = int(target.middle)
            continue
        # As straight down as possible.
        first, last = target.start + 1, target.start + room
        wanted = [min(max(int(source.middle), first), last) for source in sources]
        ends = _spread(wanted, [2 * index for index in range(len(sources))], [1.0] * len(sources))
        least = first
        for number, (source, end) in enumerate(zip(sources, ends, strict=True), 1):
            column = min(max(round(end), least), last - 2 * (len(sources) - number))
            columns[source, target] = column
            least = column + 2
    return [
        _Net(node, int(node.middle), {target: columns[node, target] for target in node.below})
        for node in layer
        if node.below
    ]


def _assign_tracks(nets: list[_Net]) -> int:
    """Give each net a track on which it meets no other; return the number of tracks.

    A net whose end is in the column where another one starts runs below that one, or they would lie on each other.
    Where that goes round in a circle, one of them leaves its box in another column.
    """
    bent = [net for net in nets if not net.straight]
    below = _above(bent)
    tracks: list[list[_Net]] = []
    done: dict[int, int] = {}
    todo = sorted(bent, key=lambda net: net.span)
    while todo:
        ready = [net for net in todo if below[id(net)] <= done.keys()]
        if not ready and _step_aside(todo, nets):
            below = _above(bent)
            continue
        ready = ready or todo[:1]
        for net in ready:
            first = 1 + max((done[other] for other in below[id(net)] if other in done), default=-1)
            track = first
            while track < len(tracks) and any(_meet(net, other) for other in tracks[track]):
                track += 1
            while track >= len(tracks):
                tracks.append([])
            tracks[track].append(net)
            net.track = done[id(net)] = track
            todo.remove(net)
    return len(tracks)


def _above(nets: Sequence[_Net]) -> dict[int, set[int]]:
    """Return for each net, by `id`, those that start in a column where it ends."""
    return {
        id(net): {
            id(other)
            for other in nets
            if net is not other and other.start in net.ends.values() and other.start != net.start
        }
        for net in nets
    }


def _step_aside(circle: Sequence[_Net], nets: Sequence[_Net]) -> bool:
    """Have a net that starts where another one of the circle ends leave its box elsewhere; return whether one can."""
    taken = {column for net in nets for column in (net.start, *net.ends.values())}
    for net in circle:
        node = net.node
        free = [column for column in range(node.start, node.start + node.width) if column not in taken]
        if node.id and free and any(net.start in other.ends.values() for other in circle if other is not net):
            net.start = min(free, key=lambda column: abs(column - net.start))
            return True
    return False


def _meet(one: _Net, other: _Net) -> bool:
    return one.span[0] <= other.span[1] and other.span[0] <= one.span[1]


Detail = Literal["large", "full", "thumbnail", "line"]
"""How much a box shows: a frame with name, shape and a thumbnail, which may be large, with a line for each row; name,
shape and thumbnail without a frame; name and shape on one line."""

DETAILS: tuple[Detail, ...] = ("large", "full", "thumbnail", "line")

NEAREST = (99, 14, 12, 10, 8, 6, 5, 4, 3, 2, 1)
"""How many boxes are drawn, where not all of them fit."""

FEW = 3
"""Boxes up to which thumbnails say less than more boxes without."""

LARGE_CELL = 2
"""Columns of a number in a large thumbnail."""

WIDEST_NAME, SHORT_NAME = 24, 13
"""Columns of a name; fewer where that lets the thumbnails fit."""

HALF = {True: "▀", False: "#"}
"""Two cells of a thumbnail, one above the other: a line is about as high as two columns are wide."""

UP, RIGHT, DOWN, LEFT = 1, 2, 4, 8

_JOINTS = {
    True: {
        UP: "│", DOWN: "│", UP | DOWN: "│", LEFT: "─", RIGHT: "─", LEFT | RIGHT: "─",
        DOWN | RIGHT: "╭", DOWN | LEFT: "╮", UP | RIGHT: "╰", UP | LEFT: "╯",
        UP | DOWN | RIGHT: "├", UP | DOWN | LEFT: "┤", DOWN | LEFT | RIGHT: "┬", UP | LEFT | RIGHT: "┴",
        UP | DOWN | LEFT | RIGHT: "┼",
    },
    False: {UP: "|", DOWN: "|", UP | DOWN: "|", LEFT: "-", RIGHT: "-", LEFT | RIGHT: "-"},
}  # fmt: skip
_HEAVY = str.maketrans("│─╭╮╰╯├┤┬┴┼", "┃━┏┓┗┛┣┫┳┻╋")
"""Arrows on the path of an explanation, which must be seen without colors too."""


@dataclass(frozen=True, slots=True)
class FlowMarks:
    """What is emphasized in a flow.

    Attributes:
        current: the boxes that the step shows.
        path: the boxes that an explanation leads through.
    """

    current: frozenset[str] = frozenset()
    path: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _ArrowCells:
    """The cells that arrows of one box run through, with the directions in which they leave each cell."""

    cells: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(self, x: int, y: int, directions: int) -> None:
        self.cells[x, y] = self.cells.get((x, y), 0) | directions


@dataclass(frozen=True)
class FlowDrawing:
    """A flow that has been laid out and drawn on a canvas of its own size; a view shows a part of it."""

    flow: Flow
    layout: FlowLayout
    detail: Detail
    palette: Palette
    marks: FlowMarks
    arrows: Mapping[tuple[int, int], tuple[str, Style | None]]
    rows: Mapping[int, tuple[str, ...]]
    """The ids of the boxes on each line, from left to right."""
    signs: Mapping[str, str]
    """What stands behind the shape of each box."""
    names: int
    """The most columns of a name."""

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines of the whole drawing."""
        return self.layout.width, self.layout.height

    def line(self, y: int, left: int, width: int, chosen: str = "", *, focused: bool = True) -> Runs:
        """Return the part of a line from column `left` on, `width` columns wide; `chosen` is the box at the cursor."""
        cells: list[tuple[str, Style | None]] = [
            self.arrows.get((x, y), (" ", None)) for x in range(left, left + width)
        ]
        for id in self.rows.get(y, ()):
            area = self.layout.rectangles[id]
            x = area.x - left
            for text, style in self._box_line(id, y - area.y, area, chosen == id, focused):
                for character in text:
                    size = cell_len(character)
                    if x >= 0 and x + size <= width:
                        cells[x : x + size] = [(character, style), *[("", style)] * (size - 1)]
                    x += size
        line = StyledLine()
        for character, style in cells:
            line.add(character, style)
        return line.runs(width)

    def _box_line(
        self, id: str, line: int, area: Rectangle, chosen: bool, focused: bool
    ) -> Iterable[tuple[str, Style | None]]:
        box, colors = self.flow.box(id), self.palette
        assert box is not None
        style = self._emphasis(id)
        if chosen:
            style = colors.cursor if focused else colors.current
        title = _title(box, colors, self.names)
        if self.detail == "line":
            shape = f" {facts}" if (facts := shape_text(box.shape, colors.unicode)) else ""
            yield "[" if not chosen else ">", style
            yield title, style or colors.name
            yield f"{shape}{self.signs[id]}".ljust(area.width - 2 - cell_len(title)), style
            yield "]" if not chosen else "<", style
            return
        shape = shape_text(box.shape, colors.unicode)
        if self.detail == "thumbnail":
            drawn = 0
            for text, look in self._thumbnail(box, line):
                yield text, look
                drawn += len(text)
            columns = _thumbnail_width(box)
            yield " " * (columns - drawn + bool(columns)), None
            if line == 0:
                yield title, style or colors.name
            elif line == 1:
                yield f"{shape}{self.signs[id]}".strip(), style or colors.muted
            return
        across, corners = ("─", "╭╮╰╯│") if colors.unicode else ("-", "++++|")
        # An underlined frame looks like one that is crossed out.
        edge = style + Style(underline=False) if style is not None else None
        if line == 0:
            facts = f"{f' {shape}' if shape else ''}{self.signs[id]}"
            fill = area.width - 4 - cell_len(title) - cell_len(facts)
            yield f"{corners[0]} ", edge
            yield title, style or colors.name
            yield f"{facts} {across * fill}{corners[1]}", edge
        elif line == area.height - 1:
            yield f"{corners[2]}{across * (area.width - 2)}{corners[3]}", edge
        else:
            yield f"{corners[4]} ", edge
            drawn = 0
            for text, look in self._thumbnail(box, line - 1):
                yield text, look
                drawn += len(text)
            yield " " * (area.width - 3 - drawn), None
            yield corners[4], edge

    def _emphasis(self, id: str) -> Style | None:
        if id in self.marks.path:
            return (
                over(self.palette.operand, self.palette.current) if id in self.marks.current else self.palette.operand
            )
        return self.palette.current if id in self.marks.current else None

    def _thumbnail(self, box: FlowBox, line: int) -> Iterable[tuple[str, Style | None]]:
        """Return a line of the thumbnail of a tensor, which shows two of its rows, or one if it is large."""
        scale = self.palette.scale(box.kind, box.low, box.high)
        if self.detail == "large":
            for value in box.thumbnail[line] if line < len(box.thumbnail) else ():
                look = scale.look(value)
                yield look.glyph * LARGE_CELL, look.style
            return
        rows = box.thumbnail[2 * line : 2 * line + 2]
        if not rows:
            return
        for column, upper in enumerate(rows[0]):
            lower = rows[1][column] if len(rows) > 1 else None
            if not self.palette.colored:
                look = scale.look(upper if lower is None else max(upper, lower))
                yield look.glyph, look.style
                continue
            ground = (scale.look(lower).style if lower is not None else None) or Style()
            top = scale.look(upper).style
            yield HALF[self.palette.unicode], Style(color=top.bgcolor if top else None, bgcolor=ground.bgcolor)


def draw(
    flow: Flow,
    detail: Detail,
    colors: Palette,
    marks: FlowMarks = FlowMarks(),
    height: int = 0,
    names: int = WIDEST_NAME,
) -> FlowDrawing:
    """Lay a flow out and draw its arrows, a little longer where there are `height` lines for it."""
    signs = _all_signs(flow, colors)
    layout = arrange(flow, _sizes(flow, detail, colors, signs, names), height)
    rows: dict[int, list[str]] = {}
    for id, area in layout.rectangles.items():
        for y in range(area.y, area.y + area.height):
            rows.setdefault(y, []).append(id)
    areas = {y: tuple(ids) for y, ids in rows.items()}
    return FlowDrawing(flow, layout, detail, colors, marks, _arrows(layout, colors, marks), areas, signs, names)


def fitting(
    flow: Flow,
    width: int,
    height: int,
    colors: Palette,
    marks: FlowMarks = FlowMarks(),
    names: int = WIDEST_NAME,
) -> FlowDrawing:
    """Draw a flow with as much detail as fits; what does not fit at all is drawn with the least."""
    return _fitting(flow, width, height, colors, marks, names) or draw(flow, DETAILS[-1], colors, marks, height, names)


def _fitting(flow: Flow, width: int, height: int, colors: Palette, marks: FlowMarks, names: int) -> FlowDrawing | None:
    """Draw a flow with as much detail as fits; return None if it does not fit at all."""
    signs = _all_signs(flow, colors)
    for detail in DETAILS:
        columns, lines = least_size(flow, _sizes(flow, detail, colors, signs, names))
        if columns <= width and lines <= height:
            drawing = draw(flow, detail, colors, marks, height, names)
            if drawing.size[0] <= width and drawing.size[1] <= height:
                return drawing
    return None


def nearest_fitting(
    flow: Flow, width: int, height: int, colors: Palette, marks: FlowMarks = FlowMarks()
) -> FlowDrawing:
    """Draw a flow with thumbnails where they fit, if need be without the boxes that are far from what is shown."""
    counts = sorted({min(count, len(flow.boxes)) for count in NEAREST}, reverse=True)
    lines: FlowDrawing | None = None
    for count in counts:
        part = flow if count == len(flow.boxes) else nearest(flow, count)
        long = any(cell_len(visible(box.name)) > SHORT_NAME for box in part.boxes)
        for names in (WIDEST_NAME, SHORT_NAME) if long else (WIDEST_NAME,):
            drawing = _fitting(part, width, height, colors, marks, names)
            if drawing is None:
                continue
            if drawing.detail != DETAILS[-1]:
                few = lines is not None and len(drawing.flow.boxes) < FEW < len(lines.flow.boxes)
                return lines if lines is not None and few else drawing
            lines = lines or drawing
    # What does not fit is not torn: it is left out.
    return lines or draw(nearest(flow, 0), DETAILS[-1], colors)


def _all_signs(flow: Flow, colors: Palette) -> dict[str, str]:
    return {box.id: _signs(flow, box, colors) for box in flow.boxes}


def _sizes(
    flow: Flow, detail: Detail, colors: Palette, signs: Mapping[str, str], names: int
) -> dict[str, tuple[int, int]]:
    return {box.id: size_of(box, detail, colors, signs[box.id], names) for box in flow.boxes}


def size_of(box: FlowBox, detail: Detail, colors: Palette, signs: str, names: int = WIDEST_NAME) -> tuple[int, int]:
    """Return the columns and lines of a box with these signs behind its shape and so many columns for its name."""
    shape, title = shape_text(box.shape, colors.unicode), cell_len(_title(box, colors, names))
    lines, columns = -(-len(box.thumbnail) // 2), _thumbnail_width(box)
    if detail == "large":
        lines, columns = len(box.thumbnail), LARGE_CELL * columns
    if detail == "thumbnail":
        facts = cell_len(f"{shape}{signs}".strip())
        return columns + bool(columns) + max(title, facts), max(1 + bool(facts), lines)
    text = title + (1 + len(shape) if shape else 0) + cell_len(signs)
    if detail == "line":
        return text + 2, 1
    return max(text, columns) + 4, 2 + lines


def _thumbnail_width(box: FlowBox) -> int:
    return max(map(len, box.thumbnail), default=0)


def _title(box: FlowBox, colors: Palette, names: int) -> str:
    return truncated(visible(box.name), names, ellipsis(colors))


def _signs(flow: Flow, box: FlowBox, colors: Palette) -> str:
    """Return signs behind the shape: how often the code ran, what it goes on from in a loop, that it can be opened.

    And how many boxes it was computed from that are left out.

    It may go on from itself, or from boxes after it, which are named, since no arrow leads back.
    """
    times = f" {'×' if colors.unicode else 'x'}{box.times}" if (box.times or 0) > 1 else ""
    later = ", ".join(visible(source.name) for id in flow.sources_again(box.id) if (source := flow.box(id)) is not None)
    later = f" {truncated(later, WIDEST_NAME // 2, ellipsis(colors))}" if later else ""
    loops = f" {'↺' if colors.unicode else '@'}{later}" if box.loops or later else ""
    unseen = f" {'←' if colors.unicode else '<'}{box.unseen}" if box.unseen else ""
    return f"{times}{loops}{unseen}{' +' if box.opens else ''}"


def _arrows(layout: FlowLayout, colors: Palette, marks: FlowMarks) -> dict[tuple[int, int], tuple[str, Style | None]]:
    """Return the cells of all arrows; those between boxes of the path come on top."""
    nets: dict[tuple[str, bool], _ArrowCells] = {}
    for edge, parts in layout.arrows.items():
        net = nets.setdefault((edge[0], _is_on_path(edge, marks.path)), _ArrowCells())
        for part in parts:
            if part.x0 == part.x1:
                for y in range(part.y0, part.y1 + 1):
                    net.add(part.x0, y, (UP if y > part.y0 else 0) | (DOWN if y < part.y1 else 0))
            else:
                for x in range(part.x0, part.x1 + 1):
                    net.add(x, part.y0, (LEFT if x > part.x0 else 0) | (RIGHT if x < part.x1 else 0))
        # The line begins at the bottom of its box.
        net.add(parts[0].x0, parts[0].y0, UP)
    cells: dict[tuple[int, int], tuple[str, Style | None]] = {}
    lit = Style(color=colors.current.color, bold=True)
    for (_, on_path), net in sorted(nets.items(), key=lambda item: item[0][1]):
        for at, directions in net.cells.items():
            character = _JOINTS[colors.unicode].get(directions, "+")
            if at in cells and directions == LEFT | RIGHT:
                # Lines that only cross do not join: the vertical one goes through.
                continue
            cells[at] = (character.translate(_HEAVY), lit) if on_path else (character, colors.muted)
    for edge, at in layout.heads.items():
        cells[at] = "▼" if colors.unicode else "v", lit if _is_on_path(edge, marks.path) else colors.muted
    return cells


def _is_on_path(edge: Edge, path: Collection[str]) -> bool:
    return edge[0] in path and edge[1] in path
