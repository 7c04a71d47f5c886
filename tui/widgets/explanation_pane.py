"""The pane in which a number explains itself: formula, digits, and the operands, from which one goes on to the next.

`lines` lays an explanation out in a number of lines; the widget holds the way that the learner has taken and the
operand that is chosen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from lessons.results.explanation import Explanation, Operand
from tui.actions.bindings import bindings
from tui.actions.hints import hint
from tui.render import explanation_text
from tui.render.numbers import truncated
from tui.tty.terminal import Terminal
from tui.widgets.line_widget import LineWidget

STRONG, DIM, CHOSEN = Style(bold=True), Style(dim=True), Style(reverse=True)
NAME = Style(color="cyan")
MOST_ARITHMETIC = 3
MOST_ROWS = 4
TERMS = (12, 8, 6, 4, 3, 2, 1)
PIECE = re.compile(r"\(\d+ more: [^)]*\)\S*|\S+")


@dataclass(frozen=True, slots=True)
class Choice:
    """Which operand is chosen: the row of operands, and the place in it."""

    row: int = 0
    place: int = 0


@dataclass(frozen=True)
class PathStop:
    """One stop on the way: an explanation, and what is chosen in it."""

    explanation: Explanation
    choice: Choice = Choice()
    written: dict[tuple[int, int, bool], list[Text]] = field(default_factory=dict, compare=False, repr=False)
    """The arithmetic in so many columns and lines: it does not depend on the choice, and long sums take a while."""

    @cached_property
    def rows(self) -> tuple[explanation_text.Group, ...]:
        """The rows of operands."""
        return explanation_text.groups(self.explanation)

    @property
    def row(self) -> explanation_text.Group:
        """The row in which an operand is chosen; there is none if there are no operands."""
        return self.rows[self.choice.row]

    @property
    def operand(self) -> Operand | None:
        """The chosen operand, None if there is none."""
        return None if self.explanation.leaf else self.explanation.operands[self.row.positions[self.choice.place]]

    def moved(self, rows: int, places: int) -> PathStop:
        """With another operand chosen; at the edges nothing changes."""
        known = self.rows
        if not known:
            return self
        row = min(max(self.choice.row + rows, 0), len(known) - 1)
        place = min(max(self.choice.place + places, 0), len(known[row].positions) - 1)
        found = replace(self, choice=Choice(row, place))
        # The same rows, which are not to be found anew.
        found.__dict__["rows"] = known
        return found


ALL = 1000
"""Lines that are enough for everything."""


def lines(
    way: tuple[PathStop, ...], width: int, height: int, here: str = "", unicode: bool = True, tail: bool = False
) -> list[Text]:
    """What the last stop of a way shows in at most so many lines of this width; `tail`: its last lines.

    What helps least is left out first: notes and details, the breadcrumbs, all but the chosen row of operands, digits.
    """
    if not way or height < 1:
        return []
    if tail:
        return lines(way, width, ALL, here, unicode)[-height:]
    stop = way[-1]
    explanation = stop.explanation
    if height == 1:
        return [_clipped(Text(explanation_text.one_line(explanation, width, here, unicode)), width, unicode)]
    head = _head(explanation, width, here, unicode)
    rows = _rows(stop, width, unicode)
    key = (width, min(MOST_ARITHMETIC, max(1, height - 2)), unicode)
    if key not in stop.written:
        stop.written[key] = _arithmetic(explanation, *key)
    arithmetic = stop.written[key]
    group = stop.row.pattern if rows else ""
    crumbs = Text(explanation_text.crumbs([item.explanation for item in way], group, unicode, width), DIM)
    extra = [*_details(explanation, width), *_notes(explanation, width)]
    left = height - 1
    shown_rows = _around(stop.choice.row, len(rows), min(MOST_ROWS, left))
    if len(arithmetic) + len(shown_rows) > left:
        shown_rows = _around(stop.choice.row, len(rows), max(1, left - len(arithmetic)))
    left -= len(shown_rows)
    arithmetic = arithmetic[: max(0, left)]
    left -= len(arithmetic)
    with_crumbs = left > 0
    left -= with_crumbs
    found = [
        *([crumbs] if with_crumbs else []),
        head,
        *arithmetic,
        *(rows[number] for number in shown_rows),
        *_cut(extra, max(0, left), unicode),
    ]
    return [_clipped(text, width, unicode) for text in found]


def _cut(extra: list[Text], room: int, unicode: bool) -> list[Text]:
    """As many lines as there is room for; the last one says how many more there are."""
    if len(extra) <= room or not room:
        return extra[:room]
    return [*extra[: room - 1], Text(f"  {_dots(unicode)} {len(extra) - room + 1} more lines: page down", DIM)]


def wanted(way: tuple[PathStop, ...], width: int, here: str = "", unicode: bool = True) -> int:
    """How many lines show everything."""
    return len(lines(way, width, ALL, here, unicode))


def _dots(unicode: bool) -> str:
    return "…" if unicode else "~"


def _clipped(text: Text, width: int, unicode: bool) -> Text:
    """The text cut to at most `width` columns; the last one says that it was cut."""
    if text.cell_len > width:
        text.truncate(width - 1)
        text.append(_dots(unicode))
    return text


def _head(explanation: Explanation, width: int, here: str, unicode: bool) -> Text:
    """What the number is, in symbols, and at the right where that was said."""
    e = explanation
    result = explanation_text.readable(e.value, e.dtype)
    symbols = (
        explanation_text.symbols(e, unicode) if not e.leaf else f"{result}   {explanation_text.WORDS.get(e.op, e.op)}"
    )
    text = Text.assemble((e.label, STRONG), f" = {symbols}")
    place = explanation_text.where(e, here)
    room = width - cell_len(place) - 2
    if place and text.cell_len <= room:
        text.append(" " * (width - text.cell_len - cell_len(place)) + place, DIM)
    return text


def _arithmetic(explanation: Explanation, width: int, most: int, unicode: bool) -> list[Text]:
    """The formula in digits, with as many terms as fit in so many lines."""
    e = explanation
    if e.leaf:
        return []
    for terms in TERMS:
        found = explanation_text.digits(e, terms, unicode)
        body = f"= {found.text} {found.sign} {found.result}" if found.text != found.result else f"= {found.result}"
        wrapped = _wrapped(body, width - 2, "  ")
        if len(wrapped) <= most and max(map(cell_len, wrapped)) <= width - 2:
            return [Text(f"  {line}") for line in wrapped]
    return [Text(f"  {found.sign} {found.result}")]


def _wrapped(text: str, width: int, hanging: str) -> list[str]:
    """The text in lines, broken before the signs that join terms."""
    pieces = PIECE.findall(text)
    found, line = [], ""
    for number, piece in enumerate(pieces):
        # A sign goes with what follows it.
        sign = piece in ("+", "-", "/", "=", "≈", "~") and number + 1 < len(pieces)
        length = cell_len(piece) + (1 + cell_len(pieces[number + 1]) if sign else 0)
        if line.strip() and cell_len(line) + 1 + length > width:
            found.append(line)
            line = hanging + piece
        else:
            line = f"{line} {piece}" if line else piece
    return [*found, line]


def _rows(stop: PathStop, width: int, unicode: bool) -> list[Text]:
    """The rows of operands, of each as many as fit around the chosen one: factors stand below each other."""
    operands, dots = stop.explanation.operands, _dots(unicode)
    # Of a thousand only those that may fit are written.
    rows = []
    for row in stop.rows:
        middle = min(stop.choice.place, len(row.positions) - 1)
        near = range(max(0, middle - width), min(middle + width, len(row.positions)))
        rows.append((row, {at: _number(operands[row.positions[at]]) for at in near}))
    if not rows:
        return []
    cell = max(len(text) for _, texts in rows for text in texts.values()) + 2
    # The chosen one is worth more than the end of a long name.
    longest = max(0, min(max(12, width // 2), width - 5 - cell))
    names = [truncated(row.pattern, longest, dots) for row, _ in rows]
    indent = max(map(cell_len, names))
    found = []
    for number, (row, texts) in enumerate(rows):
        size = len(row.positions)
        count = f" {dots} {size}"
        room = width - 4 - indent
        fit = size if size * cell <= room else max(1, (room - 1 - len(count)) // cell)
        first = max(0, min(stop.choice.place - fit // 2, size - fit))
        name = names[number]
        text = Text("  ").append(name, NAME).append(" " * (indent - cell_len(name) + 1))
        text.append(dots if first else " ", DIM)
        for place in range(first, min(first + fit, size)):
            chosen = Choice(number, place) == stop.choice
            text.append(" ").append(f"{texts[place].rjust(cell - 2)} ", CHOSEN if chosen else None)
        text.append(count if first + fit < size else "", DIM)
        found.append(text)
    return found


def _number(operand: Operand) -> str:
    return explanation_text.readable(operand.value, operand.dtype)


def _around(chosen: int, count: int, room: int) -> range:
    """So many of the rows that the chosen one is among them."""
    first = max(0, min(chosen - room + 1, count - room))
    return range(first, min(first + room, count))


def _details(explanation: Explanation, width: int) -> list[Text]:
    found = []
    for title, row in explanation.details:
        text = Text.assemble((f"  {title}  ", DIM))
        for place, value in enumerate(row):
            shown = explanation_text.readable(value)
            if text.cell_len + len(shown) + 12 > width and place + 1 < len(row):
                text.append(f" ({len(row) - place} more)", DIM)
                break
            text.append(f" {shown}")
        found.append(text)
    return found


def _notes(explanation: Explanation, width: int) -> list[Text]:
    found = []
    for note in explanation.notes:
        found += [Text(f"  {line}", DIM) for line in _wrapped(note, width - 2, "  ")]
    return found


NOTHING_DRAWN: tuple[tuple[PathStop, ...], Size, list[Text]] = ((), Size(0, 0), [])


class ExplanationPane(LineWidget, can_focus=True):
    """How a number was made. The arrows choose an operand, Enter goes on to it, Backspace back."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("explanation")]

    DEFAULT_CSS = """
    ExplanationPane {
        width: 1fr;
        height: auto;
    }
    """

    class Follow(Message):
        """The learner wants the chosen operand explained."""

        def __init__(self, operand: Operand) -> None:
            self.operand = operand
            super().__init__()

    class Changed(Message):
        """Another number is explained, or another operand is chosen."""

    class Closed(Message):
        """The learner has seen enough."""

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._terminal = terminal
        self._way: tuple[PathStop, ...] = ()
        self._here = ""
        self._drawn = NOTHING_DRAWN
        self._tail = False

    @property
    def explanation(self) -> Explanation | None:
        """What is explained, None while nothing is."""
        return self._way[-1].explanation if self._way else None

    @property
    def operand(self) -> Operand | None:
        """The operand that is chosen."""
        return self._way[-1].operand if self._way else None

    @property
    def hints(self) -> list[str]:
        """What the keys do with the operands, for a line of keys."""
        return [hint("explanation.choose"), hint("explanation.follow")] if self.operand is not None else []

    @property
    def depth(self) -> int:
        """How many stops the way has."""
        return len(self._way)

    def show(self, explanation: Explanation, here: str) -> None:
        """Explain a number, at the beginning of a new way. `here` is the step that the learner is in."""
        self._here = here
        self._drawn = NOTHING_DRAWN
        self._tail = False
        self._go((PathStop(explanation),))

    def go_on(self, explanation: Explanation) -> None:
        """Explain an operand of what is explained now."""
        self._go((*self._way, PathStop(explanation)))

    def clear(self) -> None:
        """Explain nothing."""
        self._way = ()

    def wanted(self, width: int) -> int:
        """How many lines show everything at a width."""
        return wanted(self._way, max(20, width - 2), self._here, self._terminal.unicode)

    def _go(self, way: tuple[PathStop, ...]) -> None:
        before = self._drawn[2] if self._drawn[:2] == (self._way, self.size) else None
        self._way, self._tail, self._drawn = way, False, NOTHING_DRAWN
        self._repaint(before)
        self.post_message(self.Changed())

    def _repaint(self, before: list[Text] | None) -> None:
        """Repaint the lines that are not as they were."""
        if before is None or not self.size:
            self.refresh()
            return
        found = self._lines()
        for y in range(self.size.height):
            old, new = (texts[y] if y < len(texts) else Text() for texts in (before, found))
            # Rich takes two texts for equal whose styles differ.
            if (old, old.spans, old.style) != (new, new.spans, new.style):
                self.refresh_line(y)

    def _lines(self) -> list[Text]:
        """What is drawn."""
        if self._drawn[:2] != (self._way, self.size):
            # A sum of hundreds of terms takes a while to lay out: not for each line again.
            width, height = self.size
            found = lines(self._way, max(1, width - 2), height, self._here, self._terminal.unicode, self._tail)
            self._drawn = (self._way, self.size, found)
        return self._drawn[2]

    def render_line(self, y: int) -> Strip:
        """One line."""
        width, found = self.size.width, self._lines()
        text = Text(" ").append_text(found[y]) if y < len(found) else Text()
        return Strip(self.pieces(text)).adjust_cell_length(width, self.ground).simplify()

    def action_choose(self, rows: int, places: int) -> None:
        """Choose another operand."""
        if self._way:
            moved = self._way[-1].moved(rows, places)
            if moved != self._way[-1]:
                self._go((*self._way[:-1], moved))

    def action_page(self, tail: bool) -> None:
        """Show the end of what is told, or its beginning."""
        self._tail, self._drawn = tail, NOTHING_DRAWN
        self.refresh()

    def action_follow(self) -> None:
        """Go on to the chosen operand."""
        if self.operand is not None:
            self.post_message(self.Follow(self.operand))

    def action_back(self) -> None:
        """Back to the number before, or close."""
        if len(self._way) > 1:
            self._go(self._way[:-1])
        else:
            self.action_close()

    def action_close(self) -> None:
        """Close the pane."""
        self.post_message(self.Closed())
