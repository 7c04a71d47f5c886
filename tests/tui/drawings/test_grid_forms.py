"""Matrices in few columns: with fewer digits, or in shades."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.results.result import Tensor
from attn_tutor.tui.drawings.drawing_scene import Face
from attn_tutor.tui.drawings.grid import cols_fit, form_at, forms
from attn_tutor.tui.render.palette import palette
from attn_tutor.tui.tty.terminal import Terminal
from tests.tui.drawings.drawn_tensors import scene, text

WORDS = ("Your", "journey", "starts", "with", "one", "step")


def six() -> Face:
    values = tuple(column / 10 for _ in range(6) for column in range(6))
    tensor = Tensor("weights", "weight", "float32", (6, 6), (), labels=(WORDS, WORDS), low=0.0, high=0.5, values=values)
    return Face.of(tensor, palette(Terminal(depth="256")))


@pytest.mark.parametrize(
    ("width", "shades", "text"), [(64, False, "0.5000"), (46, False, "0.50"), (39, False, ".50"), (26, False, "0.5000")]
)
def test_digits_go_before_columns_do(width: int, shades: bool, text: str) -> None:
    form = form_at(six(), width, shades)
    assert form.numbers.text(0.5) == text
    assert cols_fit(form, width) == (width >= 39)


def test_shades_are_for_matrices_beside_others() -> None:
    assert not form_at(six(), 26, shades=False).shades
    assert form_at(six(), 26, shades=True).shades


def test_every_form_shows_all_columns_in_its_width() -> None:
    assert [cols_fit(form, width) for form, width in forms(six())] == [True] * 5
    widths = [width for _, width in forms(six())]
    assert widths == sorted(widths, reverse=True)


def test_positions_replace_labels_that_look_the_same_when_cut() -> None:
    words = tuple(f"word {position}" for position in range(5))
    tensor = Tensor("ids", "vector", "int64", (5, 5), (), labels=(words, words), low=0.0, high=5.0, values=(1.0,) * 25)
    wide, narrow, least = (text(scene(tensor, width)).splitlines() for width in (50, 26, 20))
    assert wide[1].split() == " ".join(words).split()
    assert narrow[1].split() == ["0", "1", "2", "3", "4"]
    assert [line.split()[0] for line in least[2:6]] == ["0", "1", "2", "3"]
