"""The matrix widget: the drawing, what a move repaints, what is requested, and the bytes sent."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.message import Message
from textual.widgets import Static

from attn_tutor.lessons.results.result import Tensor, Window
from attn_tutor.lessons.results.tensor_questions import WindowQuestion
from attn_tutor.tui.drawings.drawing_scene import TILE, DrawingScene, Face, index_of, tiles_missing, values_of
from attn_tutor.tui.drawings.grid import draw, layout, natural_size
from attn_tutor.tui.drawings.styled_line import differing_width
from attn_tutor.tui.drawings.tensor_words import describe
from attn_tutor.tui.render.palette import palette
from attn_tutor.tui.tty.terminal import Depth, Terminal
from attn_tutor.tui.widgets.matrix import MOST_WINDOWS, MatrixView
from tests.tui.pty_harness import Pty

ROOT = Path(__file__).parents[3]
WORDS = ("Your", "journey", "starts", "with", "one", "step")
SCORES = (
    (0.9231, 1.3545, 1.3241, 0.7910, 0.4032, 1.1330),
    (1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440),
    (1.2544, 1.8284, 1.7877, 1.0654, 0.5508, 1.5238),
    (0.6973, 1.0167, 0.9941, 0.5925, 0.3061, 0.8475),
    (0.6114, 0.8819, 0.8626, 0.5121, 0.2707, 0.7307),
    (0.8995, 1.3165, 1.2871, 0.7682, 0.3937, 1.0996),
)
PLAIN = Terminal(depth="none")
ASCII = Terminal(depth="none", unicode=False)


def tensor(
    name: str,
    values: Sequence[float],
    shape: tuple[int, ...],
    axes: tuple[str, ...] = (),
    labels: tuple[tuple[str, ...], ...] = (),
    kind: str = "score",
    dtype: str = "float32",
) -> Tensor:
    finite = [value for value in values if isfinite(value)]
    return Tensor(
        name, kind, dtype, shape, axes, labels, min(finite, default=None), max(finite, default=None), tuple(values)
    )


def of_words(name: str, rows: Sequence[Sequence[float]], kind: str = "score", dtype: str = "float32") -> Tensor:
    return tensor(name, [value for row in rows for value in row], (6, 6), ("query", "key"), (WORDS, WORDS), kind, dtype)


def scores() -> Tensor:
    return of_words("scores", SCORES)


def large() -> Tensor:
    """Return a tensor of twelve heads of 1024 by 1024, without any values."""
    return Tensor("weights", "weight", "float32", (12, 1024, 1024), ("head", "query", "key"), (), 0.0, 1.0, None)


def window(lead: tuple[int, ...], top: int, left: int, height: int = TILE, width: int = TILE) -> Window:
    rows = tuple(tuple((row + col) / 2048 for col in range(left, left + width)) for row in range(top, top + height))
    return Window(lead, top, left, rows)


def scene(
    example: Tensor,
    width: int = 80,
    height: int = 12,
    row: int = 0,
    col: int = 0,
    *,
    lead: tuple[int, ...] | None = None,
    corner: tuple[int, int] = (0, 0),
    terminal: Terminal = PLAIN,
    note: str = "",
    focused: bool = True,
    windows: Sequence[Window] = (),
) -> DrawingScene:
    colors = palette(terminal)
    face = Face.of(example, colors)
    grid_layout = layout(face, width, height, row, col, *corner)
    given = lead if lead is not None else (0,) * len(example.lead_shape)
    return DrawingScene(face, grid_layout, colors, given, row, col, note, focused, dict(enumerate(windows)))


def tall_scene(lines: int, height: int, terminal: Terminal = PLAIN) -> DrawingScene:
    """Return the scene of a small matrix whose rows are several lines high."""
    example, colors = scores(), palette(terminal)
    face = replace(Face.of(example, colors), tall=lines)
    return DrawingScene(face, layout(face, 60, height, 1, 0), colors, (), 1, 0)


def test_rows_of_several_lines() -> None:
    rows = scores().matrix_shape[0]
    drawing = tall_scene(3, 2 + 3 * rows)
    lines = text(drawing).splitlines()
    digits = [drawing.layout.row_y(row) for row in range(rows)]
    assert digits == [3 + 3 * row for row in range(rows)]
    assert text(scene(scores(), 60, 2 + rows, 1, 0)).splitlines()[2:] == [lines[y] for y in digits]
    # The other lines repeat no digits, and belong to the same cells.
    assert not any(character.isdigit() for y in range(2, len(lines)) if y not in digits for character in lines[y])
    for y in range(2, 2 + 3 * rows):
        assert drawing.layout.cell_at(drawing.layout.gutter, y) == ((y - 2) // 3, 0)
    assert drawing.layout.row_y(rows) == -1
    # Where there is not room for all, rows are one line high.
    assert tall_scene(3, 1 + 3 * rows).layout.tall == 1


def text(drawing: DrawingScene) -> str:
    lines = ("".join(part for part, _ in draw(drawing, y)) for y in range(drawing.layout.height))
    return "\n".join(line.rstrip() for line in lines).rstrip()


# What is drawn


def test_scores() -> None:
    assert text(scene(scores(), row=1, col=1, note="live, 12 ms")) == (
        " scores  6×6   rows: query  columns: key         0.271  ░▒▓█ 1.85   live, 12 ms\n"
        "             Your  journey   starts     with      one     step\n"
        "    Your   0.9231▒  1.3545▓  1.3241▓  0.7910░  0.4032   1.1330▒\n"
        " journey   1.2705▓ ▐1.8524▌  1.8111█  1.0795▒  0.5577   1.5440█\n"
        "  starts   1.2544▓  1.8284█  1.7877█  1.0654▒  0.5508   1.5238▓\n"
        "    with   0.6973░  1.0167▒  0.9941▒  0.5925░  0.3061   0.8475░\n"
        "     one   0.6114░  0.8819░  0.8626░  0.5121   0.2707   0.7307░\n"
        "    step   0.8995░  1.3165▓  1.2871▓  0.7682░  0.3937   1.0996▒"
    )


def test_the_header_leaves_out_axes_that_only_count() -> None:
    assert " scores  6×6   rows: query   " in text(scene(replace(scores(), axes=("query", "index"))))
    assert " scores  6×6      " in text(scene(replace(scores(), axes=("index", "index"))))


def test_ascii() -> None:
    drawn = text(scene(scores(), row=1, col=1, terminal=ASCII, note="recorded", height=4))
    assert drawn.isascii()
    assert " scores  6x6   rows: query  columns: key" in drawn
    assert " journey   1.2705* [1.8524]  1.8111@" in drawn


def test_causal_weights_are_blank_where_they_are_zero() -> None:
    rows = [[1 / (row + 1) if col <= row else 0.0 for col in range(6)] for row in range(6)]
    drawing = scene(of_words("weights", rows, "weight"), row=5, col=5)
    assert text(drawing).splitlines()[2:5] == [
        "    Your   1.0000█  0.0000   0.0000   0.0000   0.0000   0.0000",
        " journey   0.5000▓  0.5000▓  0.0000   0.0000   0.0000   0.0000",
        "  starts   0.3333▒  0.3333▒  0.3333▒  0.0000   0.0000   0.0000",
    ]


def test_masked_scores() -> None:
    rows = [[value if col <= row else -inf for col, value in enumerate(line)] for row, line in enumerate(SCORES)]
    lines = text(scene(of_words("masked", rows), row=5, col=5)).splitlines()
    assert lines[2] == "    Your   0.9231▒    -inf     -inf     -inf     -inf     -inf"


def test_a_mask_of_booleans() -> None:
    rows = [[float(col > row) for col in range(6)] for row in range(6)]
    lines = text(scene(of_words("mask", rows, "mask", "bool"), row=5, col=5)).splitlines()
    assert lines[0].endswith("0·   1■")
    assert lines[1:4] == [
        "            Your journey  starts    with     one    step",
        "    Your       0·      1■      1■      1■      1■      1■",
        " journey       0·      0·      1■      1■      1■      1■",
    ]


def test_nan_and_infinity_stand_out() -> None:
    example = tensor("odd", (1.0, nan, inf, 2.0), (2, 2), ("query", "key"))
    assert "nan!" in text(scene(example))
    assert "inf!" in text(scene(example))


def test_a_vector_is_a_row_without_a_label() -> None:
    lines = text(scene(tensor("query_2", (0.1, -0.5, 0.9), (3,), ("dim",), kind="vector"), col=1)).splitlines()
    assert lines[0].startswith(" query_2  3   columns: dim")
    assert lines[0].endswith("-0.5 ▓▒░ ░▒▓█ 0.9")
    assert lines[1:] == ["         0         1         2", "    0.1000░ ▐-0.5000▌   0.9000█"]


def test_a_scalar_is_a_cell() -> None:
    lines = text(scene(tensor("loss", (2.5,), ()))).splitlines()
    assert lines[0].split() == ["loss", "scalar", "2.5", "▒"]
    assert lines[1:] == ["  ▐2.5000▌"]


def test_leading_axes_have_a_line_with_their_keys() -> None:
    values = [float(value) for value in range(2 * 3 * 2 * 2)]
    example = tensor("context", values, (2, 3, 2, 2), ("batch", "head", "token", "dim"), kind="vector")
    lines = text(scene(example, lead=(1, 2))).splitlines()
    assert lines[0].startswith(" context  2×3×2×2   rows: token  columns: dim")
    assert lines[1] == " batch 1 of 2  head 2 of 3   [ ] head  { } batch"
    assert lines[3].split() == ["0", "▐20.0000▌", "21.0000█"]


def test_without_room_for_their_line_leading_axes_are_in_the_header() -> None:
    example = tensor("context", [0.0] * 24, (6, 2, 2), ("head", "token", "dim"))
    assert (
        text(scene(example, width=40, height=4, lead=(3,))).splitlines()[0].startswith(" context  6×2×2  head 3 of 6")
    )


def test_the_name_stays_in_a_header_that_is_too_narrow_for_what_is_said_of_it() -> None:
    example = tensor("W_query", [0.0] * 12, (3, 4), ("dim", "dim"))
    [header, *_] = text(replace(scene(example, width=26), caption="had a different shape before")).splitlines()
    assert header.startswith(" W_query  had a differen")
    assert len(header) <= 26


def test_a_large_tensor_says_how_much_more_there_is() -> None:
    lines = text(scene(large(), row=492, col=1023, corner=(490, 0))).splitlines()
    assert lines[2].startswith("     ‹   10")
    assert lines[2].endswith("1023")
    assert lines[3].split() == ["490", *["·"] * 9]
    assert lines[-1].strip() == "+490 above  +526 below  +1015 left   o overview"
    first = text(scene(large())).splitlines()
    assert first[2].endswith("›")
    assert first[-1].strip() == "+1016 below  +1015 right   o overview"


def test_a_narrow_matrix_abbreviates_how_much_more_there_is() -> None:
    lines = text(scene(large(), width=24, row=500, col=500, corner=(495, 499))).splitlines()
    assert lines[-1] == " ↑495 ↓521 ←499 →523"
    assert text(scene(large(), width=24, terminal=ASCII)).splitlines()[-1] == " v1016 >1022"


@pytest.mark.parametrize("kind", ["score", "weight", "vector", "mask"])
@pytest.mark.parametrize("depth", ["none", "16", "256", "truecolor"])
@pytest.mark.parametrize("focused", [True, False])
def test_the_cursor_shows_without_color(kind: str, depth: Depth, focused: bool) -> None:
    example = replace(scores(), kind=kind)
    assert "▐1.8524▌" in text(scene(example, row=1, col=1, terminal=Terminal(depth=depth), focused=focused))


def test_labels_of_the_cursor_are_highlighted() -> None:
    drawing = scene(scores(), row=1, col=2)
    current = drawing.palette.current
    assert ("journey", current) in draw(drawing, drawing.layout.row_y(1))
    assert ("starts", current) in draw(drawing, drawing.layout.labels)
    assert all(style != current for _, style in draw(drawing, drawing.layout.row_y(0)))


def test_labels_are_drawn_literally_without_control_characters() -> None:
    labels = (("注意力机制", "[/b]", "\x1b[31m"), ("\u202eabc", " the", "a\nb"))
    example = tensor("odd[red]", [0.0] * 9, (3, 3), ("query", "key"), labels)
    drawn = text(scene(example, row=2, col=2))
    assert "odd[red]" in drawn
    for label in ("注意力机制", "[/b]", "\\x1b[31m", "\\u202eabc", "␣the", "a\\nb"):
        assert label in drawn
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn


def test_long_labels_give_way_first() -> None:
    labels = (("an unusually long label",) * 2, ("x", "y"))
    example = tensor("m", [0.0] * 4, (2, 2), ("query", "key"), labels)
    wide, narrow = text(scene(example)).splitlines(), text(scene(example, width=24)).splitlines()
    assert wide[2] == "  an unusually…  ▐0.0000▌  0.0000▒"
    assert narrow[2] == " an un… ▐0.0000▌ 0.0000▒"


def test_the_legend_gives_way_to_the_note_and_the_note_to_the_name() -> None:
    heads = [text(scene(scores(), width=width, note="live, 12 ms")).splitlines()[0] for width in (80, 60, 40, 24, 10)]
    assert heads == [
        " scores  6×6   rows: query  columns: key         0.271  ░▒▓█ 1.85   live, 12 ms",
        " scores  6×6  query×key      0.271  ░▒▓█ 1.85   live, 12 ms",
        " scores  6×6                live, 12 ms",
        " scores     live, 12 ms",
        " scores",
    ]


def test_adjacent_equal_styles_are_merged() -> None:
    row = draw(scene(scores(), row=1, col=1), 2)
    assert row == (("    Your   0.9231▒  1.3545▓  1.3241▓  0.7910░  0.4032   1.1330▒" + " " * 17, None),)


# What fits


shapes = st.one_of(
    st.just(()),
    st.tuples(st.integers(1, 40)),
    st.tuples(st.integers(1, 1024), st.integers(1, 1024)),
    st.tuples(st.integers(1, 12), st.integers(1, 1024), st.integers(1, 1024)),
    st.tuples(st.integers(1, 4), st.integers(1, 12), st.integers(1, 1024), st.integers(1, 1024)),
)


@given(st.data(), shapes, st.integers(1, 130), st.integers(1, 45), st.booleans(), st.text(max_size=12))
def test_any_tensor_fits_any_size(
    data: st.DataObject, shape: tuple[int, ...], width: int, height: int, unicode: bool, label: str
) -> None:
    labels = tuple((label,) for _ in shape)
    example = Tensor(label, "score", "float32", shape, (), labels, -1.0, 1.0, None, window(shape[:0], 0, 0, 3, 3))
    rows, cols = example.matrix_shape
    row, col = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, cols - 1))
    corner = (data.draw(st.integers(0, 1024)), data.draw(st.integers(0, 1024)))
    depth: Depth = data.draw(st.sampled_from(["none", "truecolor"]))
    terminal = Terminal(depth=depth, unicode=unicode)
    drawing = scene(example, width, height, row, col, corner=corner, terminal=terminal, note=label and "live")
    grid_layout = drawing.layout
    assert 0 <= grid_layout.top <= row < grid_layout.top + grid_layout.rows <= rows
    assert 0 <= grid_layout.left <= col < grid_layout.left + grid_layout.cols <= cols
    assert grid_layout.row_y(row) < height
    for y in range(height):
        assert sum(cell_len(part) for part, _ in draw(drawing, y)) == width
        assert all(one[1] != other[1] for one, other in zip(draw(drawing, y), draw(drawing, y)[1:], strict=False))


def test_numbers_are_shown_from_20_by_3_on() -> None:
    lines = text(scene(scores(), 20, 3, row=1, col=1)).splitlines()
    assert lines == [" scores  6×6", "      ‹journey ›", " jour… ▐1.8524▌"]


def test_all_columns_are_shown_before_labels_are() -> None:
    assert layout(Face.of(scores(), palette(PLAIN)), 80, 12, 0, 0).cols == 6
    assert layout(Face.of(scores(), palette(PLAIN)), 54, 12, 0, 0).cols == 6
    assert layout(Face.of(scores(), palette(PLAIN)), 53, 12, 0, 0).cols == 5


def test_the_view_stays_until_the_cursor_leaves_it_and_then_moves_half_a_page() -> None:
    face = Face.of(large(), palette(PLAIN))

    def top(row: int, before: int) -> int:
        return layout(face, 80, 24, row, 0, before, 0).top

    rows = layout(face, 80, 24, 0, 0).rows
    assert rows == 20
    assert top(19, 0) == 0
    assert top(20, 0) == 10
    assert top(9, 10) == 0
    assert top(1023, 10) == 1004


def test_natural_size() -> None:
    assert natural_size(Face.of(scores(), palette(PLAIN))) == (9 + 6 * 9 + 1, 8)
    columns, lines = natural_size(Face.of(large(), palette(PLAIN)))
    assert columns > 8000
    assert lines == 1 + 1 + 1 + 1024
    assert natural_size(Face.of(tensor("x", (1.0,), ()), palette(PLAIN)))[1] == 2


@pytest.mark.parametrize("width", [54, 64, 80])
def test_a_click_finds_the_cell_that_is_drawn_there(width: int) -> None:
    grid_layout = layout(Face.of(scores(), palette(PLAIN)), width, 12, 0, 0)
    assert grid_layout.cell_at(grid_layout.gutter, grid_layout.first) == (0, 0)
    assert grid_layout.cell_at(grid_layout.gutter + 2 * grid_layout.period - 1, grid_layout.first + 5) == (5, 1)
    assert grid_layout.cell_at(grid_layout.gutter - 1, grid_layout.first) is None
    assert grid_layout.cell_at(grid_layout.gutter + 6 * grid_layout.period, grid_layout.first) is None
    assert grid_layout.cell_at(grid_layout.gutter, grid_layout.first - 1) is None
    assert grid_layout.cell_at(grid_layout.gutter, grid_layout.first + 6) is None


# Cells in words


@pytest.mark.parametrize(
    ("example", "lead", "cell", "value", "words"),
    [
        (scores(), (), (1, 1), 1.8524080514907837,
         "scores[1,1] = 1.852408   row: journey (query 1)   column: journey (key 1)"),
        (tensor("v", (0.0,) * 6, (6,), ("dim",)), (), (0, 3), 0.25, "v[3] = 0.25   column: dim 3"),
        (tensor("loss", (0.0,), ()), (), (0, 0), 2.5, "loss = 2.5"),
        (large(), (3,), (5, 7), None, "weights[3,5,7] = …   row: query 5   column: key 7"),
        (of_words("mask", SCORES, "mask", "bool"), (), (0, 5), 1.0,
         "mask[0,5] = True   row: Your (query 0)   column: step (key 5)"),
        (tensor("bare", (0.0,) * 4, (2, 2)), (), (0, 1), -inf, "bare[0,1] = -inf   row: 0   column: 1"),
        (replace(tensor("part", (2.0,) * 4, (2, 2), ("row", "column")), labels=(("row 0", "row 1"), ("a", "b"))),
         (), (1, 0), 2.0, "part[1,0] = 2.0   row: row 1   column: a (column 0)"),
    ],
)  # fmt: skip
def test_describe(
    example: Tensor, lead: tuple[int, ...], cell: tuple[int, int], value: float | None, words: str
) -> None:
    assert describe(Face.of(example, palette(PLAIN)), lead, *cell, value) == words


def test_index_of() -> None:
    assert index_of(large(), (3,), 4, 5) == (3, 4, 5)
    assert index_of(scores(), (), 4, 5) == (4, 5)
    assert index_of(tensor("v", (0.0,), (1,)), (), 0, 0) == (0,)
    assert index_of(tensor("s", (0.0,), ()), (), 0, 0) == ()


# Windows


def test_tiles_are_aligned_and_requested_only_if_visible() -> None:
    drawing = scene(large(), row=60, col=60, corner=(58, 59), height=14)
    assert tiles_missing(drawing) == [(0, 0, 64, 64), (0, 64, 64, 64), (64, 0, 64, 64), (64, 64, 64, 64)]
    drawing = replace(drawing, windows={0: window((0,), 0, 0), 1: window((0,), 64, 64)})
    assert tiles_missing(drawing) == [(0, 64, 64, 64), (64, 0, 64, 64)]
    assert values_of(drawing, 60) == [(60 + col) / 2048 if col < 64 else None for col in range(59, 68)]


def test_tiles_end_with_the_matrix() -> None:
    example = replace(large(), shape=(1, 100, 70))
    assert tiles_missing(scene(example, row=99, col=69)) == [(64, 0, 36, 64), (64, 64, 36, 6)]


def test_windows_of_a_different_head_are_not_shown() -> None:
    assert tiles_missing(scene(large(), lead=(1,), windows=[window((0,), 0, 0)])) == [(0, 0, 64, 64)]


def test_the_window_that_came_with_the_tensor_counts() -> None:
    example = replace(large(), window=window((0,), 0, 0))
    assert tiles_missing(scene(example)) == []
    assert tiles_missing(scene(example, row=70, corner=(60, 0))) == [(64, 0, 64, 64)]


# What differs


BOLD = Style(bold=True)


@pytest.mark.parametrize(
    ("old", "new", "width"),
    [
        ((("abc", None),), (("abc", None),), 0),
        ((("abc", None),), (("abd", None),), 3),
        ((("abc", None),), (("xbc", None),), 1),
        ((("abc", None),), (("a", None), ("b", BOLD), ("c", None)), 2),
        ((("注意", None),), (("注x ", None),), 4),
        ((("注意", None),), (("xy意", None),), 2),
        ((("注e\u0301", None),), (("注e", None),), 3),
        ((("abc", None),), (("abcd", None),), 4),
    ],
)
def test_differing_width(
    old: tuple[tuple[str, Style | None], ...], new: tuple[tuple[str, Style | None], ...], width: int
) -> None:
    assert differing_width(old, new) == width


# The widget


class MatrixApp(App[None]):
    """An app with a matrix and the line that describes its cell."""

    CSS = "#cell { height: 1; }"

    def __init__(self, example: Tensor | None, terminal: Terminal = PLAIN, answers: bool = True) -> None:
        super().__init__()
        self.theme = "ansi-dark" if terminal.depth in ("none", "16") else "textual-dark"
        self.example = example
        self.answers = answers
        self.matrix = MatrixView(terminal, id="matrix")
        self.moves: list[tuple[tuple[int, ...], float | None]] = []
        self.wanted: list[tuple[tuple[int, ...], int, int, int, int]] = []
        self.refreshed: list[Region] = []

    def compose(self) -> ComposeResult:
        yield self.matrix
        yield Static(id="cell", markup=False)

    def on_mount(self) -> None:
        self.matrix.show(self.example, "recorded")
        self.matrix.focus()

    def on_matrix_view_cursor_moved(self, event: MatrixView.CursorMoved) -> None:
        assert event.control is self.matrix
        self.moves.append((event.index, event.value))
        self.query_one("#cell", Static).update(self.matrix.describe(), layout=False)

    def on_matrix_view_missing(self, event: MatrixView.Missing) -> None:
        assert event.control is self.matrix
        if isinstance(question := event.question, WindowQuestion):
            self.wanted.append((question.lead, question.top, question.left, question.height, question.width))
            if self.answers:
                self.matrix.add(event.tensor.name, window(*self.wanted[-1]))

    def watch_refreshes(self) -> None:
        """Start to note what the matrix repaints."""
        refresh = self.matrix.refresh

        def noted(*regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> MatrixView:
            assert not layout
            self.refreshed += regions or [self.matrix.size.region]
            return refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

        self.matrix.refresh = noted  # type: ignore[method-assign]

    @property
    def lines(self) -> list[str]:
        """The painted lines of the matrix."""
        strips = [self.matrix.render_line(y) for y in range(self.matrix.size.height)]
        return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


async def test_keys_move_the_cursor_within_the_matrix() -> None:
    app = MatrixApp(scores())
    async with app.run_test() as pilot:
        await pilot.press("right", "down", "down", "left", "left", "end")
        assert app.matrix.cursor == (2, 5)
        await pilot.press("ctrl+end", "down", "right")
        assert app.matrix.cursor == (5, 5)
        await pilot.press("home", "ctrl+home", "up")
        assert app.matrix.cursor == (0, 0)
        assert [index for index, _ in app.moves] == [
            (0, 0), (0, 1), (1, 1), (2, 1), (2, 0), (2, 5), (5, 5), (5, 0), (0, 0),
        ]  # fmt: skip
        assert app.moves[1][1] == 1.3545
        assert app.matrix.index == (0, 0)
        assert app.matrix.value == 0.9231


async def test_a_move_repaints_two_lines_and_the_labels_up_to_the_cell() -> None:
    app = MatrixApp(scores())
    async with app.run_test() as pilot:
        app.watch_refreshes()
        await pilot.press("right")
        assert app.refreshed == [Region(0, 1, 26, 1), Region(0, 2, 27, 1)]
        app.refreshed.clear()
        await pilot.press("down")
        assert app.refreshed == [Region(0, 2, 27, 1), Region(0, 3, 27, 1)]
        app.refreshed.clear()
        await pilot.press("up", "up")
        assert len(app.refreshed) == 2


async def test_the_terminal_cursor_is_on_the_first_digit_of_the_cell() -> None:
    app = MatrixApp(scores())
    async with app.run_test() as pilot:
        await pilot.press("right", "down")
        x, y = app.cursor_position
        assert app.lines[y][x : x + 6] == "1.8524"


async def test_the_cursor_is_active_as_long_as_the_matrix_has_the_focus() -> None:
    app = MatrixApp(scores())
    async with app.run_test() as pilot:
        await pilot.pause()
        cursor = palette(PLAIN).cursor
        assert cursor in [segment.style for segment in app.matrix.render_line(2)]
        assert app.cursor_position == (11, 2)
        app.set_focus(None)
        await pilot.pause()
        assert cursor not in [segment.style for segment in app.matrix.render_line(2)]
        assert app.lines[2].startswith("    Your  ▐0.9231▌")


async def test_show_repaints_what_differs() -> None:
    app = MatrixApp(scores())
    async with app.run_test() as pilot:
        await pilot.press("right", "down")
        app.moves.clear()
        app.watch_refreshes()
        app.matrix.show(scores(), "recorded")
        assert app.refreshed == []
        app.matrix.show(scores(), "live, 12 ms")
        assert [region.y for region in app.refreshed] == [0]
        await pilot.pause()
        assert app.lines[0].endswith("live, 12 ms")
        app.refreshed.clear()
        changed = [list(row) for row in SCORES]
        changed[3][2] = 1.0
        app.matrix.show(of_words("scores", changed), "live, 12 ms")
        assert [(region.y, region.width) for region in app.refreshed] == [(5, 35)]
        assert app.matrix.cursor == (1, 1)
        await pilot.pause()
        assert app.moves == [((1, 1), 1.8524)]


async def test_a_different_shape_starts_at_the_first_cell() -> None:
    app = MatrixApp(scores())
    async with app.run_test() as pilot:
        await pilot.press("ctrl+end")
        app.matrix.show(tensor("v", (1.0, 2.0), (2,), ("dim",)))
        assert app.matrix.cursor == (0, 0)
        app.matrix.show(None)
        await pilot.pause()
        assert not any(app.lines)
        assert (app.matrix.describe(), app.matrix.index, app.matrix.value) == ("", (), None)
        await pilot.press("down", "pagedown", "right_square_bracket", "end")


async def test_leading_axes() -> None:
    values = [float(value) for value in range(2 * 3 * 2 * 2)]
    app = MatrixApp(tensor("context", values, (2, 3, 2, 2), ("batch", "head", "token", "dim")))
    async with app.run_test() as pilot:
        await pilot.press("right_square_bracket", "ъ", "right_square_bracket", "right_curly_bracket", "down")
        assert app.matrix.lead == (1, 2)
        assert app.moves[-1] == ((1, 2, 1, 0), 22.0)
        assert app.lines[1].startswith(" batch 1 of 2  head 2 of 3 ")
        await pilot.press("left_square_bracket", "left_curly_bracket")
        assert app.matrix.lead == (0, 1)
        assert app.matrix.describe().startswith("context[0,1,1,0] = 6.0   row: token 1")


async def test_a_different_tensor_of_the_same_shape_starts_at_its_first_matrix() -> None:
    """A text about a new tensor speaks of its first head; new values of the same tensor stay at the chosen one."""
    values = [float(value) for value in range(2 * 2 * 2)]
    axes = ("head", "token", "dim")
    app = MatrixApp(tensor("split", values, (2, 2, 2), axes))
    async with app.run_test() as pilot:
        await pilot.press("right_square_bracket", "down")
        app.matrix.show(tensor("split", values[::-1], (2, 2, 2), axes))
        assert (app.matrix.lead, app.matrix.cursor) == ((1,), (1, 0))
        app.matrix.show(tensor("wrong", values, (2, 2, 2), axes))
        assert (app.matrix.lead, app.matrix.cursor) == ((0,), (1, 0))


async def test_go_to() -> None:
    app = MatrixApp(large())
    async with app.run_test() as pilot:
        app.moves.clear()
        app.matrix.go_to((3, 700, 5000))
        await pilot.pause()
        assert (app.matrix.lead, app.matrix.cursor) == ((3,), (700, 1023))
        assert app.moves[-1] == ((3, 700, 1023), 1723 / 2048)
        app.matrix.show(tensor("v", (1.0, 2.0), (2,), ("dim",)))
        app.matrix.go_to((1,))
        assert app.matrix.cursor == (0, 1)
        app.matrix.show(tensor("s", (1.0,), ()))
        app.matrix.go_to(())
        assert app.matrix.cursor == (0, 0)


async def test_windows_are_requested_once_and_their_lines_repainted() -> None:
    app = MatrixApp(large(), answers=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("right", "down")
        assert app.wanted == [((0,), 0, 0, 64, 64)]
        assert app.matrix.value is None
        app.watch_refreshes()
        app.matrix.add_window("another", window((0,), 0, 0))
        assert app.refreshed == []
        app.matrix.add_window("weights", window((0,), 0, 0))
        assert app.refreshed
        await pilot.pause()
        assert app.moves[-1] == ((0, 1, 1), 2 / 2048)
        await pilot.press("right_square_bracket")
        assert app.wanted[1:] == [((1,), 0, 0, 64, 64)]
        # The window did not arrive, so it is requested again when it becomes visible again.
        await pilot.press("left_square_bracket", "right_square_bracket")
        assert app.wanted[2:] == [((1,), 0, 0, 64, 64)]


async def test_page_down_keeps_the_cursors_line_on_the_screen() -> None:
    app = MatrixApp(large())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "pagedown", "pagedown")
        assert app.matrix.cursor == (39, 0)
        assert app.lines[3].split()[0] == "38"
        await pilot.press("pageup", "pageup", "pageup")
        assert app.matrix.cursor == (0, 0)
        assert app.lines[3].split()[0] == "0"


async def test_the_number_of_windows_is_limited() -> None:
    app = MatrixApp(large())
    async with app.run_test():
        for left in range(1, MOST_WINDOWS + 8):
            app.matrix.add_window("weights", window((0,), 900, left, 1, 1))
        assert len(app.matrix._windows) == MOST_WINDOWS
        # The visible window is used again and again.
        assert app.matrix.value == 0.0
        assert len(app.wanted) == 1


async def test_a_blank_matrix_reveals_no_numbers() -> None:
    app = MatrixApp(scores())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("right", "down")
        before = app.lines
        app.matrix.show(scores(), blank=True)
        await pilot.pause()
        assert not any(digit in "".join(app.lines[2:]) for digit in "123456789")
        assert app.matrix.value is None
        # Columns and cursor stay where they are, while blank and afterwards.
        assert app.lines[1] == before[1]
        assert (app.matrix.cursor, app.lines[3].index("▐")) == ((1, 1), before[3].index("▐"))
        await pilot.press("t", "o", "minus")
        assert app.wanted == []
        await pilot.press("escape")
        app.matrix.show(scores(), "recorded")
        await pilot.pause()
        assert app.lines == before


async def test_a_blank_matrix_requests_nothing() -> None:
    app = MatrixApp(large())
    async with app.run_test(size=(80, 24)) as pilot:
        asked = len(app.wanted)
        app.matrix.show(large(), blank=True)
        await pilot.press("pagedown", "o", "escape", "t")
        assert len(app.wanted) == asked
        app.matrix.show(large())
        await pilot.pause()
        assert len(app.wanted) > asked


async def test_mouse() -> None:
    app = MatrixApp(scores())
    async with app.run_test() as pilot:
        await pilot.click("#matrix", offset=(31, 4))
        assert app.matrix.cursor == (2, 2)
        await pilot.click("#matrix", offset=(3, 4))
        await pilot.click("#matrix", offset=(31, 0))
        assert app.matrix.cursor == (2, 2)


async def test_another_size_is_a_different_drawing() -> None:
    app = MatrixApp(scores())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+end")
        await pilot.resize_terminal(30, 6)
        assert app.matrix.size == (30, 5)
        assert any("▐1.0996▌" in line for line in app.lines)


async def test_a_message_replaces_earlier_ones() -> None:
    one, other = MatrixView(PLAIN), MatrixView(PLAIN)
    first = MatrixView.CursorMoved(one, scores(), (0, 0), 1.0)
    assert first.can_replace(MatrixView.CursorMoved(one, scores(), (0, 1), 1.0))
    assert not first.can_replace(MatrixView.CursorMoved(other, scores(), (0, 1), 1.0))
    assert not first.can_replace(Message())


# Bytes


PROGRAM = """
import json, os, sys
from attn_tutor.tui.tty.terminal import prepare, this_terminal
terminal = this_terminal()
prepare(terminal, os.environ)
from tests.tui.widgets.test_matrix import MatrixApp, large, scores
MatrixApp({"scores": scores, "large": large}[sys.argv[1]](), terminal).run()
"""

KEYS = {
    "right": b"\x1b[C",
    "right again": b"\x1b[C",
    "down": b"\x1b[B",
    "page down": b"\x1b[6~",
    "page down again": b"\x1b[6~",
    "end": b"\x1b[F",
    "next head": b"]",
}


def bytes_sent(example: str, environ: dict[str, str]) -> dict[str, int]:
    """Return the number of bytes that a program with a matrix sends for each key."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "LANG": "C.UTF-8", **environ}
    with Pty([sys.executable, "-c", PROGRAM, example], variables) as terminal:
        terminal.send(b"", expect="[0,0")
        return {name: len(terminal.send(key)) for name, key in KEYS.items()}


@pytest.mark.parametrize(
    ("environ", "key", "page"),
    [
        ({}, 400, 3_000),
        ({"NO_COLOR": "1"}, 400, 3_000),
        ({"ATTN_TUTOR_ASCII": "1"}, 400, 3_000),
        ({"TERM": "xterm-256color"}, 600, 4_500),
        ({"COLORTERM": "truecolor"}, 900, 6_000),
    ],
)
def test_byte_budgets(environ: dict[str, str], key: int, page: int) -> None:
    sent = bytes_sent("large", environ)
    print(json.dumps({**environ, **sent}))
    assert max(sent[name] for name in ("right", "right again", "down")) <= key
    assert max(sent[name] for name in ("page down", "page down again", "end", "next head")) <= page
