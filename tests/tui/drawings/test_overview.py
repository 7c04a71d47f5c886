"""A zoomed-out matrix: blocks, all heads, and the keys that lead there and back."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.geometry import Region

from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.results.summaries import Blocks, How, blocks_of, row_stats
from attn_tutor.lessons.results.tensor_questions import BlocksQuestion, RowQuestion
from attn_tutor.tui.drawings import zoom
from attn_tutor.tui.drawings.drawing_scene import DrawingScene, Face
from attn_tutor.tui.drawings.grid import draw
from attn_tutor.tui.drawings.marks import NO_MARKS, Cells, Marks
from attn_tutor.tui.drawings.zoom import BlockPlan, Heads, ThumbnailGrid, Zoom, draw_heads
from attn_tutor.tui.render.palette import palette
from attn_tutor.tui.tty.terminal import Depth, Terminal
from attn_tutor.tui.widgets.matrix import MatrixView
from tests.tui.widgets.test_matrix import ASCII, PLAIN, MatrixApp, large, scene, scores, tensor


def face(example: Tensor, terminal: Terminal = PLAIN) -> Face:
    return Face.of(example, palette(terminal))


def causal(lead: tuple[int, ...], rows: int, cols: int, how: How, size: int = 1024) -> Blocks:
    """Return the blocks of a causal matrix in which each value follows from its row: 1 / (row + 1)."""
    starts = [(row, col) for row in range(0, size, rows) for col in range(0, size, cols)]
    across = -(-size // cols)
    values = [1 / (row + 1) if col <= row + rows - 1 else 0.0 for row, col in starts]
    grid = tuple(tuple(values[index : index + across]) for index in range(0, len(values), across))
    peaks = tuple(
        tuple((row + 1 if row + 1 < size else row, col) for row, col in starts[index : index + across])
        for index in range(0, len(starts), across)
    )
    return Blocks(lead, rows, cols, how, grid, peaks)


def overview_scene(
    example: Tensor,
    width: int = 80,
    height: int = 14,
    row: int = 0,
    col: int = 0,
    *,
    how: How = "max",
    shades: bool | None = None,
    terminal: Terminal = PLAIN,
    answered: bool = True,
    level: str = "blocks",
    marks: Marks = NO_MARKS,
) -> DrawingScene | Heads:
    """Return the scene of an overview with the cursor on a cell."""
    cells = scene(example, width, height, row, col, terminal=terminal)
    zoom = Zoom()
    zoom.level, zoom.how, zoom.shades = level, how, shades  # type: ignore[assignment]
    for lead, rows, cols, _ in zoom.missing(cells) if answered else ():
        zoom.add(causal(lead, rows, cols, how, example.shape[-1]))
    return zoom.scene(cells, marks)


def text(scene: DrawingScene | Heads) -> str:
    lines = []
    for y in range(scene.layout.height):
        runs = draw_heads(scene, y) if isinstance(scene, Heads) else draw(scene, y)
        assert sum(cell_len(part) for part, _ in runs) == scene.layout.width
        lines.append("".join(part for part, _ in runs).rstrip())
    return "\n".join(lines).rstrip()


# The division


@pytest.mark.parametrize(
    ("width", "height", "shades", "plan"),
    [
        (80, 14, None, BlockPlan(96, 128, 7)),
        (80, 14, True, BlockPlan(96, 28, 0)),
        (68, 36, None, BlockPlan(32, 192, 7)),
        (68, 36, True, BlockPlan(32, 40, 0)),
        (40, 14, None, BlockPlan(96, 64, 0)),
        (40, 14, False, BlockPlan(96, 384, 7)),
        (20, 3, None, BlockPlan(1024, 160, 0)),
    ],
)
def test_division(width: int, height: int, shades: bool | None, plan: BlockPlan) -> None:
    assert zoom.divide(face(large()), width, height, shades) == plan


@given(st.integers(1, 3000), st.integers(1, 3000), st.integers(12, 200), st.integers(4, 60), st.booleans())
def test_all_blocks_fit(rows: int, cols: int, width: int, height: int, shades: bool) -> None:
    example = Tensor("w", "weight", "float32", (rows, cols), (), (), 0.0, 1.0, None)
    cells = scene(example, width, height)
    zoom = Zoom()
    zoom.level, zoom.shades = "blocks", shades
    grid_layout = zoom.scene(cells, NO_MARKS).layout
    assert zoom.division(cells).shape((rows, cols)) == (grid_layout.rows, grid_layout.cols)
    assert grid_layout.hint < 0


def test_block_sizes_are_easy_to_calculate_with() -> None:
    assert [zoom._round(size) for size in (1, 2, 3, 5, 9, 11, 63, 65, 94, 129)] == [
        1, 2, 3, 5, 10, 12, 64, 80, 96, 160,
    ]  # fmt: skip


# What is drawn


def test_numbers() -> None:
    lines = text(overview_scene(large(), row=100, col=5)).splitlines()
    assert lines[0].startswith(" weights  12×1024×1024  max of 96×128 ")
    assert lines[0].endswith("0  ░▒▓█ 1 log")
    assert lines[1] == " head 0 of 12   [ ] head  o mean  - heads  v shades"
    assert lines[2].split() == ["0", "128", "256", "384", "512", "640", "768", "896"]
    assert lines[3].startswith("   0   1.0000█  0.0000   0.0000 ")
    assert lines[4].startswith("  96 ▐ 0.0103▌  0.0103▒  0.0000 ")
    assert lines[13].startswith(" 960   0.0010░  0.0010░")


def test_small_means_keep_their_digits() -> None:
    blocks = causal((0,), 96, 128, "mean")
    small = replace(blocks, grid=tuple(tuple(value / 200 for value in row) for row in blocks.grid))
    numbers = zoom.face_of(face(large()), BlockPlan(96, 128, 7), "mean", small).numbers
    assert (numbers.text(0.0010449), numbers.width) == ("0.00104", 7)


def test_shades() -> None:
    lines = text(overview_scene(large(), row=100, col=120, shades=True)).splitlines()
    assert lines[1].endswith("v numbers")
    assert lines[2].startswith("     0       112 168   252")
    assert lines[3] == "   0 ████████"
    assert lines[4] == "  96 ▒▒▒▒▒▒▒▒[]▒▒▒▒"
    assert lines[13].startswith(" 960 ░░░░░░░░")


def test_shades_in_ascii() -> None:
    drawn = text(overview_scene(large(), row=100, col=120, shades=True, terminal=ASCII))
    assert drawn.isascii()
    assert "  96 ::::::::[]" in drawn


@pytest.mark.parametrize("depth", ["none", "16", "256", "truecolor"])
def test_signs_do_not_rely_on_color_alone(depth: Depth) -> None:
    grid = ((-1.0, 1.0, nan, inf, -inf), (0.5, 0.0, -0.5, 0.5, 0.0))
    example = tensor("v", [value for row in grid for value in row], (2, 5), ("token", "dim"), kind="vector")
    lines = text(overview_scene(example, 14, 5, shades=True, row=1, col=4, terminal=Terminal(depth=depth))).splitlines()
    ends = {"none": ("-█", "██"), "16": ("-█", "██")}.get(depth, ("- ", "  "))
    assert lines[2].startswith(f" 0 {ends[0]}{ends[1]}!!!!")
    assert lines[3].endswith("[]")


def test_missing_numbers_are_dots() -> None:
    lines = text(overview_scene(large(), row=100, answered=False)).splitlines()
    assert lines[3].split() == ["0", *["·"] * 8]
    shaded = text(overview_scene(large(), row=100, answered=False, shades=True)).splitlines()
    assert shaded[3].startswith("   0 · · · ")


def test_a_block_with_a_marked_cell_is_marked() -> None:
    marks = Marks(operands=Cells(((0, 500, None),)), set=Cells(((0, 500, 300), (1, 0, 0))))
    lines = text(overview_scene(large(), marks=marks)).splitlines()
    assert lines[8].count("│") == 7
    assert lines[8].count("►") == 1
    assert sum(line.count("│") + line.count("►") for line in lines[3:]) == 8
    shaded = text(overview_scene(large(), marks=marks, shades=True)).splitlines()
    assert shaded[8].count("│") == 36


def test_a_mask_and_whole_numbers() -> None:
    values = [float(col > row) for row in range(60) for col in range(60)]
    mask = tensor("mask", values, (60, 60), kind="mask", dtype="bool")
    assert " 1■" in text(overview_scene(mask))
    assert " 0.8500" in text(overview_scene(mask, how="mean"))
    counts = tensor("counts", [float(index) for index in range(3600)], (60, 60), kind="vector", dtype="int64")
    assert " 3599" in text(overview_scene(counts))


def test_blocks_in_words() -> None:
    source = face(large())
    division = BlockPlan(96, 128, 7)
    blocks = causal((3,), 96, 128, "max")
    assert (
        zoom.describe_block(source, division, "max", blocks, (3,), (1000, 200))
        == "max of weights[3,960:1024,128:256] = 0.0010405828   at [961,128]"
    )
    assert (
        zoom.describe_block(source, division, "mean", replace(blocks, how="mean"), (3,), (5, 5))
        == "mean of weights[3,0:96,0:128] = 1   greatest at [1,0]"
    )
    assert zoom.describe_block(source, division, "max", None, (3,), (5, 5)) == "max of weights[3,0:96,0:128] = …"
    vector = Tensor("v", "vector", "float32", (5000,), (), (), 0.0, 1.0, None)
    found = blocks_of((), [[float(col) for col in range(5000)]], 1, 1000, "max")
    assert (
        zoom.describe_block(face(vector), BlockPlan(1, 1000, 7), "max", found, (), (0, 0))
        == "max of v[0:1000] = 999.0   at [999]"
    )


# All heads


def test_thumbnails() -> None:
    assert zoom.arrange_heads(face(large()), 80, 14) == ThumbnailGrid(6, 12, 5, BlockPlan(205, 86, 0))
    assert zoom.arrange_heads(face(large()), 68, 36) == ThumbnailGrid(4, 16, 10, BlockPlan(103, 64, 0))
    assert zoom.arrange_heads(face(large()), 20, 8) is None
    assert zoom.arrange_heads(face(scores()), 80, 14) is None


def test_all_heads() -> None:
    lines = text(overview_scene(large(), level="heads")).splitlines()
    assert lines[1] == " head 0 of 12   [ ] head  o mean"
    assert lines[2] == " [head 0]      head 1       head 2       head 3       head 4       head 5"
    assert lines[3].split() == ["███"] * 6
    assert lines[7].split() == ["░" * 12] * 6
    assert lines[8].split() == ["head", "6", "head", "7", "head", "8", "head", "9", "head", "10", "head", "11"]
    missing = text(overview_scene(large(), level="heads", answered=False)).splitlines()
    assert missing[3].split() == ["·" * 12] * 6


def test_a_head_is_found_where_its_thumbnail_is() -> None:
    heads = overview_scene(large(), level="heads")
    assert isinstance(heads, Heads)
    assert [heads.head_at(*point) for point in ((2, 2), (14, 4), (70, 13), (79, 3), (5, 1))] == [0, 1, 11, None, None]
    assert heads.title_at == (2, 2)


# The widget


class OverviewApp(MatrixApp):
    """An app with a matrix whose questions about blocks and rows are answered."""

    def __init__(self, example: Tensor | None, terminal: Terminal = PLAIN, answers: bool = True) -> None:
        super().__init__(example, terminal, answers)
        self.blocks: list[tuple[tuple[int, ...], int, int, How]] = []
        self.rows: list[tuple[tuple[int, ...], int]] = []

    def on_matrix_view_missing(self, event: MatrixView.Missing) -> None:
        assert event.control is self.matrix
        match event.question:
            case BlocksQuestion() as question:
                self.blocks.append((question.lead, question.rows, question.cols, question.how))
                if self.answers:
                    self.matrix.add(event.tensor.name, causal(*self.blocks[-1]))
            case RowQuestion() as question:
                self.rows.append((question.lead, question.row))
                if self.answers:
                    values = [1.0 if col == question.row else 0.0 for col in range(1024)]
                    stats = row_stats(question.lead, question.row, values, question.top)
                    self.matrix.add(event.tensor.name, stats)


@pytest.mark.parametrize(("shape", "opens"), [((12, 1024, 1024), True), ((12, 1024, 64), False), ((2, 6, 6), False)])
async def test_a_large_matrix_opens_on_its_overview_if_asked_to(shape: tuple[int, ...], opens: bool) -> None:
    example = replace(large(), shape=shape)
    app = OverviewApp(None)
    async with app.run_test(size=(80, 24)) as pilot:
        app.matrix._opens_far = True
        app.matrix.show(example)
        await pilot.pause()
        assert app.matrix.overview == opens
        assert ("max of 56×128" in app.lines[0]) == opens
        await pilot.press("escape", "down")
        assert not app.matrix.overview
        # New values of the same tensor do not zoom out again.
        app.matrix.show(replace(example, high=0.5))
        await pilot.pause()
        assert not app.matrix.overview


async def test_the_overview_and_back() -> None:
    app = OverviewApp(large())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "right", "o")
        assert app.blocks == [((0,), 56, 128, "max")]
        assert app.matrix.hints[0] == "arrows block"
        assert "max of 56×128" in app.lines[0]
        assert app.matrix.describe().startswith("max of weights[0,0:56,0:128] = 1.0")
        # Zooming out does not move the cursor.
        assert app.matrix.cursor == (1, 1)
        await pilot.press("щ")
        assert app.blocks[1:] == [((0,), 56, 128, "mean")]
        assert "mean of 56×128" in app.lines[0]
        await pilot.press("o")
        assert app.matrix.cursor == (1, 1)
        assert app.matrix.describe().startswith("weights[0,1,1] = ")
        await pilot.press("o")
        # The blocks are still stored.
        assert len(app.blocks) == 2


async def test_the_cursor_walks_blocks_and_looks_into_one() -> None:
    app = OverviewApp(large())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("o", "down", "down", "right", "up")
        assert app.matrix.cursor == (57, 128)
        assert app.moves[-1][0] == (0, 57, 128)
        await pilot.press("enter")
        assert app.matrix.hints[0] == "arrows cell"
        assert app.matrix.cursor == (57, 128)
        # The visible part begins with the block.
        assert app.lines[3].split()[0] == "56"
        assert app.lines[2].split()[1] == "128"
        await pilot.press("minus", "end", "pagedown", "plus")
        assert app.matrix.cursor == (1009, 896)
        await pilot.press("minus", "ctrl+home", "home")
        assert app.matrix.cursor == (1, 0)


async def test_a_move_in_the_overview_repaints_what_differs() -> None:
    app = OverviewApp(large())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("o")
        app.watch_refreshes()
        await pilot.press("right")
        assert app.refreshed == [Region(0, 2, 23, 1), Region(0, 3, 24, 1)]
        app.refreshed.clear()
        await pilot.press("down")
        assert [region.y for region in app.refreshed] == [3, 4]


async def test_heads_can_be_switched_in_the_overview() -> None:
    app = OverviewApp(large())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("o", "down", "right_square_bracket", "ъ")
        assert [lead for lead, *_ in app.blocks] == [(0,), (1,), (2,)]
        assert app.matrix.describe().startswith("max of weights[2,56:112,0:128]")
        assert app.lines[1].startswith(" head 2 of 12")


async def test_all_heads_side_by_side() -> None:
    app = OverviewApp(large())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("minus")
        assert "max of 56×128" in app.lines[0]
        app.blocks.clear()
        await pilot.press("minus")
        assert [lead for lead, *_ in app.blocks] == [(head,) for head in range(12)]
        assert app.lines[2].startswith(" [head 0] ")
        assert app.matrix.describe() == "weights, head 0 of 12   max of its blocks: from 0 to 1"
        await pilot.press("right", "down", "left", "left", "left")
        head = app.matrix.lead[0]
        assert head > 0
        assert f"[head {head}]" in "\n".join(app.lines)
        await pilot.press("end", "right", "down")
        assert app.matrix.lead == (11,)
        await pilot.press("home", "up", "left")
        assert app.matrix.lead == (0,)
        await pilot.press("o")
        assert "mean of" in app.lines[0]
        await pilot.press("o", "right", "enter")
        assert app.matrix.lead == (1,)
        assert app.lines[1].startswith(" head 1 of 12")
        assert "max of 56×128" in app.lines[0]


async def test_shades_or_numbers() -> None:
    app = OverviewApp(large())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("v")
        assert app.matrix.describe() == "Only an overview has shades. Press o, then v."
        await pilot.press("o", "v")
        assert app.blocks[-1] == ((0,), 56, 28, "max")
        assert app.lines[3].startswith("    0 []██")
        await pilot.press("м")
        assert app.lines[3].startswith("    0 ▐ 1.0000▌")


async def test_a_matrix_that_is_fully_visible_needs_no_overview() -> None:
    app = OverviewApp(scores())
    async with app.run_test() as pilot:
        await pilot.press("o")
        assert app.matrix.describe() == "The whole matrix is in view, so it needs no overview."
        await pilot.press("minus", "plus", "enter")
        assert app.matrix.describe() == "The whole tensor is in view. There is nothing further out."
        await pilot.press("right")
        assert app.matrix.describe().startswith("scores[0,1]")


async def test_enter_and_escape_are_left_to_other_widgets_while_cells_are_shown() -> None:
    app = OverviewApp(large())
    async with app.run_test() as pilot:
        for action in ("enter_block", "cells"):
            assert app.matrix.check_action(action, ()) is False
        await pilot.press("o", "minus", "escape")
        assert not app.matrix.overview
        assert app.matrix.describe().startswith("weights[0,0,0] = ")
        await pilot.press("minus")
        assert app.matrix.overview


async def test_all_heads_of_small_matrices() -> None:
    values = [float(value) for value in range(2 * 3 * 36)]
    app = OverviewApp(tensor("w", values, (2, 3, 6, 6), ("batch", "head", "query", "key")))
    async with app.run_test() as pilot:
        await pilot.press("minus", "right", "right_curly_bracket")
        assert app.blocks == []
        assert app.matrix.lead == (1, 1)
        assert app.lines[2].split() == ["head", "0", "[head", "1]", "head", "2"]
        await pilot.press("enter")
        assert app.matrix.describe().startswith("w[1,1,0,0] = 144.0")


async def test_blocks_that_do_not_arrive_are_requested_again() -> None:
    app = OverviewApp(large(), answers=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("o", "down", "right")
        assert len(app.blocks) == 1
        assert app.matrix.cursor == (56, 128)
        assert app.matrix.describe().endswith("= …")
        app.matrix.forget(BlocksQuestion("weights", *app.blocks[0]))
        await pilot.press("down")
        assert len(app.blocks) == 2
        app.matrix.add_blocks("another", causal(*app.blocks[0]))
        assert app.matrix.describe().endswith("= …")
        app.matrix.add_blocks("weights", causal(*app.blocks[0]))
        assert not app.matrix.describe().endswith("= …")


async def test_new_values_are_requested_and_a_new_shape_ends_the_overview() -> None:
    app = OverviewApp(large())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("o")
        app.matrix.show(replace(large(), high=0.5), "live")
        await pilot.pause()
        assert len(app.blocks) == 2
        assert "max of" in app.lines[0]
        app.matrix.show(scores(), "live")
        await pilot.pause()
        assert app.matrix.describe().startswith("scores[0,0] =")


async def test_a_different_size_makes_a_different_overview() -> None:
    app = OverviewApp(large())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("minus", "minus")
        await pilot.resize_terminal(20, 5)
        await pilot.pause()
        await pilot.press("right", "down")
        assert any("[]" in line for line in app.lines)


async def test_mouse() -> None:
    app = OverviewApp(large())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("o")
        await pilot.click("#matrix", offset=(20, 5))
        assert app.matrix.cursor == (113, 128)
        await pilot.press("minus")
        await pilot.click("#matrix", offset=(30, 3))
        assert app.matrix.lead[0] > 0


# The statistics of a row


async def test_statistics_follow_the_cursor() -> None:
    app = OverviewApp(large())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("t", "down")
        assert app.rows == [((0,), 0), ((0,), 1)]
        assert app.matrix.describe().startswith("row 1: [1] 1.00, ")
        assert "entropy 0.00 of 0.00 bits" in app.matrix.describe()
        await pilot.press("right", "up")
        assert len(app.rows) == 2
        await pilot.press("е")
        assert app.matrix.describe().startswith("weights[0,0,1] = ")


async def test_statistics_of_a_loaded_tensor() -> None:
    app = OverviewApp(scores())
    async with app.run_test() as pilot:
        await pilot.press("t")
        assert app.rows == []
        assert app.matrix.describe(60) == "row Your: journey 1.35, starts 1.32, step 1.13   sum 5.93"
        app.matrix.show(tensor("v", [0.25, 0.75], (2,)))
        assert app.matrix.describe().startswith("v[0] = 0.25")


async def test_statistics_that_do_not_arrive() -> None:
    app = OverviewApp(large(), answers=False)
    async with app.run_test() as pilot:
        await pilot.press("t")
        assert app.matrix.describe().startswith("weights[0,0,0] = …")
        app.matrix.forget(RowQuestion("weights", (0,), 0, 5))
        await pilot.press("right")
        assert app.rows == [((0,), 0), ((0,), 0)]
