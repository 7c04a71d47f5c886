"""Curves: their dots, axes and marks, with numbers of every kind, and the arrangement of several curves."""

from __future__ import annotations

import re
from math import exp, inf, isfinite, nan, sin

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult

from attn_tutor.tui.drawings.training_drawing import (
    LOWEST,
    NARROWEST,
    WANTED,
    CurveSlot,
    Plot,
    arrange_plot,
    draw_curves,
    number_drawn,
    plot_bounds,
)
from attn_tutor.tui.screens.training_view import Curves
from attn_tutor.tui.tty.terminal import Terminal

FALLING = tuple((25 * step, 3.9 * exp(-step / 12)) for step in range(41))
BRAILLE = {chr(code) for code in range(0x2801, 0x2900)}
DOTS = set(".-'|")


def lines(plot: Plot, width: int = 40, height: int = 6, *, unicode: bool = True) -> list[str]:
    return ["".join(text for text, _ in line) for line in draw_curves(plot, width, height, unicode)]


def dots(plot: Plot, width: int = 40, height: int = 6, *, unicode: bool = True) -> list[str]:
    """Return the dots to the right of the vertical axis, without the axis of steps."""
    side = "┤│" if unicode else "+|"
    rows = lines(plot, width, height, unicode=unicode)[1:-1]
    return [row[next(at for at, sign in enumerate(row) if sign in side) + 1 :] for row in rows]


def columns(plot: Plot, row: int, **how: bool) -> list[int]:
    """Return the columns of a row that contain a dot."""
    return [at for at, sign in enumerate(dots(plot, **how)[row]) if sign != " "]


def test_a_curve_in_full() -> None:
    found = lines(Plot("loss", FALLING, 1000, 20))
    assert found[0].split() == ["loss", "0.7366"]
    assert [row[:7] for row in found[1:]] == ["     4┤", "      │", "      │", "     0┤", "      └"]
    assert found[-1].strip() == "└0──────────────▲500───────1000─"


def test_a_falling_curve_falls() -> None:
    plot = Plot("loss", FALLING, 1000, 40)
    tops = [min(columns(plot, row)) for row in range(4)]
    assert tops == sorted(tops)
    assert tops[0] == 0
    assert max(columns(plot, 3)) == 30


def test_a_level_is_a_dotted_line_at_its_height() -> None:
    plot = Plot("loss", ((0, 4.0), (10, 0.0)), 10, 1, level=3.0, level_label="chance")
    lines = ["".join(text for text, _ in line) for line in draw_curves(plot, 60, 6)]
    assert lines[0].split()[2:] == ["⠁⠁", "chance", "3"]
    assert [line.count("⠁⠁⠁") > 0 for line in lines[1:]] == [False, True, False, False, False]
    # The axis starts at zero, and the level is on it even where the curve is far away.
    far = Plot("loss", ((0, 9.0), (10, 8.5)), 10, 1, level=3.0, level_label="chance")
    lines = ["".join(text for text, _ in line) for line in draw_curves(far, 60, 6, unicode=False)]
    assert lines[4].startswith("     0+")
    assert any(line.count(".") > 40 for line in lines)
    # Where there is no room for its name, the name of the curve comes first.
    assert "chance" not in "".join(text for text, _ in draw_curves(plot, 24, 4)[0])
    assert "chance" not in str(draw_curves(Plot("loss", ((0, 4.0),), 10, 0, level=nan, level_label="chance"), 60, 6))


def test_ascii_has_three_heights_a_line() -> None:
    found = dots(Plot("loss", FALLING, 1000, 20), unicode=False)
    assert set("".join(found)) <= DOTS | {" "}
    assert "'" in "".join(found)
    assert "." in "".join(found)
    axis = lines(Plot("loss", FALLING, 1000, 20), unicode=False)[-1]
    assert axis.strip() == "+0--------------^500-------1000-"
    assert all(line.isascii() for line in lines(Plot("loss", FALLING, 1000, 20), unicode=False))


@pytest.mark.parametrize("unicode", [True, False])
def test_one_point_is_one_character(unicode: bool) -> None:
    found = "".join(dots(Plot("loss", ((0, 0.5),), 100, 0), unicode=unicode))
    assert len(found.strip()) == 1


@pytest.mark.parametrize("value", [0.5, 0.0, -3.0, 1e20, 1e-20])
def test_a_constant_is_a_flat_line_between_two_bounds(value: float) -> None:
    plot = Plot("loss", ((0, value), (50, value), (100, value)), 100, 0)
    filled = [row for row in range(4) if columns(plot, row)]
    assert len(filled) == 1
    low, high = plot_bounds([value])
    # Numbers that are never negative have no axis below 0.
    assert filled[0] in (1, 2) if value else filled[0] == 3
    assert low < value < high if value else low == value < high


@pytest.mark.parametrize("width", range(NARROWEST, 40))
def test_the_name_stays_readable_in_little_room(width: int) -> None:
    assert lines(Plot("Previous", ((0, 0.5),), 300, 0), width)[0].split() == ["Previous", "0.5000"]


def test_a_curve_without_points_has_axes_and_no_dot() -> None:
    found = lines(Plot("loss", (), 1000))
    assert found[0].strip() == "loss"
    assert set("".join(dots(Plot("loss", (), 1000)))) == {" "}
    assert not re.search("[0-9]", "".join(found))
    assert "▲" not in "".join(found)


