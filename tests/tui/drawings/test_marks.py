"""Marked cells: which cells are marked, and that marks are visible without color and move nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from attn_tutor.tui.drawings.grid import draw
from attn_tutor.tui.drawings.marks import CHANGED, NO_MARKS, OPERAND, SET, Cells, Marked, Marks, Part, sign
from attn_tutor.tui.render.palette import palette
from attn_tutor.tui.tty.terminal import Depth, Terminal
from tests.tui.widgets.test_matrix import ASCII, PLAIN, MatrixApp, large, of_words, scene, scores, tensor, text

ALL = Marks(operands=Cells(((1, None),)), changed=Cells(((0, 3),), frozenset([3 * 6 + 5])), set=Cells(((1, 1), (2, 0))))


def row(marks: Marks, shape: tuple[int, ...], lead: tuple[int, ...], at: int, count: int = 6) -> list[int]:
    """Return the marks of the first cells of a row."""
    return list(Marked(marks, shape).row(lead, at, 0, count))


# Which cells


def test_patterns() -> None:
    assert row(ALL, (6, 6), (), 1) == [OPERAND, OPERAND | SET, *[OPERAND] * 4]
    assert row(ALL, (6, 6), (), 0) == [0, 0, 0, CHANGED, 0, 0]
    assert row(ALL, (6, 6), (), 3) == [0, 0, 0, 0, 0, CHANGED]
    assert row(ALL, (6, 6), (), 4) == []


def test_leading_axes() -> None:
    marks = Marks(Cells(((0, None, 2, range(1, 3)), (1, 3, None, 0))))
    assert row(marks, (2, 4, 3, 6), (0, 3), 2) == [0, OPERAND, OPERAND, 0, 0, 0]
    assert row(marks, (2, 4, 3, 6), (1, 3), 2) == [OPERAND, 0, 0, 0, 0, 0]
    assert row(marks, (2, 4, 3, 6), (1, 2), 2) == []


def test_vectors_and_scalars() -> None:
    assert row(Marks(Cells(((2,),))), (6,), (), 0) == [0, 0, OPERAND, 0, 0, 0]
    assert row(Marks(set=Cells(flat=frozenset([5]))), (6,), (), 0) == [0, 0, 0, 0, 0, SET]
    assert row(Marks(Cells(((),))), (), (), 0, 1) == [OPERAND]


def test_a_pattern_for_a_different_number_of_axes_marks_nothing() -> None:
    assert row(Marks(Cells(((1,), (1, 1, 1)))), (6, 6), (), 1) == []


def test_only_visible_columns_are_marked() -> None:
    assert Marked(Marks(Cells(((5, 7), (5, range(30, 40))))), (64, 64)).row((), 5, 7, 2) == [OPERAND, 0]
    assert Marked(Marks(Cells(((5, 7), (5, range(30, 40))))), (64, 64)).row((), 5, 8, 2) == ()


parts: st.SearchStrategy[Part] = st.one_of(
    st.none(), st.integers(0, 11), st.tuples(st.integers(0, 11), st.integers(0, 12)).map(lambda ends: range(*ends))
)


@given(parts, parts, st.integers(0, 143), st.integers(1, 5), st.integers(1, 5))
def test_a_block_is_marked_if_one_of_its_cells_is(rows: Part, cols: Part, flat: int, high: int, wide: int) -> None:
    marks = Marks(operands=Cells(((rows, cols),)), set=Cells(flat=frozenset([flat])))
    cells, blocks = Marked(marks, (12, 12)), Marked(marks, (12, 12), high, wide)
    for down in range(-(-12 // high)):
        for across in range(-(-12 // wide)):
            inside = [
                list(cells.row((), at, across * wide, min(wide, 12 - across * wide))) or [0]
                for at in range(down * high, min(12, (down + 1) * high))
            ]
            want = 0
            for senses in inside:
                for each in senses:
                    want |= each
            assert (list(blocks.row((), down, across, 1)) or [0])[0] == want


def test_the_rarest_sense_gives_the_sign() -> None:
    assert [sign(senses, True) for senses in (OPERAND, OPERAND | CHANGED, 7)] == ["│", "•", "►"]
    assert [sign(senses, False) for senses in (OPERAND, OPERAND | CHANGED, 7)] == ["|", "*", "!"]


# How they look


def test_marks_are_drawn_in_the_gap_before_the_digits() -> None:
    plain = scene(scores(), row=5, col=5)
    marked = replace(plain, marked=Marked(ALL, (6, 6)))
    lines = text(marked).splitlines()
    assert lines[2] == "    Your   0.9231▒  1.3545▓  1.3241▓ •0.7910░  0.4032   1.1330▒"
    assert lines[3] == " journey  │1.2705▓ ►1.8524█ │1.8111█ │1.0795▒ │0.5577  │1.5440█"
    unsigned = text(marked).translate(str.maketrans("•│►", "   "))
    assert unsigned == text(plain)


def test_marks_in_ascii() -> None:
    lines = text(replace(scene(scores(), row=5, col=5, terminal=ASCII), marked=Marked(ALL, (6, 6)))).splitlines()
    assert lines[3] == " journey  |1.2705* !1.8524@ |1.8111@ |1.0795* |0.5577. |1.5440#"
    assert "*0.7910" in lines[2]


def test_the_cursor_shows_the_sign_too() -> None:
    marked = replace(scene(scores(), row=1, col=0), marked=Marked(ALL, (6, 6)))
    assert text(marked).splitlines()[3].startswith(" journey  │1.2705▌ ►1.8524█")


@pytest.mark.parametrize("depth", ["none", "16", "256", "truecolor"])
def test_operands_are_underlined_on_the_color_of_their_cell(depth: Depth) -> None:
    terminal = Terminal(depth=depth)
    drawing = scene(scores(), row=5, col=5, terminal=terminal)
    runs = draw(replace(drawing, marked=Marked(ALL, (6, 6))), 3)
    ((_, style),) = [run for run in runs if run[0] == "│1.2705"]
    ground = drawing.face.scale.look(1.2705).style
    assert style is not None
    assert style.underline
    assert style.bgcolor == (ground.bgcolor if ground else None)


def test_a_masked_cell_is_not_dim_if_it_is_marked() -> None:
    masked = of_words("masked", [[float("-inf")] * 6] * 6)
    runs = draw(replace(scene(masked, row=5, col=5), marked=Marked(ALL, (6, 6))), 3)
    ((_, style),) = [run for run in runs if "►" in run[0]]
    assert isinstance(style, Style)
    assert style.bold
    assert not style.dim
    assert palette(PLAIN).hidden.style == Style(dim=True)


# The widget


async def test_only_lines_that_differ_are_repainted() -> None:
    app = MatrixApp(scores())
    async with app.run_test() as pilot:
        app.watch_refreshes()
        app.matrix.mark(ALL)
        assert [region.y for region in app.refreshed] == [2, 3, 4, 5]
        await pilot.pause()
        app.refreshed.clear()
        app.matrix.mark(ALL)
        assert app.refreshed == []
        app.matrix.mark(replace(ALL, changed=Cells(((0, 3),))))
        assert [region.y for region in app.refreshed] == [5]
        await pilot.pause()
        app.matrix.mark(NO_MARKS)
        await pilot.pause()
        assert not any(mark in line for line in app.lines for mark in "•│►")


async def test_marks_stay_with_their_tensor() -> None:
    app = MatrixApp(scores())
    async with app.run_test() as pilot:
        app.matrix.mark(ALL)
        app.matrix.caption("difference")
        app.matrix.show(of_words("scores", [[0.0] * 6] * 6), "live")
        await pilot.pause()
        assert "►0.0000" in app.lines[3]
        assert app.lines[0].startswith(" scores  6×6  difference ")
        app.matrix.show(of_words("weights", [[0.0] * 6] * 6), "live")
        await pilot.pause()
        assert "►" not in app.lines[3]
        assert "difference" not in app.lines[0]
        app.matrix.show(None)
        app.matrix.mark(ALL)


async def test_marks_of_the_head_that_is_shown() -> None:
    values = [0.0] * 12
    app = MatrixApp(tensor("weights", values, (3, 2, 2), ("head", "query", "key")))
    async with app.run_test() as pilot:
        app.matrix.mark(Marks(Cells(((1, 0, 1),))))
        await pilot.pause()
        assert "│" not in app.lines[3]
        await pilot.press("right_square_bracket")
        assert "│0.0000" in app.lines[3]


async def test_thousands_of_marks() -> None:
    app = MatrixApp(large())
    async with app.run_test() as pilot:
        app.matrix.mark(Marks(Cells(tuple((0, 5, col) for col in range(1024)))))
        await pilot.press("down")
        assert app.lines[8].count("│") == 9
