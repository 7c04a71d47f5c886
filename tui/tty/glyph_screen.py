"""What a terminal shows, glyph by glyph, and the shortest output from one screen, or one style, to another.

Textual paints whole widgets, and with a new layout the whole screen, though most of it is there already. Over a slow
line that is most of the bytes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from rich.cells import cell_len

Slot = Literal["color", "ground"] | int
Style = tuple[tuple[Slot, str], ...]
"""The parameters in force: of the color, of the background, and of each attribute by its number, in a fixed order."""

PLAIN: Style = ()
ENDS = {1: 22, 2: 22, 3: 23, 4: 24, 5: 25, 7: 27, 8: 28, 9: 29}
LENGTHS = {"5": 3, "2": 5}
SEEN_WITHOUT_INK: frozenset[Slot] = frozenset({4, 7, 9})
"""Underlining, reversal and a line through the text are seen on a blank, and in the color of the text."""


@lru_cache(4096)
def style_after(style: Style, parameters: str) -> Style | None:
    """Return a style after an escape sequence with these parameters, None if one of them is not known."""
    changed = dict(style)
    values = parameters.split(";")
    at = 0
    while at < len(values):
        number = int(values[at] or 0)
        length = 1
        if number == 0:
            changed = {}
        elif number in ENDS:
            changed[number] = str(number)
        elif 30 <= number <= 37 or 90 <= number <= 97:
            changed["color"] = values[at]
        elif 40 <= number <= 47 or 100 <= number <= 107:
            changed["ground"] = values[at]
        elif number in (38, 48) and at + 1 < len(values) and values[at + 1] in LENGTHS:
            length = LENGTHS[values[at + 1]]
            changed["color" if number == 38 else "ground"] = ";".join(values[at : at + length])
        elif number in (39, 49):
            changed.pop("color" if number == 39 else "ground", None)
        else:
            return None
        at += length
    return _ordered(changed)


@lru_cache(4096)
def style_of_blank(style: Style) -> Style:
    """Return what can be seen of a style where there is a blank: mostly the background alone."""
    if any(slot in SEEN_WITHOUT_INK for slot, _ in style):
        return style
    return tuple(item for item in style if item[0] == "ground")


@lru_cache(4096)
def style_to_write(now: Style, character: str, wanted: Style) -> Style:
    """Return the style to write a character in, which looks as wanted: a blank takes the color that is in force."""
    if character != " " or any(slot in SEEN_WITHOUT_INK for slot, _ in wanted):
        return wanted
    kept: dict[Slot, str] = {slot: value for slot, value in now if slot != "ground" and slot not in SEEN_WITHOUT_INK}
    return _ordered({**kept, **dict(style_of_blank(wanted))})


@lru_cache(4096)
def style_change(now: Style, wanted: Style) -> str:
    """Return the shortest escape sequence that leads from one style to another, "" if they are the same."""
    if now == wanted:
        return ""
    if not wanted:
        return "\x1b[m"
    there, aim = dict(now), dict(wanted)
    left = dict(now)
    steps = []
    for slot in there.keys() - aim.keys():
        if slot not in left:
            continue
        end = {"color": 39, "ground": 49}.get(str(slot)) or ENDS[int(slot)]
        steps.append(str(end))
        # Bold and dim have the same end.
        left = {other: value for other, value in left.items() if other != slot and ENDS.get(other, 0) != end}  # type: ignore[arg-type]
    steps += [value for slot, value in aim.items() if left.get(slot) != value]
    anew = ["0", *aim.values()]
    return f"\x1b[{min(';'.join(steps), ';'.join(anew), key=len)}m"


def _ordered(style: dict[Slot, str]) -> Style:
    return tuple(sorted(style.items(), key=lambda item: str(item[0])))


Glyph = tuple[str, Style]
"""A character as it is painted. The right half of a wide one is ""; a combining character is part of its base."""

Row = list[Glyph | None]
Cursor = tuple[int, int]
"""Row and column, counted from 0."""

BLANK: Glyph = (" ", PLAIN)
NEW_LINE = "\r\n"
"""To the start of the next row, with or without a return that the terminal's line adds."""


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
        """Write text without control characters, and return where it ends. What is outside the screen is dropped."""
        y, x = cursor
        widths = [*map(_width, text)]
        end = x + sum(widths)
        if y >= self.lines:
            return y, end
        row = self.rows[y]
        if all(width == 1 for width in widths) and all(glyph is None or glyph[0] for glyph in row[x : end + 1]):
            row[x:end] = [_glyph(character, style) for character in text]
        else:
            for character, width in zip(text, widths, strict=True):
                if x + width <= self.columns:
                    _draw_one(row, x, character, width, style)
                x += width
        del row[self.columns :]
        return y, end

    def overlay(self, other: GlyphScreen) -> None:
        """Take over all glyphs that another screen knows, as far as there is room for them."""
        for row, over in zip(self.rows, other.rows, strict=False):
            if row != over:
                known = [old if new is None else new for old, new in zip(row, over, strict=False)]
                row[: len(known)] = known


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


