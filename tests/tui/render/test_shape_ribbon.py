"""The shape ribbon as text."""

from __future__ import annotations

import pytest
from rich.text import Text

from attn_tutor.lessons.results.line_shapes import LineShapes, Shape
from attn_tutor.tui.render.code_text import named_shape, ribbon_text, rich_code, with_ribbon

QUERIES = Shape("queries", (6, 2), ("token", "dim"))
KEYS = Shape("keys.T", (2, 6), ("dim", "token"))
SCORES = Shape("scores", (6, 6), ("query", "key"))
PRODUCT = LineShapes(1, (QUERIES, KEYS), ("@",), (SCORES,))
PAIR = LineShapes(2, (SCORES, SCORES), (",",))


@pytest.mark.parametrize(
    ("room", "own_room", "expected"),
    [
        (99, 99, "queries (tokens=6, dim=2) · keys.T (dim=2, tokens=6) → scores (queries=6, keys=6)"),
        (80, 80, "(6,2)·(2,6) → scores (queries=6, keys=6)"),
        (40, 40, "(6,2)·(2,6) → scores (queries=6, keys=6)"),
        (39, 39, "(6,2)·(2,6) → (6,6)"),
        (0, 19, "(6,2)·(2,6) → (6,6)"),
        (18, 18, "→ (6,6)"),
        (7, 7, "→ (6,6)"),
        (6, 6, ""),
        (-9, -9, ""),
    ],
)
def test_the_longest_form_that_fits(room: int, own_room: int, expected: str) -> None:
    assert ribbon_text(PRODUCT, room, own_room) == expected


def test_ascii() -> None:
    assert ribbon_text(PRODUCT, 30, 30, unicode=False) == "(6,2) @ (2,6) -> (6,6)"
    assert all(ribbon_text(PRODUCT, room, room, unicode=False).isascii() for room in range(99))


def test_a_line_that_produces_no_tensor() -> None:
    assert ribbon_text(PAIR, 12, 12) == "(6,6), (6,6)"
    assert ribbon_text(PAIR, 11, 11) == ""


def test_names_of_axes() -> None:
    heads = Shape("queries", (2, 2, 6, 4), ("batch", "head", "token", "head_dim"))
    assert named_shape(heads) == "queries (b=2, heads=2, tokens=6, head_dim=4)"
    assert named_shape(Shape("", (2, 3), ("", "dim"))) == "(2, dim=3)"
    assert named_shape(Shape("total", (), ())) == "total ()"
    assert named_shape(Shape("a\x1b[b]", (1,), ("index",))).isprintable()


def test_beside_the_code() -> None:
    code = rich_code("scores = queries @ keys.T\nn = 1\nsame = torch.equal(scores, scores)  # long", "ansi_dark")
    lines = (PRODUCT, LineShapes(3, PAIR.took, PAIR.joints))
    found = with_ribbon(code, lines, 70).plain.split("\n")
    product, same = "1  scores = queries @ keys.T", "3  same = torch.equal(scores, scores)  # long"
    assert found == [
        product + "(6,2)·(2,6) → (6,6)".rjust(70 - len(product)),
        "2  n = 1",
        same + "(6,6), (6,6)".rjust(70 - len(same)),
    ]


def test_shapes_stand_beside_the_lines_of_a_step_and_not_of_the_package_above_them() -> None:
    above = rich_code("def attend(queries):\n    ...", "ansi_dark", numbered=False)
    text = Text("\n\n").join([above, rich_code("scores = queries @ keys.T", "ansi_dark")])
    found = with_ribbon(text, (PRODUCT,), 70).plain.split("\n")
    assert ["→" in line for line in found] == [False, False, False, True]


@pytest.mark.parametrize("width", range(1, 120, 7))
def test_a_ribbon_never_widens_the_code(width: int) -> None:
    code = rich_code("scores = queries @ keys.T\n# a longer line than that, for once", "ansi_dark")
    before = [len(line) for line in code.plain.split("\n")]
    after = [len(line) for line in with_ribbon(code, (PRODUCT,), width).plain.split("\n")]
    assert all(now <= max(then, width) for then, now in zip(before, after, strict=True))


def test_the_colors_of_the_code_stay() -> None:
    code = rich_code("import torch", "ansi_dark")
    text = with_ribbon(code, (LineShapes(1, made=(SCORES,)),), 60)
    assert text.spans[: len(code.spans)] == code.spans
    assert with_ribbon(code, (), 60) == code
    assert with_ribbon(Text(), (), 60).plain == ""
