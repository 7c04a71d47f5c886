"""How values look: a background color where the terminal has many colors, a shade beside the digits where it has few.

Each color depth has its own ramps with few levels, so that neighboring cells share a style and are sent as one run. No
drawing relies on color alone: the digits are always there, and with 16 colors or none so is a glyph.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isnan, log

from rich.color import Color
from rich.color_triplet import ColorTriplet
from rich.style import Style

from attn_tutor.tui.tty.terminal import Depth, Terminal

BOLD, DIM = Style(bold=True), Style(dim=True)

LEVELS = 16
"""The maximum number of levels of a ramp."""

SWATCHES = 9
"""The maximum number of looks in a legend."""

_RAMPS: dict[tuple[str, str], str] = {
    # From dark purple through green to yellow: a score may be any number, so the lowest one has a color too.
    ("truecolor", "score"): "440154 482173 433e85 38588c 2d708e 25858e 1e9b8a 2ab07f 52c569 86d549 c2df23 fde725",
    ("256", "score"): "5f005f 5f0087 005f87 005faf 008787 00af87 5faf5f 87d75f afd700 ffd700",
    # The first level of a weight means exactly zero: masked positions are dark.
    ("truecolor", "weight"): "181818 340a5f 57106e 781c6d 982d60 b83d54 d44842 e8602d f67e14 fca50a f6d746 fcffa4",
    ("256", "weight"): "1c1c1c 5f005f 87005f af005f d7005f d75f00 ff8700 ffaf00 ffd75f ffffaf",
    # Blue and orange are distinguishable with any color vision; the middle is zero.
    ("truecolor", "vector"): (
        "b4dcff 83c2f2 59a5df 3982c0 276195 1a3f66 181818 5f3a10 895416 b17021 d78f35 eeb364 ffd9a0"
    ),
    ("256", "vector"): "87d7ff 5fafd7 0087af 005f87 1c1c1c 875f00 af5f00 d78700 ffaf5f",
    ("truecolor", "mask"): "1c1c1c 5f87af",
    ("256", "mask"): "1c1c1c 5f87af",
}
"""Backgrounds from the lowest level to the highest."""

_SHADES = {True: " ░▒▓█", False: " .:*#@"}
_MASK_GLYPHS = {True: "·■", False: ".#"}

_LIGHT, _DARK, _FAINT = "ffffff", "000000", "9e9e9e"
_NOTHING = ("181818", "1c1c1c")
"""Backgrounds for zero; digits on them are faint."""


@dataclass(frozen=True, slots=True)
class CellLook:
    """How a cell is drawn: its style (None: that of the surrounding text) and the glyph after its digits."""

    style: Style | None
    glyph: str = " "


@dataclass(frozen=True, slots=True)
class Palette:
    """All styles of a matrix on one kind of terminal. A style of None is that of the widget.

    `name`, `current` (labels of the cursor's row and column), `muted` and `cursor` are for everything but values;
    `operand`, `changed` and `set` are added to the style of marked cells.
    """

    depth: Depth
    unicode: bool
    ramps: dict[str, tuple[CellLook, ...]]
    hidden: CellLook
    alarm: CellLook
    unknown: CellLook
    name: Style
    current: Style
    muted: Style
    cursor: Style
    operand: Style
    changed: Style
    set: Style

    @property
    def colored(self) -> bool:
        """Whether the background of a cell shows its value."""
        return self.depth in ("256", "truecolor")

    def scale(self, kind: str, low: float | None, high: float | None) -> Scale:
        """Return the scale of a tensor of this kind whose finite values lie between `low` and `high`."""
        known = kind if kind in ("score", "weight", "mask") else "vector"
        return Scale(self, known, low if low is not None else 0.0, high if high is not None else 0.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps the values of a tensor to looks."""

    palette: Palette
    kind: str
    low: float
    high: float
    least: float | None = None
    """For weights: if set, levels are logarithmic, starting at this value; otherwise they are linear."""

    @property
    def looks(self) -> tuple[CellLook, ...]:
        """The looks from the lowest level to the highest."""
        return self.palette.ramps[self.kind]

    def level(self, value: float) -> int:
        """Return the level of a finite value.

        A score lies between the bounds of its tensor. A weight lies between 0 and the greatest weight, and only 0 has
        level 0. A vector's level is its distance from 0, to either side. A mask is set or not.
        """
        last = len(self.looks) - 1
        if self.kind == "mask":
            return 1 if value else 0
        if self.kind == "weight":
            if value <= 0:
                return 0
            return 1 + _step(self._share(value), last)
        if self.kind == "vector":
            middle = last // 2
            if value == 0:
                return middle
            furthest = max(abs(self.low), abs(self.high))
            steps = 1 + _step(abs(value) / furthest if furthest > 0 else 1.0, middle)
            return middle + steps if value > 0 else middle - steps
        span = self.high - self.low
        return _step((value - self.low) / span, last + 1) if span > 0 else last // 2

    def _share(self, weight: float) -> float:
        """Return a weight as a fraction of the greatest one, from 0 to 1, on a linear or logarithmic scale."""
        if self.high <= 0:
            return 1.0
        if self.least is None:
            return weight / self.high
        span = log(self.high / self.least)
        return log(weight / self.least) / span if span > 0 else 1.0

    def look(self, value: float | None) -> CellLook:
        """Return the look of any value; None stands for a value that has not arrived yet."""
        if value is None:
            return self.palette.unknown
        if value == float("-inf"):
            return self.palette.hidden
        if isnan(value) or value == float("inf"):
            return self.palette.alarm
        return self.looks[self.level(value)]

    def swatches(self) -> tuple[CellLook, ...]:
        """Return the looks between the bounds, for a legend; for a mask, the look of each bound."""
        if self.kind == "mask":
            return tuple(self.look(bound) for bound in dict.fromkeys((self.low, self.high)))
        looks = self.looks[self.level(self.low) : self.level(self.high) + 1]
        # Every second level of a long ramp is enough. Keep the last one, which readers look for.
        return looks if len(looks) <= SWATCHES else looks[(len(looks) - 1) % 2 :: 2]


def palette(terminal: Terminal) -> Palette:
    """Return the palette for a terminal."""
    return _palette(terminal.depth, terminal.unicode)


@lru_cache(maxsize=8)
def _palette(depth: Depth, unicode: bool) -> Palette:
    unknown = CellLook(Style(dim=True))
    if depth in ("truecolor", "256"):
        return Palette(
            depth,
            unicode,
            {
                kind: tuple(CellLook(_ink(background)) for background in _RAMPS[depth, kind].split())
                for kind in ("score", "weight", "vector", "mask")
            },
            hidden=CellLook(_style(_FAINT, "262626")),
            alarm=CellLook(_style(_LIGHT, "af0000", bold=True)),
            unknown=unknown,
            name=Style(bold=True),
            current=Style(color=_color("ffd75f"), bold=True),
            muted=Style(dim=True),
            cursor=_style(_DARK, _LIGHT, bold=True),
            operand=Style(bold=True, underline=True),
            changed=Style(bold=True),
            set=Style(bold=True, italic=True),
        )
    shades = _SHADES[unicode]
    negative = Style(color="magenta") if depth == "16" else None
    plain = tuple(CellLook(None, shade) for shade in shades)
    return Palette(
        depth,
        unicode,
        {
            "score": plain,
            "weight": (CellLook(Style(dim=True)), *plain[1:]),
            "vector": (*(CellLook(negative, shade) for shade in shades[:0:-1]), *plain),
            "mask": (CellLook(Style(dim=True), _MASK_GLYPHS[unicode][0]), CellLook(None, _MASK_GLYPHS[unicode][1])),
        },
        hidden=CellLook(Style(dim=True)),
        alarm=CellLook(Style(bold=True, color="red" if depth == "16" else None), "!"),
        unknown=unknown,
        name=Style(bold=True),
        current=Style(bold=True, underline=True),
        muted=Style(dim=True),
        cursor=Style(reverse=True),
        # Masked cells are dim, but their marks are not.
        operand=Style(bold=True, underline=True, dim=False),
        changed=Style(bold=True, dim=False, color="cyan" if depth == "16" else None),
        set=Style(bold=True, dim=False, color="yellow" if depth == "16" else None),
    )


def _step(part: float, steps: int) -> int:
    return min(steps - 1, int(max(0.0, min(part, 1.0)) * steps))


def contrast(one: ColorTriplet, other: ColorTriplet) -> float:
    """Return the WCAG contrast ratio of two colors, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: ColorTriplet) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _ink(background: str) -> Style:
    """Return a style with black or white digits on this background, whichever is easier to read."""
    if background in _NOTHING:
        return _style(_FAINT, background)
    triplet = _color(background).get_truecolor()
    light, dark = (contrast(triplet, _color(ink).get_truecolor()) for ink in (_LIGHT, _DARK))
    return _style(_LIGHT if light >= dark else _DARK, background)


def _style(color: str, background: str, bold: bool | None = None) -> Style:
    return Style(color=_color(color), bgcolor=_color(background), bold=bold)


def _color(color: str) -> Color:
    return Color.parse("#" + color)
