"""Before, after and the difference: what each matrix shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attn_tutor.lessons.results.result import StepResult, Tensor, Window
from attn_tutor.lessons.what_if.cells import CellChange
from attn_tutor.tui.drawings import before_after
from attn_tutor.tui.drawings.before_after import MatrixContent, changed_lines, contents
from attn_tutor.tui.drawings.marks import NO_CELLS, Cells

OTHER_SHAPE = "had a different shape before"


def tensor(name: str, shape: tuple[int, ...], values: tuple[float, ...] | None, dtype: str = "float32") -> Tensor:
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    axes, labels = ("row", "column")[-len(shape) :], ((),) * len(shape)
    return Tensor(name, "vector", dtype, shape, axes, labels, low, high, values)


BEFORE = tensor("scores", (2, 2), (1.0, 2.0, 3.0, 4.0))
AFTER = replace(BEFORE, values=(1.0, 2.5, 3.0, 0.0), low=0.0, high=3.0)
OTHER = tensor("other", (1,), (7,), "int64")
HUGE = replace(tensor("huge", (900, 900), None), window=Window((), 0, 0, ((1.0, 2.0),)))
CELL = CellChange("one", "scores", (0, -1), 2.5)


def result(*tensors: Tensor) -> StepResult:
    return StepResult("one", tensors=tensors)


def test_without_changes() -> None:
    assert contents(None, result(BEFORE, OTHER), "difference", [CELL]) == (MatrixContent(BEFORE), MatrixContent(OTHER))


def test_after_before_and_the_difference() -> None:
    changed, own = Cells(flat=frozenset({1, 3})), Cells(patterns=((0, 1),))
    base, now = result(BEFORE, OTHER), result(AFTER, OTHER)
    after, same = contents(base, now, "after", [CELL])
    assert after == MatrixContent(AFTER, "after", changed, own, comparable=True)
    assert same == MatrixContent(OTHER, "unchanged", Cells(flat=frozenset()), NO_CELLS, comparable=True)
    assert contents(base, now, "before", [CELL])[0] == MatrixContent(BEFORE, "before", changed, comparable=True)
    difference = contents(base, now, "difference", [CELL])[0]
    assert (difference.caption, difference.changed, difference.set) == ("difference", changed, own)
    assert (difference.tensor.values, difference.tensor.low, difference.tensor.high) == (
        (0.0, 0.5, 0.0, -4.0),
        -4.0,
        0.5,
    )


@pytest.mark.parametrize(
    ("mode", "expected"), [("after", OTHER_SHAPE), ("difference", OTHER_SHAPE), ("before", "before")]
)
def test_a_different_shape_cannot_be_compared(mode: before_after.Mode, expected: str) -> None:
    wide = tensor("scores", (1, 3), (1.0, 2.0, 3.0))
    [found] = contents(result(BEFORE), result(wide), mode)
    assert (found.caption, found.tensor, found.changed) == (expected, BEFORE if mode == "before" else wide, NO_CELLS)


@pytest.mark.parametrize("mode", before_after.MODES)
def test_large_tensors_show_only_the_numbers_after(mode: before_after.Mode) -> None:
    other = replace(HUGE, window=Window((), 0, 0, ((1.0, 3.0),)))
    assert contents(result(HUGE), result(other), mode) == (MatrixContent(other, "after; too large to compare"),)


@pytest.mark.parametrize("mode", before_after.MODES)
def test_a_tensor_that_is_new(mode: before_after.Mode) -> None:
    assert contents(result(OTHER), result(AFTER), mode, [CELL]) == (
        MatrixContent(AFTER, "after", set=Cells(patterns=((0, 1),))),
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a\nb\nc", "a\nB\nc", {2}),
        ("a\nb", "a\nb", set()),
        ("", "", set()),
        ("x = [1,\n     2]", "x = [1,\n     3,\n     4]", {2, 3}),
        ("a = 1\n", "a = 1\nb = 2\n", {2}),
    ],
)
def test_changed_lines(before: str, after: str, expected: set[int]) -> None:
    assert changed_lines(before, after) == expected
