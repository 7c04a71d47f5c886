"""The shortest way from one style of text on a terminal to another."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

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