@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize("broken", [nan, inf, -inf])
def test_a_number_that_is_not_finite_breaks_the_curve_and_is_marked(broken: float, unicode: bool) -> None:
    plot = Plot("loss", ((0, 1.0), (20, 1.0), (40, broken), (60, broken), (80, 1.0), (100, 1.0)), 100, 2)
    found = dots(plot, unicode=unicode)
    assert found[3].count("!") == 2
    # All dots have the same height, and there is none between 20 and 80.
    [row] = [row for row in found[:3] if row.strip()]
    assert " " * 10 in row.strip()
    assert lines(plot, unicode=unicode)[0].split() == ["loss", str(broken)]


def test_a_curve_without_finite_numbers() -> None:
    found = dots(Plot("loss", ((0, nan), (10, nan)), 10, 0))
    assert set("".join(found)) == {" ", "!"}


def test_distant_points_are_joined() -> None:
    """A curve that goes from one corner to the other fills every column."""
    plot = Plot("loss", ((0, 0.0), (100, 1.0)), 100, 0)
    assert sorted({at for row in range(4) for at in columns(plot, row)}) == list(range(31))


def test_a_thousand_points() -> None:
    wave = Plot("wave", tuple((step, sin(step / 50)) for step in range(1000)), 1000, 999)
    assert all(len(columns(wave, row)) > 5 for row in range(4))
    assert lines(wave)[-1].strip().endswith("999▲")


@pytest.mark.parametrize(("step", "axis"), [(0, "▲────"), (500, "▲500"), (990, "990▲"), (1000, "1000▲")])
def test_the_mark_has_its_step_beside_it_where_there_is_room(step: int, axis: str) -> None:
    wide = lines(Plot("loss", ((step, 1.0),), 1000, 0), 60)[-1]
    assert axis in wide
    assert wide.count("▲") == 1


@pytest.mark.parametrize("step", range(0, 301, 5))
def test_the_mark_is_not_drawn_inside_a_number(step: int) -> None:
    axis = lines(Plot("loss", ((step, 1.0),), 300, 0), 40)[-1]
    assert set(re.findall("[0-9]+", axis)) <= {"0", str(step), "300"}
    assert "300" in axis or step > 260


def test_the_axis_seldom_changes_as_numbers_arrive() -> None:
    """A new axis repaints the whole drawing."""
    found = {plot_bounds([value for _, value in FALLING[:count]]) for count in range(2, 42)}
    assert len(found) <= 3


def test_an_axis_begins_at_0_unless_that_would_flatten_the_curve() -> None:
    assert plot_bounds([2.8, 3.57]) == (0, 4)
    assert plot_bounds([0.1, 0.46]) == pytest.approx((0, 0.6))
    assert plot_bounds([3.5, 3.57])[0] > 3
    assert plot_bounds([-1.0, 2.0]) == (-1, 2)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True)))
@example([5e-324])
def test_bounds_contain_all_finite_numbers(values: list[float]) -> None:
    low, high = plot_bounds(values)
    assert isfinite(low)
    assert isfinite(high)
    assert low < high
    room = 1e-6 * max(abs(low), abs(high))
    assert all(low - room <= value <= high + room for value in values if abs(value) < 1e299)


@given(
    st.lists(st.tuples(st.integers(-5, 200), st.floats()), max_size=30),
    st.integers(NARROWEST, 90),
    st.integers(LOWEST, 12),
    st.booleans(),
)
def test_every_line_is_as_wide_as_its_slot(
    points: list[tuple[int, float]], width: int, height: int, unicode: bool
) -> None:
    plot = Plot("a name that is rather long", tuple(points), 100, len(points) - 1 if points else None)
    found = lines(plot, width, height, unicode=unicode)
    assert len(found) == height
    assert {cell_len(line) for line in found} == {width}


def test_slots() -> None:
    assert arrange_plot(2, 80, WANTED) == (CurveSlot(0, 0, 40, 6), CurveSlot(40, 0, 40, 6))
    assert arrange_plot(2, 56, 14) == (CurveSlot(0, 0, 56, 7), CurveSlot(0, 7, 56, 7))
    assert arrange_plot(3, 80, WANTED)[2] == CurveSlot(52, 0, 26, 6)
    # If there is no room for both curves, the first one is shown.
    assert arrange_plot(2, 30, LOWEST) == (CurveSlot(0, 0, 30, 4),)
    assert arrange_plot(2, 10, 20) == arrange_plot(2, 80, 2) == arrange_plot(0, 80, 20) == ()


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.5000"), (-12.25, "-12.2500"), (1e-5, "1e-05"), (1e7, "1e+07"), (0.0, "0"), (nan, "nan")],
)
def test_numbers(value: float, text: str) -> None:
    assert number_drawn(value) == text


class Showing(App[None]):
    """A screen with curves."""

    def compose(self) -> ComposeResult:
        self.curves = Curves(Terminal(depth="none"))
        yield self.curves


async def test_the_widget_repaints_only_lines_that_differ() -> None:
    app = Showing()
    async with app.run_test(size=(80, 6)) as pilot:
        app.curves.show((Plot("loss", FALLING[:20], 1000, 19), Plot("score", ((0, 0.0), (1000, 1.0)), 1000, 1)))
        await pilot.pause()
        painted = dict(app.curves._painted)
        text = ["".join(part for part, _ in painted[y]) for y in range(6)]
        assert "loss" in text[0]
        assert "score" in text[0][40:]
        asked: list[int] = []
        app.curves.render_line = lambda y, draw=app.curves.render_line: (asked.append(y), draw(y))[1]  # type: ignore
        app.curves.show((Plot("loss", FALLING[:20], 1000, 18), Plot("score", ((0, 0.0), (1000, 1.0)), 1000, 1)))
        await pilot.pause()
        # A different snapshot is current, so its number and the mark below change.
        assert set(asked) == {0, 5}