def difference(old: GlyphScreen, new: GlyphScreen, style: Style) -> tuple[str, Style]:
    """Return the output that makes a terminal which shows `old` show what is known of `new`, and the style after it.

    Both have the same size. The style before it is given. The output is "" if `old` shows that already.
    """
    pen = _Pen(new.columns, style)
    for y, (before, after) in enumerate(zip(old.rows, new.rows, strict=True)):
        if before != after:
            _rewrite(pen, y, before, after)
    return pen.output, pen.style


def _rewrite(pen: _Pen, y: int, before: Row, after: Row) -> None:
    if _is_odd(before) or _is_odd(after):
        # Terminals disagree about the widths of such characters, so nothing in this row can be relied on.
        before = [None] * len(before)
    wanted = [x for x, glyph in enumerate(after) if glyph is not None and glyph != before[x]]
    start = _start_of_blanks(after)
    tail = [x for x in wanted if x >= start]
    erases = len(tail) > len("\x1b[K")
    for x in wanted[: -len(tail)] if erases else wanted:
        pen.write((y, x), before, after)
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

    def __init__(self, columns: int, style: Style) -> None:
        self.style = style
        self._columns = columns
        self._output: list[str] = []
        # Where the last output has left the cursor is known too, but some other program may have written since.
        self._at: Cursor | None = None

    @property
    def output(self) -> str:
        """All that was written."""
        return "".join(self._output)

    def write(self, to: Cursor, before: Row, after: Row) -> None:
        """Write the glyph at a position of a row that looked so before, and looks so after it."""
        y, x = to
        glyph = after[x]
        if glyph is None or not glyph[0]:
            return
        character, style = glyph
        if to != self._at:
            self._reach(to, after, glyph)
        if style is not self.style:
            style = style_to_write(self.style, character, style)
            if style != self.style:
                self._change(_style_ahead(before, after, x) or style)
        self._output.append(character)
        # In the last column a terminal may or may not wait for the next glyph before it starts a line.
        self._at = (y, x + 1) if x + 1 < self._columns and _is_narrow(character) else None

    def _change(self, style: Style) -> None:
        self._output.append(style_change(self.style, style))
        self.style = style

    def _reach(self, to: Cursor, row: Row, glyph: Glyph) -> None:
        """Move to the position of a glyph, or write again what is there before it, whichever is shorter."""
        y, x = to
        way = self._way(to)
        ways = [(way, self.style)]
        if self._at is not None and y - self._at[0] in (0, 1):
            start, begin = ("", self._at[1]) if y == self._at[0] else (NEW_LINE, 0)
            gap = row[begin:x] if begin < x < begin + len(way) else []
            # The style of the glyph may as well be set before.
            for style in (self.style, style_to_write(self.style, *glyph)) if gap and None not in gap else ():
                ways.append(_written(gap, start + style_change(self.style, style), style))
        output, self.style = min(ways, key=lambda each: len(each[0].encode()) + _cost(each[1], glyph))
        self._output.append(output)

    def erase(self, start: Cursor) -> None:
        """Erase a row from a column on."""
        self._output.append(self._way(start))
        self._change(PLAIN)
        self._output.append("\x1b[K")
        self._at = start

    def _way(self, to: Cursor) -> str:
        """Return the shortest sequence that moves the cursor to a position, "" if it is there."""
        if self._at == to:
            return ""
        y, x = to
        ways = [move_to(to)]
        if self._at is not None:
            down, right = y - self._at[0], x - self._at[1]
            if down == 0:
                ways.append(_move(right, "C") if right > 0 else _move(-right, "D"))
            elif down == 1:
                ways.append(NEW_LINE + (_move(x, "C") if x else ""))
            if down > 0 and right == 0:
                ways.append(_move(down, "B"))
        return min(ways, key=len)


def _written(glyphs: Row, output: str, style: Style) -> tuple[str, Style]:
    """Return output that writes known glyphs after other output, and the style after it."""
    for glyph in glyphs:
        if glyph is not None:
            wanted = style_to_write(style, *glyph)
            output += style_change(style, wanted) + glyph[0]
            style = wanted
    return output, style


def _cost(style: Style, glyph: Glyph) -> int:
    """Return the bytes of the change to the style of a glyph."""
    return len(style_change(style, style_to_write(style, *glyph)))


def _style_ahead(before: Row, after: Row, x: int) -> Style | None:
    """Return the style of the next character to write, if a blank at this position looks the same in that style.

    One sequence then changes the background for the blank and the color for the character.
    """
    blank = after[x]
    for old, new in zip(before[x:], after[x:], strict=True):
        if blank is None or new is None or old == new:
            return None
        if new[0] != " ":
            return new[1] if style_of_blank(new[1]) == blank[1] else None
        if new != blank:
            return None
    return None


def move_to(cursor: Cursor) -> str:
    """Return the sequence that moves the cursor to a position from anywhere."""
    y, x = cursor
    return f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H" if y else "\x1b[H"


def _move(by: int, direction: str) -> str:
    return f"\x1b[{by if by > 1 else ''}{direction}"
