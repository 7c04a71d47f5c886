"""Output with fewer bytes: only what differs from one style to the next is sent.

Textual sends all colors of each piece of text, and a reset after it. Over a slow line that is more than half of a step.
"""

from __future__ import annotations

import re
from typing import Literal

Slot = Literal["color", "ground"] | int
Style = dict[Slot, str]
"""The parameters in force: of the color, of the background, and of each attribute by its number."""

_PIECE = re.compile(r"\x1b\[([\d;]*)m|((?:\r?\n)?\x1b\[\d+;\d+H)")
_ODD = re.compile(r"\x1b\[[\d;:]*:[\d;:]*m")
_ENDS = {1: 22, 2: 22, 3: 23, 4: 24, 5: 25, 7: 27, 8: 28, 9: 29}
_LENGTHS = {"5": 3, "2": 5}


def shorten(text: str) -> str:
    """Return output that looks the same with fewer bytes.

    Output that ends with a style, or with parameters that are not known, is returned as it is.
    """
    if _ODD.search(text) or "m" not in text:
        return text
    found: list[str] = []
    now: Style | None = None
    wanted: Style = {}
    last = 0
    for piece in _PIECE.finditer(text):
        if piece.start() > last:
            found += [_change(now, wanted), text[last : piece.start()]]
            now = wanted
        last = piece.end()
        if piece[2] is not None:
            # Where the cursor goes does not depend on the style.
            found.append(piece[2])
            continue
        changed = _after(wanted, piece[1])
        if changed is None:
            return text
        wanted = changed
    if wanted or now is None:
        return text
    return "".join((*found, _change(now, wanted), text[last:]))


def _after(style: Style, parameters: str) -> Style | None:
    """Return a style after an escape sequence with these parameters, None if one of them is not known."""
    style = dict(style)
    values = parameters.split(";")
    at = 0
    while at < len(values):
        number = int(values[at] or 0)
        length = 1
        if number == 0:
            style = {}
        elif number in _ENDS:
            style[number] = str(number)
        elif 30 <= number <= 37 or 90 <= number <= 97:
            style["color"] = values[at]
        elif 40 <= number <= 47 or 100 <= number <= 107:
            style["ground"] = values[at]
        elif number in (38, 48) and at + 1 < len(values) and values[at + 1] in _LENGTHS:
            length = _LENGTHS[values[at + 1]]
            style["color" if number == 38 else "ground"] = ";".join(values[at : at + length])
        elif number in (39, 49):
            style.pop("color" if number == 39 else "ground", None)
        else:
            return None
        at += length
    return style


def _change(now: Style | None, wanted: Style) -> str:
    """Return the shortest escape sequence that leads from one style, None if unknown, to another; "" if it is there."""
    if now == wanted:
        return ""
    if not wanted:
        return "\x1b[0m"
    if now is None:
        return f"\x1b[{';'.join(('0', *wanted.values()))}m"
    kept = dict(now)
    steps = []
    for slot in now.keys() - wanted.keys():
        if slot not in kept:
            continue
        end = {"color": 39, "ground": 49}.get(str(slot)) or _ENDS[int(slot)]
        steps.append(str(end))
        # Bold and dim have the same end.
        kept = {other: value for other, value in kept.items() if other != slot and _ENDS.get(other, 0) != end}  # type: ignore[arg-type]
    steps += [value for slot, value in wanted.items() if kept.get(slot) != value]
    anew = ["0", *wanted.values()]
    return f"\x1b[{min(';'.join(steps), ';'.join(anew), key=len)}m"
