"""Tensors drawn as memory: the positions of elements, the drawing, and the keys."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.reading.loader import load_course
from attn_tutor.lessons.render import linear_matrix, memory_text
from attn_tutor.lessons.results.result import MemoryLayout, Tensor
from attn_tutor.tui.drawings import memory_strip
from attn_tutor.tui.drawings.drawing import MATRIX, MEMORY, drawing_of
from attn_tutor.tui.drawings.marks import Cells, Marks
from attn_tutor.tui.tty.terminal import Depth, Terminal
from tests.course import use_course
from tests.tui.commands.command_line import WarmSession
from tests.tui.drawings.drawn_tensors import COURSE, cursor_text, scene, text
from tests.tui.learner import tutor
from tests.tui.widgets.test_matrix import MatrixApp, tensor

ASCII = Terminal(depth="none", unicode=False)
NUMBERS = (0.43, 0.15, 0.89, 0.55, 0.87, 0.66)
ROWS = MemoryLayout((3, 1), 0, 6, True, "A")


def stored(
    name: str, values: tuple[float, ...], shape: tuple[int, ...], layout: MemoryLayout, dtype: str = "float32"
) -> Tensor:
    axes = ("batch", "token", "dim")[-len(shape) :]
    labels = tuple(tuple(map(str, range(size))) for size in shape)
    return replace(tensor(name, values, shape, axes, labels, "vector", dtype), draw="memory", layout=layout)


def inputs() -> Tensor:
    return stored("inputs", NUMBERS, (2, 3), ROWS)


def turned() -> Tensor:
    values = tuple(NUMBERS[index] for index in (0, 3, 1, 4, 2, 5))
    return stored("turned", values, (3, 2), MemoryLayout((1, 3), 0, 6, False, "A"))


def part() -> Tensor:
    values = tuple(NUMBERS[index] for index in (1, 2, 4, 5))
    return stored("part", values, (2, 2), MemoryLayout((3, 1), 1, 6, False, "A"))


def batch() -> Tensor:
    return stored("x", tuple(map(float, range(24))), (2, 3, 4), MemoryLayout((12, 4, 1), 0, 24, True, "A"), "int64")


# Where elements lie


def test_positions() -> None:
    assert memory_text.elements(turned()) == {0: (0, 0), 3: (0, 1), 1: (1, 0), 4: (1, 1), 2: (2, 0), 5: (2, 1)}
    assert sorted(memory_text.elements(part())) == [1, 2, 4, 5]
    # If several indices share a position, the first one is named.
    twice = stored("twice", (1.0, 2.0, 1.0, 2.0), (2, 2), MemoryLayout((0, 1), 0, 2, False, "A"))
    assert memory_text.elements(twice) == {0: (0, 0), 1: (0, 1)}


@pytest.mark.parametrize(
    ("layout", "index", "text"),
    [
        (ROWS, (1, 2), "offset = 1*3 + 2*1 = 5"),
        (MemoryLayout((3, 1), 1, 6, False), (0, 1), "offset = 1 + 0*3 + 1*1 = 2"),
        (MemoryLayout((), 0, 1, True), (), "offset = 0"),
        (MemoryLayout((), 4, 6, True), (), "offset = 4"),
        (MemoryLayout((1,), 0, 3, True), (2,), "offset = 2*1 = 2"),
    ],
)
def test_sums(layout: MemoryLayout, index: tuple[int, ...], text: str) -> None:
    assert memory_text.sum_text(layout, index) == text


def test_facts() -> None:
    assert memory_text.facts(inputs()) == ("strides (3, 1)", "contiguous", "offset 0", "storage A: 6 numbers")
    assert memory_text.facts(part())[1:] == ("not contiguous", "offset 1", "storage A: 4 of 6 numbers")


def test_a_tensor_that_is_too_large_is_drawn_as_a_matrix() -> None:
    assert drawing_of(inputs()) is MEMORY
    assert drawing_of(replace(inputs(), layout=None)) is MATRIX
    assert drawing_of(replace(inputs(), layout=replace(ROWS, size=97))) is MATRIX
    large = stored("large", (0.0,) * 65, (5, 13), MemoryLayout((13, 1), 0, 65, True, "A"))
    assert drawing_of(large) is MATRIX


# What is drawn


def test_a_row_lies_together() -> None:
    assert text(scene(inputs(), 70, row=1, col=2)) == (
        " inputs  2×3  in memory\n"
        " strides (3, 1)   contiguous   offset 0   storage A: 6 numbers\n"
        " offset       0       1       2       3       4       5\n"
        "         0.4300  0.1500  0.8900 (0.5500)(0.8700)▐0.6600▌"
    )


def test_a_row_of_the_transpose_is_scattered() -> None:
    drawing = scene(turned(), 70, row=1, col=1)
    assert text(drawing).splitlines()[1] == " strides (1, 3)   not contiguous   offset 0   storage A: 6 numbers"
    assert text(drawing).splitlines()[3] == "         0.4300 (0.1500) 0.8900  0.5500 ▐0.8700▌ 0.6600"
    assert cursor_text(drawing).startswith("0.8700")
    assert memory_strip.describe(drawing.face, (), 1, 1, 0.87) == "turned[1,1] = 0.87   offset = 1*1 + 1*3 = 4"


def test_storage_outside_of_the_tensor_is_a_dot() -> None:
    lines = text(scene(part(), 70, row=0, col=1, terminal=ASCII)).splitlines()
    assert lines[3] == "              . (0.1500)[0.8900]      .  0.8700  0.6600"
    assert "\n".join(lines).isascii()


def test_lines_are_labeled_with_their_first_position() -> None:
    lines = text(scene(batch(), 70, row=1, col=1, lead=(1,))).splitlines()
    assert lines[1] == " batch 1 of 2   [ ] batch"
    assert lines[3].startswith(" offset  +0  +1")
    assert [line.split()[0] for line in lines[4:]] == ["0", "12"]
    assert lines[5].endswith("12  13  14  15 (16)▐17▌(18)(19) 20  21  22  23")


def test_the_cursor_is_visible() -> None:
    drawing = scene(batch(), 30, 5, row=2, col=3, lead=(1,))
    lines = text(drawing).splitlines()
    assert len(lines) == 5
    assert "(20)(21)(22)▐23▌" in "".join(lines)
    assert cursor_text(drawing).startswith("23")
    drawing = scene(batch(), 30, 8, row=0, col=0)
    assert "below" in text(drawing)


def test_marks() -> None:
    app = MatrixApp(inputs())
    app.matrix.show(inputs())
    app.matrix.mark(Marks(operands=Cells(patterns=((0, 0), (1, 1)))))
    lines = text(replace(scene(inputs(), 70, row=1, col=2), marked=app.matrix._marked)).splitlines()
    assert lines[3] == "        │0.4300  0.1500  0.8900 (0.5500)│0.8700)▐0.6600▌"


@pytest.mark.parametrize("width", [16, 30, 80, 132])
@pytest.mark.parametrize("depth", ["none", "16", "256", "truecolor"])
def test_lines_are_as_wide_as_the_screen(width: int, depth: Depth) -> None:
    for example in (inputs(), turned(), part(), batch()):
        drawing = scene(example, width, terminal=Terminal(depth=depth))
        for y in range(drawing.layout.height):
            assert sum(cell_len(piece) for piece, _ in memory_strip.draw(drawing, y)) == width


def test_a_scalar_and_a_vector() -> None:
    scalar = stored("s", (0.5,), (), MemoryLayout((), 1, 3, True, "A"))
    assert text(scene(scalar, 70)).splitlines()[-1].split() == ["·", "▐0.5000▌", "·"]
    vector = stored("v", (1.0, 2.0, 3.0), (3,), MemoryLayout((1,), 0, 3, True, "A"))
    assert text(scene(vector, 70, col=1)).splitlines()[-1].strip() == "(1.0000)▐2.0000▌(3.0000)"


# Keys


async def test_keys_walk_the_indices() -> None:
    app = MatrixApp(turned())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("right", "down", "left")
        assert [index for index, _ in app.moves] == [(0, 0), (0, 1), (1, 1), (1, 0)]
        assert app.lines[3].strip() == "0.4300 ▐0.1500▌ 0.8900  0.5500 (0.8700) 0.6600"
        x, y = app.cursor_position
        assert app.lines[y][x : x + 6] == "0.1500"
        assert app.matrix.hints == ["arrows index"]
        await pilot.click(app.matrix, offset=(43, 3))
        assert app.matrix.index == (1, 1)
        await pilot.press("o")
        assert app.matrix.describe() == "Only matrices have an overview."


async def test_keys_walk_the_leading_indices() -> None:
    app = MatrixApp(batch())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("right_square_bracket", "down")
        assert app.matrix.describe() == "x[1,1,0] = 16   offset = 1*12 + 1*4 + 0*1 = 16"
        # The element under the mouse has a different leading index.
        await pilot.click(app.matrix, offset=(10, 4))
        assert app.matrix.index == (1, 1, 0)


async def test_hidden_numbers_are_hidden() -> None:
    app = MatrixApp(inputs())
    async with app.run_test(size=(80, 24)) as pilot:
        app.matrix.show(inputs(), blank=True)
        await pilot.pause()
        assert app.lines[3].split() == ["▐", "·▌(", "·)(", "·)", "·", "·", "·"]


# Text, and a journey


def test_memory_as_text() -> None:
    lines = list(linear_matrix.tensor_lines(part()))
    assert lines[0].startswith("part  2×2  rows: token, columns: dim")
    assert lines[4:] == [
        "  in memory: strides (3, 1), not contiguous, offset 1, storage A: 4 of 6 numbers",
        "     0  not in part",
        "     1  0.1500  part[0,0]",
        "     2  0.8900  part[0,1]",
        "     3  not in part",
        "     4  0.8700  part[1,0]",
        "     5  0.6600  part[1,1]",
    ]


async def test_memory_in_a_lesson(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    use_course(monkeypatch, load_course(COURSE))
    async with tutor(WarmSession(session)) as learner:
        await learner.press("enter", "n", "n")
        # Prose, code and three drawings are on one screen.
        await learner.sees("inputs  2×3  in memory", "turned  3×2  in memory", "part  2×2  in memory", "live,")
        await learner.press("right")
        await learner.sees("inputs[0,1] = 0.15   offset = 0*3 + 1*1 = 1", "(0.4300)▐0.1500▌(0.8900)")
        await learner.press("tab", "right")
        await learner.sees("turned[0,1] = 0.55   offset = 0*1 + 1*3 = 3", "(0.4300) 0.1500  0.8900 ▐0.5500▌")
        await learner.press("enter")
        await learner.sees("turned[0,1] = 0.55   written in the code")
