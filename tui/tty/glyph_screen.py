"""What a terminal shows, glyph by glyph, and the shortest output that leads from one screen to another.

Textual paints whole widgets, and with a new layout the whole screen, though most of it is there already. Over a slow
line that is most of the bytes.
"""

from __future__ import annotations

from functools import lru_cache

from rich.cells import cell_len

from tui.tty.styles import PLAIN, Style, style_change, style_of_blank, style_to_write

Glyph = tuple[str, Style]
"""A character as it is painted. The right half of a wide one is ""; a combining character is part of its base."""

Row = list[Glyph | None]
Cursor = tuple[int, int]
"""Row and column, counted from 0."""

BLANK: Glyph = (" ", PLAIN)


@lru_cache(4096)
def _glyph(character: str, style: Style) -> Glyph:
    return (character, style_of_blank(style) if character == " " else style)


@lru_cache(4096)
def _width(character: str) -> int:
    return cell_len(character)


@lru_cache(4096)
def _is_narrow(text: str) -> bool:
    return len(text) == 1 and _width(text) == 1


class GlyphScreen:
    """The glyphs of a terminal of this size; None is one that is not known."""

    def __init__(self, columns: int, lines: int) -> None:
        self.columns = columns
        self.lines = lines
        self.rows: list[Row] = [[None] * columns for _ in range(lines)]

    def draw(self, cursor: Cursor, text: str, style: Style) -> Cursor:
        """Write text without control characters, and return where it ends. The screen grows if it is too small."""
        y, x = cursor
        widths = [*map(_width, text)]
        end = x + sum(widths)
        self._grow(end, y + 1)
        row = self.rows[y]
        if all(width == 1 for width in widths) and all(glyph is None or glyph[0] for glyph in row[x : end + 1]):
            row[x:end] = [_glyph(character, style) for character in text]
            return y, end
        for character, width in zip(text, widths, strict=True):
            _draw_one(row, x, character, width, style)
            x += width
        return y, x

    def _grow(self, columns: int, lines: int) -> None:
        if columns > self.columns:
            for row in self.rows:
                row += [None] * (columns - self.columns)
            self.columns = columns
        if lines > self.lines:
            self.rows += [[None] * self.columns for _ in range(lines - self.lines)]
            self.lines = lines

    def overlay(self, other: GlyphScreen) -> None:
        """Take over all glyphs that another screen knows."""
        self._grow(other.columns, other.lines)
        for row, over in zip(self.rows, other.rows, strict=False):
            if row != over:
                row[: len(over)] = [old if new is None else new for old, new in zip(row, over, strict=False)]


def _draw_one(row: Row, x: int, character: str, width: int, style: Style) -> None:
    end = x + width
    if width == 0:
        at = next((at for at in range(x - 1, -1, -1) if (glyph := row[at]) is None or glyph[0]), None)
        base = row[at] if at is not None else None
        if at is not None and base is not None:
            row[at] = (base[0] + character, base[1])
        return
    # Half of a wide character that is written over leaves a blank.
    for half, cut in ((x - 1, row[x]), (end, row[end] if end < len(row) else None)):
        if cut is not None and not cut[0]:
            row[half] = _glyph(" ", cut[1])
    row[x:end] = [_glyph(part, style) for part in (character, "")[:width]]


def difference(old: GlyphScreen, new: GlyphScreen) -> str:
    """Return the output that makes a terminal which shows `old` show what is known of `new`.

    The output is "" if `old` shows that already. Otherwise it expects a plain style, and ends with one.
    """
    pen = _Pen(new.columns)
    for y, after in enumerate(new.rows):
        before: Row = old.rows[y] if y < old.lines and old.columns == new.columns else [None] * new.columns
        if before != after:
            _rewrite(pen, y, before, after)
    return pen.output()


def _rewrite(pen: _Pen, y: int, before: Row, after: Row) -> None:
    if _is_odd(before) or _is_odd(after):
        # Terminals disagree about the widths of such characters, so nothing in this row can be relied on.
        before = [None] * len(before)
    wanted = [x for x, glyph in enumerate(after) if glyph is not None and glyph != before[x]]
    start = _start_of_blanks(after)
    tail = [x for x in wanted if x >= start]
    erases = len(tail) > len("\x1b[K")
    end = None
    for x in wanted[: -len(tail)] if erases else wanted:
        if end is not None and end < x:
            pen.bridge(y, after[end:x])
        pen.write((y, x), after[x])
        end = x + 1
    if erases:
        pen.erase((y, tail[0]))


def _start_of_blanks(row: Row) -> int:
    """Return the column from which on all glyphs of a row are blanks on the terminal's own background.

    Terminals disagree about what is left where another background was in force, so only these may be erased.
    """
    start = len(row)
    while start and row[start - 1] == BLANK:
        start -= 1
    return start


def _is_odd(row: Row) -> bool:
    return not all(glyph is None or _is_narrow(glyph[0]) for glyph in row)


class _Pen:
    """Writes glyphs, and moves the cursor of the terminal to the next one by the shortest sequence."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._output: list[str] = []
        self._at: Cursor | None = None
        self._style = PLAIN

    def write(self, to: Cursor, glyph: Glyph | None) -> None:
        """Write one glyph."""
        if glyph is None or not glyph[0]:
            return
        character, style = glyph
        if to != self._at:
            self._output.append(self.way(to))
        if style is not self._style:
            style = style_to_write(self._style, character, style)
            self._output.append(style_change(self._style, style))
            self._style = style
        self._output.append(character)
        y, x = to
        # In the last column a terminal may or may not wait for the next glyph before it starts a line.
        self._at = (y, x + 1) if x + 1 < self._columns and _is_narrow(character) else None

    def bridge(self, y: int, row: Row) -> None:
        """Write again the glyphs that are there already, if that is shorter than to move over them."""
        if self._at is None or len(row) > len("\x1b[99C") or None in row:
            return
        text, style = "", self._style
        for glyph in row:
            if glyph is None:
                return
            wanted = style_to_write(style, *glyph)
            text += style_change(style, wanted) + glyph[0]
            style = wanted
        if len(text.encode()) <= len(self.way((y, self._at[1] + len(row)))):
            self._output.append(text)
            self._style = style
            self._at = (y, self._at[1] + len(row))

    def erase(self, start: Cursor) -> None:
        """Erase a row from a column on."""
        self._output.append(self.way(start) + style_change(self._style, PLAIN) + "\x1b[K")
        self._style = PLAIN
        self._at = start

    def output(self) -> str:
        """Return all that was written, with a plain style at its end."""
        return "".join((*self._output, style_change(self._style, PLAIN)))

    def way(self, to: Cursor) -> str:
        """Return the shortest sequence that moves the cursor to a position, "" if it is there."""
        if self._at == to:
            return ""
        y, x = to
        ways = [move_to(to)]
        if self._at is not None:
            down, right = y - self._at[0], x - self._at[1]
            if down == 0 and right > 0:
                ways.append(_move(right, "C"))
            elif down == 0:
                ways.append(_move(-right, "D"))
            elif down == 1:
                ways.append("\r\n" + (_move(x, "C") if x else ""))
            if down > 0 and right == 0:
                ways.append(_move(down, "B"))
        return min(ways, key=len)


def move_to(cursor: Cursor) -> str:
    """Return the sequence that moves the cursor to a position from anywhere."""
    y, x = cursor
    return f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H" if y else "\x1b[H"


def _move(by: int, direction: str) -> str:
    return f"\x1b[{by if by > 1 else ''}{direction}"
