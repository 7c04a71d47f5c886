"""The looks of values are readable and distinguishable."""

from __future__ import annotations

from itertools import pairwise
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.style import Style

from attn_tutor.tui.render.palette import LEVELS, SWATCHES, CellLook, Palette, contrast, palette
from attn_tutor.tui.tty.terminal import Depth, Terminal

KINDS = ["score", "weight", "vector", "mask"]
COLORED: list[Depth] = ["256", "truecolor"]
PLAIN: list[Depth] = ["none", "16"]


def of(depth: Depth, unicode: bool = True) -> Palette:
    return palette(Terminal(depth=depth, unicode=unicode))


def styles_of(colors: Palette) -> list[Style]:
    looks = [look for ramp in colors.ramps.values() for look in ramp] + [colors.hidden, colors.alarm]
    return [look.style for look in looks if look.style] + [colors.cursor]


@pytest.mark.parametrize("depth", COLORED)
def test_digits_can_be_read_on_every_background(depth: Depth) -> None:
    for style in styles_of(of(depth)):
        assert style.color
        assert style.bgcolor
        colors = (style.color, style.bgcolor)
        if depth == "256":
            # The terminal gets the nearest color that it has.
            colors = (style.color.downgrade(ColorSystem.EIGHT_BIT), style.bgcolor.downgrade(ColorSystem.EIGHT_BIT))
        assert contrast(*(color.get_truecolor() for color in colors)) >= 4.5


def test_colors_for_256_are_in_the_color_cube() -> None:
    for style in styles_of(of("256")):
        for color in (style.color, style.bgcolor):
            assert color
            near = color.downgrade(ColorSystem.EIGHT_BIT).get_truecolor()
            assert all(abs(one - other) <= 12 for one, other in zip(near, color.get_truecolor(), strict=True)), color


@pytest.mark.parametrize("depth", COLORED)
@pytest.mark.parametrize("kind", ["score", "weight"])
def test_sequential_ramps_get_lighter(depth: Depth, kind: str) -> None:
    black = Style.parse("on #000000").bgcolor
    assert black
    backgrounds = [look.style.bgcolor for look in of(depth).ramps[kind] if look.style and look.style.bgcolor]
    light = [contrast(color.get_truecolor(), black.get_truecolor()) for color in backgrounds]
    assert len(light) == len(of(depth).ramps[kind])
    assert all(one < other for one, other in pairwise(light))


@pytest.mark.parametrize("depth", [*COLORED, *PLAIN])
@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_ramp_has_few_levels_that_are_all_different(depth: Depth, unicode: bool, kind: str) -> None:
    colors = of(depth, unicode)
    ramp = colors.ramps[kind]
    assert len(ramp) <= LEVELS
    assert len(ramp) % 2 or kind != "vector"
    if depth != "none" or kind != "vector":
        assert len(set(ramp)) == len(ramp)
    if not unicode:
        assert all(look.glyph.isascii() for look in ramp)


@pytest.mark.parametrize("depth", PLAIN)
@pytest.mark.parametrize("unicode", [True, False])
def test_without_colors_a_glyph_shows_the_value(depth: Depth, unicode: bool) -> None:
    colors = of(depth, unicode)
    for kind in ("score", "weight", "mask"):
        glyphs = [look.glyph for look in colors.ramps[kind]]
        assert len(set(glyphs)) == len(glyphs)
    # The sign of a vector is in its digits.
    glyphs = [look.glyph for look in colors.ramps["vector"]]
    middle = len(glyphs) // 2
    assert glyphs[middle:] == glyphs[middle::-1]
    assert len(set(glyphs[middle:])) == middle + 1


def test_no_color_means_no_color() -> None:
    for style in styles_of(of("none")):
        assert style.color is None
        assert style.bgcolor is None


def test_levels_of_a_score_run_between_its_bounds() -> None:
    scale = of("16").scale("score", 0.0, 10.0)
    assert [scale.level(value) for value in (0.0, 1.9, 2.1, 9.9, 10.0)] == [0, 0, 1, 4, 4]
    assert of("16").scale("score", 3.0, 3.0).level(3.0) == 2


def test_only_zero_is_a_weight_of_level_zero() -> None:
    scale = of("16").scale("weight", 0.0, 1.0)
    assert [scale.level(value) for value in (0.0, 1e-9, 0.3, 1.0)] == [0, 1, 2, 4]
    assert of("16").scale("weight", 0.0, 0.0).level(0.0) == 0


def test_a_weight_is_measured_from_zero() -> None:
    scale = of("16").scale("weight", 0.9, 1.0)
    assert scale.level(0.9) == scale.level(1.0) == 4


def test_a_vector_diverges_from_zero() -> None:
    scale = of("16").scale("vector", -1.0, 0.5)
    assert [scale.level(value) for value in (-1.0, -0.01, 0.0, 0.01, 0.5)] == [0, 3, 4, 5, 7]
    assert of("16").scale("vector", 0.0, 0.0).level(0.0) == 4


def test_a_mask_has_two_levels() -> None:
    scale = of("16").scale("mask", 0.0, 2.0)
    assert [scale.look(value).glyph for value in (0.0, 2.0, 1.0)] == ["·", "■", "■"]


@pytest.mark.parametrize("depth", [*COLORED, *PLAIN])
def test_nan_and_infinity_have_looks_of_their_own(depth: Depth) -> None:
    colors = of(depth)
    scale = colors.scale("score", 0.0, 1.0)
    assert scale.look(-inf) == colors.hidden
    assert scale.look(nan) == scale.look(inf) == colors.alarm
    assert scale.look(None) == colors.unknown
    ramp: set[CellLook] = set(colors.ramps["score"])
    assert not ramp & {colors.hidden, colors.alarm, colors.unknown}


def test_an_unknown_kind_is_drawn_as_a_vector() -> None:
    assert of("16").scale("logits", -1.0, 1.0).kind == "vector"


@pytest.mark.parametrize(
    ("kind", "low", "high", "glyphs"),
    [
        ("score", 0.27, 1.85, " ░▒▓█"),
        ("weight", 0.0, 1.0, " ░▒▓█"),
        ("weight", 0.3, 1.0, "▒▓█"),
        ("vector", -1.0, 0.5, "█▓▒░ ░▒▓"),
        ("vector", 0.1, 0.2, "▓█"),
        ("mask", 0.0, 1.0, "·■"),
        ("mask", 1.0, 1.0, "■"),
        ("score", 1.0, 1.0, "▒"),
    ],
)
def test_swatches_are_the_looks_between_the_bounds(kind: str, low: float, high: float, glyphs: str) -> None:
    assert "".join(look.glyph for look in of("none").scale(kind, low, high).swatches()) == glyphs


@given(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.floats(),
    st.sampled_from(KINDS),
)
def test_every_value_has_a_look(one: float, other: float, value: float, kind: str) -> None:
    scale = of("truecolor").scale(kind, min(one, other), max(one, other))
    assert isinstance(scale.look(value), CellLook)
    assert 1 <= len(scale.swatches()) <= SWATCHES
