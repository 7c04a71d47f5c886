"""Bars: their length, the drawing, and the keys."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.reading.loader import load_course
from attn_tutor.lessons.render import linear_matrix
from attn_tutor.lessons.render.ruler import Ruler
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.tui.drawings import bars
from attn_tutor.tui.drawings.drawing import BARS, MATRIX, drawing_of
from attn_tutor.tui.render.palette import palette
from attn_tutor.tui.tty.terminal import Depth, Terminal
from tests.course import use_course
from tests.tui.commands.command_line import WarmSession
from tests.tui.drawings.drawn_tensors import COURSE, cursor_text, scene, text
from tests.tui.learner import tutor
from tests.tui.widgets.test_matrix import MatrixApp, tensor

ASCII = Terminal(depth="none", unicode=False)
VARIANTS = ("by hand", "in place", "F.scaled_dot_product_attention", "nothing")


def times() -> Tensor:
    return replace(tensor("times", (12.3, 8.1, 4.22, 0.01), (4,), ("index",), (VARIANTS,)), draw="bars")


def groups() -> Tensor:
    labels = (("64", "128", "256", "512"), ("a", "b"))
    values = (1.0, 2.0, 3.0, -4.0, nan, inf, -inf, 0.0)
    return replace(tensor("seconds", values, (4, 2), ("query", "index"), labels), draw="bars")


# How long a bar is


@pytest.mark.parametrize(
    ("value", "bar"),
    [
        (8.0, ("", "████")),
        (4.0, ("", "██")),
        (3.0, ("", "█▌")),
        (0.25, ("", "▏")),
        (1e-9, ("", "▏")),
        (0.0, ("", "")),
        (nan, ("", "")),
        (None, ("", "")),
        (inf, ("", "███>")),
    ],
)
def test_bars_above_zero(value: float | None, bar: tuple[str, str]) -> None:
    assert Ruler.of(0.0, 8.0, 4).bar(value) == bar


@pytest.mark.parametrize(
    ("value", "bar"),
    [
        (-4.0, ("████", "")),
        (-1.5, ("  ▐█", "")),
        (-1e-9, ("   ▕", "")),
        (-inf, ("<███", "")),
        (0.0, ("    ", "")),
        (4.0, ("    ", "████")),
        (inf, ("    ", "███>")),
    ],
)
def test_bars_below_zero(value: float, bar: tuple[str, str]) -> None:
    assert Ruler.of(-4.0, 4.0, 9).bar(value) == bar


def test_bars_of_whole_cells() -> None:
    ruler = Ruler.of(-4.0, 4.0, 9, unicode=False)
    assert [ruler.bar(value) for value in (-4.0, -2.4, -0.1, 0.1, 3.6)] == [
        ("####", ""),
        ("  ##", ""),
        ("   .", ""),
        ("    ", "."),
        ("    ", "####"),
    ]


@given(st.lists(st.floats(width=32), min_size=1, max_size=6), st.integers(1, 70), st.booleans())
def test_no_bar_is_longer_than_its_space(values: list[float], width: int, unicode: bool) -> None:
    finite = [value for value in values if abs(value) != inf and value == value]
    ruler = Ruler.of(min(finite, default=None), max(finite, default=None), width, unicode)
    for value in values:
        left, right = ruler.bar(value)
        assert cell_len(left) == ruler.left
        assert cell_len(right) <= ruler.right
        assert not (left.strip() and right)
    # A longer bar is a greater number.
    ends = [cell_len(right) or -cell_len(left.strip()) for left, right in map(ruler.bar, sorted(finite))]
    assert ends == sorted(ends)


# What is drawn


def test_a_vector() -> None:
    assert text(scene(times(), 80, row=0, col=2, note="live, 12 ms")) == (
        " times  4                                                           live, 12 ms\n"
        "                        by hand  12.3000  █████████████████████████████████████\n"
        "                       in place   8.1000  ████████████████████████▍\n"
        " F.scaled_dot_product_attention ▐ 4.2200▌ ████████████▊\n"
        "                        nothing   0.0100  ▏"
    )


def test_groups_and_signs() -> None:
    assert text(scene(groups(), 50, row=2, col=1)) == (
        " seconds  4×2   groups: query\n"
        " 64   a   1.0000                   │████▎\n"
        "      b   2.0000                   │████████▌\n"
        " 128  a   3.0000                   │████████████▊\n"
        "      b  -4.0000  █████████████████│\n"
        " 256  a      nan                   │\n"
        "      b ▐    inf▌                  │████████████>\n"
        " 512  a     -inf  <████████████████│\n"
        "      b   0.0000                   │"
    )


def test_ascii() -> None:
    drawn = text(scene(groups(), 50, row=1, col=1, terminal=ASCII))
    assert drawn.isascii()
    assert "      b [-4.0000] #################|" in drawn


def test_nothing_but_zeros() -> None:
    zeros = replace(times(), values=(0.0,) * 4, low=0.0, high=0.0)
    assert text(scene(zeros)).splitlines()[1] == "                        by hand ▐0.0000▌"


def test_one_number_none_and_too_many() -> None:
    one = replace(tensor("loss", (2.5,), ()), draw="bars")
    assert text(scene(one, 30)).splitlines()[1] == " ▐2.5000▌ ███████████████████"
    assert drawing_of(times()) is BARS
    assert drawing_of(replace(times(), values=None)) is MATRIX
    assert drawing_of(replace(tensor("none", (), (0,)), draw="bars")) is MATRIX


def test_more_than_fit() -> None:
    labels = tuple(f"variant {index}" for index in range(40))
    many = replace(tensor("many", [float(index) for index in range(40)], (40,), ("index",), (labels,)), draw="bars")
    lines = text(scene(many, height=12, col=20)).splitlines()
    assert len(lines) == 12
    assert "variant 15" in lines[1]
    assert lines[-1].strip() == "+15 above  +15 below"
    # The group is named again if it starts above the visible lines.
    drawn = text(scene(groups(), 50, height=4, row=2, col=1))
    assert drawn.splitlines()[1:] == [
        " 256  a      nan                   │",
        "      b ▐    inf▌                  │████████████>",
        " 512  a     -inf  <████████████████│",
    ]


@pytest.mark.parametrize("width", [12, 20, 40, 80, 132])
@pytest.mark.parametrize("depth", ["none", "16", "256", "truecolor"])
def test_lines_are_as_wide_as_the_screen(width: int, depth: Depth) -> None:
    for example in (times(), groups()):
        drawing = scene(example, width, terminal=Terminal(depth=depth))
        for y in range(drawing.layout.height):
            assert sum(cell_len(part) for part, _ in bars.draw(drawing, y)) == width


def test_cell_at_inverts_cursor_at() -> None:
    drawing = scene(groups(), 50, row=1, col=1)
    assert cursor_text(drawing).startswith("-4.0000")
    assert bars.cell_at(drawing, 20, 4) == (1, 1)
    assert bars.cell_at(drawing, 20, 0) is None
    assert bars.cell_at(drawing, 20, 9) is None


def test_description() -> None:
    drawing = scene(groups())
    description = bars.describe(drawing.face, (), 1, 1, -4.0)
    assert description == "seconds[1,1] = -4.0   group: 128 (query 1)   bar: b (index 1)"
    assert bars.describe(scene(times()).face, (), 0, 0, 12.3) == "times[0] = 12.3   bar: by hand (index 0)"


def test_negative_bars_have_a_color() -> None:
    ways: tuple[Depth, ...] = ("16", "256", "truecolor")
    for depth in ways:
        assert bars._bar_style(palette(Terminal(depth=depth)), below=True) != bars._bar_style(
            palette(Terminal(depth=depth)), below=False
        )


# Keys


async def test_arrows_walk_the_bars() -> None:
    app = MatrixApp(times())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "down", "up", "right")
        assert [index for index, _ in app.moves] == [(0,), (1,), (2,), (1,), (2,)]
        x, y = app.cursor_position
        assert app.lines[y][x:].strip().startswith("4.2200")
        await pilot.press("end", "down")
        assert app.matrix.index == (3,)
        await pilot.press("ctrl+home", "up")
        assert app.matrix.index == (0,)
        assert app.matrix.hints == ["arrows bar"]


async def test_arrows_walk_the_groups() -> None:
    app = MatrixApp(groups())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "down", "right", "right", "right", "left")
        assert [index for index, _ in app.moves] == [(0, 0), (0, 1), (1, 0), (2, 0), (3, 0), (2, 0)]
        await pilot.press("ctrl+end", "down")
        assert app.matrix.index == (3, 1)
        await pilot.click(app.matrix, offset=(30, 2))
        assert app.matrix.index == (0, 1)


async def test_a_move_repaints_up_to_the_numbers_only() -> None:
    app = MatrixApp(times())
    async with app.run_test(size=(80, 24)) as pilot:
        app.watch_refreshes()
        await pilot.press("down")
        assert [(region.y, region.width) for region in app.refreshed] == [(1, 41), (2, 41)]


async def test_there_is_no_overview_of_bars() -> None:
    app = MatrixApp(replace(tensor("x", [1.0] * 40, (40,)), draw="bars"))
    async with app.run_test(size=(80, 12)) as pilot:
        for key in ("v", "minus", "plus", "o"):
            await pilot.press(key)
            assert not app.matrix.overview
            assert app.matrix.describe() == "Only matrices have an overview."
        await pilot.press("pagedown", "pagedown")
        assert app.matrix.index == (18,)
        assert "+18 above" in app.lines[-1]


async def test_the_next_tensor_may_be_a_matrix() -> None:
    app = MatrixApp(groups())
    async with app.run_test() as pilot:
        await pilot.press("down", "down")
        app.matrix.show(replace(groups(), draw="matrix"))
        await pilot.pause()
        assert app.matrix.cursor == (0, 0)
        assert app.matrix.hints == ["arrows cell"]
        app.matrix.show(groups(), blank=True)
        await pilot.pause()
        assert "█" not in "".join(app.lines)
        assert "4.0000" not in "".join(app.lines)


# Text, and a journey


def test_bars_as_text() -> None:
    lines = list(linear_matrix.tensor_lines(groups(), 50))
    assert lines[0] == "seconds  4×2"
    assert lines[1] == "   64  a   1.0000                   |####"
    assert lines[4] == "       b  -4.0000  #################|"
    assert all(line.replace("×", "x").isascii() for line in lines)


async def test_bars_in_a_lesson(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    use_course(monkeypatch, load_course(COURSE))
    async with tutor(WarmSession(session)) as learner:
        await learner.press("enter")
        await learner.sees("sums  3", "live,", "in the middle", "│")
        await learner.press("down")
        await learner.sees("sums[1] = -0.18", "bar: in the middle (index 1)")
        await learner.press("enter")
        await learner.sees("sums[1] =", "line 1", "inputs")
        await learner.press("escape", "w")
        await learner.sees("What if")
        await learner.press("1", "enter")
        await learner.sees("► 1.0000", "after")
        await learner.press("d")
        await learner.sees("►1.1800▌", "difference")
        await learner.press("escape", "n")
        await learner.sees("both  2×6", "groups: token", "b less a half")
        await learner.press("end", "right")
        await learner.sees("both[1,5] = 0.16", "group: journey (token 1)   bar: c less a half")
