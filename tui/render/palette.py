"""How a value looks: its colors where there are many, a shade beside its digits where there are few.

Every depth has ramps of its own, few levels each, so that neighbouring cells share a style and are sent as one run.
No picture relies on color alone: the digits are always there, and with 16 colors or none a glyph is too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isnan, log

from rich.color import Color
from rich.color_triplet import ColorTriplet
from rich.style import Style

from tui.tty.terminal import Depth, Terminal

LEVELS = 16
"""No ramp has more levels than this."""

SWATCHES = 9
"""Looks in a legend, at most."""

_RAMPS: dict[tuple[str, str], str] = {
    # Dark purple over green to yellow: a score may be any number, so its least is a color too.
    ("truecolor", "score"): "440154 482173 433e85 38588c 2d708e 25858e 1e9b8a 2ab07f 52c569 86d549 c2df23 fde725",
    ("256", "score"): "5f005f 5f0087 005f87 005faf 008787 00af87 5faf5f 87d75f afd700 ffd700",
    # The first level of a weight is for zero and nothing else: what a mask hides is dark.
    ("truecolor", "weight"): "181818 340a5f 57106e 781c6d 982d60 b83d54 d44842 e8602d f67e14 fca50a f6d746 fcffa4",
    ("256", "weight"): "1c1c1c 5f005f 87005f af005f d7005f d75f00 ff8700 ffaf00 ffd75f ffffaf",
    # Blue and orange are told apart by everybody; the middle is zero.
    ("truecolor", "vector"): (
        "b4dcff 83c2f2 59a5df 3982c0 276195 1a3f66 181818 5f3a10 895416 b17021 d78f35 eeb364 ffd9a0"
    ),
    ("256", "vector"): "87d7ff 5fafd7 0087af 005f87 1c1c1c 875f00 af5f00 d78700 ffaf5f",
    ("truecolor", "mask"): "1c1c1c 5f87af",
    ("256", "mask"): "1c1c1c 5f87af",
}
"""Backgrounds from the least level to the greatest."""

_SHADES = {True: " ░▒▓█", False: " .:*#@"}
_MASK_GLYPHS = {True: "·■", False: ".#"}

_LIGHT, _DARK, _FAINT = "ffffff", "000000", "9e9e9e"
_NOTHING = ("181818", "1c1c1c")
"""Backgrounds of zero, whose digits step back."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a cell is drawn: the style of the cell (None: as the text around it) and the glyph after its digits."""

    style: Style | None
    glyph: str = " "


@dataclass(frozen=True, slots=True)
class Palette:
    """All styles of the matrix for one terminal. A style of None is that of the widget.

    `name`, `current` (labels of the cursor's row and column), `muted` and `cursor` are the styles of what is no value;
    `operand`, `changed` and `set` those of marked cells, added to the style of the cell.
    """

    depth: Depth
    unicode: bool
    ramps: dict[str, tuple[Look, ...]]
    hidden: Look
    alarm: Look
    unknown: Look
    name: Style
    current: Style
    muted: Style
    cursor: Style
    operand: Style
    changed: Style
    set: Style

    @property
    def colored(self) -> bool:
        """Whether cells have a background that tells their value."""
        return self.depth in ("256", "truecolor")

    def scale(self, kind: str, low: float | None, high: float | None) -> Scale:
        """The scale of a tensor of this kind with these finite bounds."""
        known = kind if kind in ("score", "weight", "mask") else "vector"
        return Scale(self, known, low if low is not None else 0.0, high if high is not None else 0.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """Which look a value has among the values of its tensor."""

    palette: Palette
    kind: str
    low: float
    high: float
    least: float | None = None
    """Of a weight: the level is by its logarithm, from this value on. Else levels are equal steps."""

    @property
    def looks(self) -> tuple[Look, ...]:
        """From the least level to the greatest."""
        return self.palette.ramps[self.kind]

    def level(self, value: float) -> int:
        """The level of a finite value.

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
        """How far up a weight lies between nothing and the greatest, from 0 to 1."""
        if self.high <= 0:
            return 1.0
        if self.least is None:
            return weight / self.high
        span = log(self.high / self.least)
        return log(weight / self.least) / span if span > 0 else 1.0

    def look(self, value: float | None) -> Look:
        """The look of any value; None is a value that has not come yet."""
        if value is None:
            return self.palette.unknown
        if value == float("-inf"):
            return self.palette.hidden
        if isnan(value) or value == float("inf"):
            return self.palette.alarm
        return self.looks[self.level(value)]

    def swatches(self) -> tuple[Look, ...]:
        """The looks that lie between the bounds, for a legend; of a mask, that of each bound."""
        if self.kind == "mask":
            return tuple(self.look(bound) for bound in dict.fromkeys((self.low, self.high)))
        looks = self.looks[self.level(self.low) : self.level(self.high) + 1]
        # Half of a long ramp says the same in half the room. The last one is the one that a reader looks for.
        return looks if len(looks) <= SWATCHES else looks[(len(looks) - 1) % 2 :: 2]


def palette(terminal: Terminal) -> Palette:
    """The palette of a terminal."""
    return _palette(terminal.depth, terminal.unicode)


@lru_cache(maxsize=8)
def _palette(depth: Depth, unicode: bool) -> Palette:
    unknown = Look(Style(dim=True))
    if depth in ("truecolor", "256"):
        return Palette(
            depth,
            unicode,
            {
                kind: tuple(Look(_ink(background)) for background in _RAMPS[depth, kind].split())
                for kind in ("score", "weight", "vector", "mask")
            },
            hidden=Look(_style(_FAINT, "262626")),
            alarm=Look(_style(_LIGHT, "af0000", bold=True)),
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
    plain = tuple(Look(None, shade) for shade in shades)
    return Palette(
        depth,
        unicode,
        {
            "score": plain,
            "weight": (Look(Style(dim=True)), *plain[1:]),
            "vector": (*(Look(negative, shade) for shade in shades[:0:-1]), *plain),
            "mask": (Look(Style(dim=True), _MASK_GLYPHS[unicode][0]), Look(None, _MASK_GLYPHS[unicode][1])),
        },
        hidden=Look(Style(dim=True)),
        alarm=Look(Style(bold=True, color="red" if depth == "16" else None), "!"),
        unknown=unknown,
        name=Style(bold=True),
        current=Style(bold=True, underline=True),
        muted=Style(dim=True),
        cursor=Style(reverse=True),
        # What a mask hides is dim, but a mark is not.
        operand=Style(bold=True, underline=True, dim=False),
        changed=Style(bold=True, dim=False, color="cyan" if depth == "16" else None),
        set=Style(bold=True, dim=False, color="yellow" if depth == "16" else None),
    )


def _step(part: float, steps: int) -> int:
    return min(steps - 1, int(max(0.0, min(part, 1.0)) * steps))


def contrast(one: ColorTriplet, other: ColorTriplet) -> float:
    """The contrast of two colors as WCAG defines it, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: ColorTriplet) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _ink(background: str) -> Style:
    """Digits on this background, black or white, whichever is easier to read."""
    if background in _NOTHING:
        return _style(_FAINT, background)
    triplet = _color(background).get_truecolor()
    light, dark = (contrast(triplet, _color(ink).get_truecolor()) for ink in (_LIGHT, _DARK))
    return _style(_LIGHT if light >= dark else _DARK, background)


def _style(color: str, background: str, bold: bool | None = None) -> Style:
    return Style(color=_color(color), bgcolor=_color(background), bold=bold)


def _color(color: str) -> Color:
    return Color.parse("#" + color)
