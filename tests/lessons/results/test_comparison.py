"""The difference of a tensor before and after a change, also where only windows of it are known."""

from __future__ import annotations

import math
from dataclasses import replace
from math import inf, nan, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_tutor.lessons.results.comparison import changed_in, difference, same, window_difference
from attn_tutor.lessons.results.result import Tensor, Window


def tensor(values: list[float] | None, *shape: int, dtype: str = "float32", window: Window | None = None) -> Tensor:
    axes, labels = ("index",) * len(shape), tuple(tuple(map(str, range(size))) for size in shape)
    numbers = None if values is None else tuple(values)
    return Tensor("x", "weight", dtype, shape, axes, labels, 0.0, 1.0, numbers, window)


def test_difference_of_two_tensors() -> None:
    before, after = tensor([1.0, 2.0, 3.0, 4.0], 2, 2), tensor([1.0, 2.5, 3.0, 1.0], 2, 2)
    found = difference(before, after)
    assert found is not None
    assert found.tensor == replace(after, kind="vector", values=(0.0, 0.5, 0.0, -3.0), low=-3.0, high=0.5)
    assert (found.changed, found.known) == (frozenset({1, 3}), True)


def test_infinities_and_nan() -> None:
    before = tensor([nan, nan, 1.0, inf, inf, -inf, inf, 0.0], 8)
    after = tensor([nan, 1.0, nan, inf, -inf, -inf, 1.0, -0.0], 8)
    found = difference(before, after)
    assert found is not None
    assert found.changed == {1, 2, 4, 6}
    assert found.tensor.values is not None
    assert repr(found.tensor.values) == repr((0.0, nan, nan, 0.0, -inf, 0.0, -inf, 0.0))
    assert (found.tensor.low, found.tensor.high) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("before", "after", "dtype"),
    [
        ("float32", "float32", "float32"),
        ("float32", "float64", "float64"),
        ("float64", "int64", "float64"),
        ("bool", "bool", "int64"),
        ("int64", "bool", "int64"),
    ],
)
def test_dtype_of_a_difference(before: str, after: str, dtype: str) -> None:
    found = difference(tensor([0, 1], 2, dtype=before), tensor([1, 1], 2, dtype=after))
    assert found is not None
    assert (found.tensor.dtype, found.tensor.values) == (dtype, (1, 0))


def test_different_shapes_have_no_difference() -> None:
    assert difference(tensor([1.0], 1), tensor([1.0], 1, 1)) is None
    for shape in ((), (0, 3), (1, 2, 3)):
        numbers = [1.0] * prod(shape)
        found = difference(tensor(numbers, *shape), tensor(numbers, *shape))
        assert found is not None
        assert (found.changed, found.known, found.tensor.shape) == (frozenset(), True, shape)


ROWS = ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))


def test_windows_are_compared_where_they_overlap() -> None:
    before, after = Window((1,), 10, 20, ROWS), Window((1,), 11, 21, ((5.0, 7.0, 9.0), (0.0, 0.0, 0.0)))
    assert window_difference(before, after) == Window((1,), 11, 21, ((0.0, 1.0),))
    assert changed_in(before, after, (3, 100, 50)) == {100 * 50 + 11 * 50 + 22}


@pytest.mark.parametrize(
    "other",
    [
        None,
        Window((0,), 10, 20, ROWS),
        Window((1,), 12, 20, ROWS),
        Window((1,), 10, 23, ROWS),
        Window((1,), 8, 20, ROWS),
        Window((1,), 10, 20, ()),
    ],
)
def test_windows_without_an_overlap(other: Window | None) -> None:
    here = Window((1,), 10, 20, ROWS)
    assert window_difference(here, other) is window_difference(other, here) is None
    assert changed_in(here, other, (3, 100, 50)) == frozenset()


def test_large_tensors_are_compared_by_their_windows() -> None:
    window = Window((0,), 0, 0, ROWS)
    before = tensor(None, 2, 100, 100, window=window)
    after = tensor(None, 2, 100, 100, window=replace(window, rows=((1.0, 2.0, 3.0), (4.0, inf, 6.0))))
    found = difference(before, after)
    assert found is not None
    assert (found.changed, found.known) == (frozenset({101}), False)
    assert found.tensor.window == Window((0,), 0, 0, ((0.0, 0.0, 0.0), (0.0, inf, 0.0)))
    assert (found.tensor.values, found.tensor.low, found.tensor.high) == (None, 0.0, 0.0)
    nothing = difference(before, tensor(None, 2, 100, 100))
    assert nothing is not None
    assert (nothing.tensor.window, nothing.changed, nothing.known) == (None, frozenset(), False)


@given(st.lists(st.tuples(st.floats(), st.floats()), min_size=1))
def test_every_difference_is_a_change(pairs: list[tuple[float, float]]) -> None:
    before, after = map(list, zip(*pairs, strict=True))
    found = difference(tensor(before, len(pairs)), tensor(after, len(pairs)))
    assert found is not None
    assert found.tensor.values is not None
    for place, (old, new) in enumerate(pairs):
        assert (place in found.changed) == (not same(old, new))
        if place in found.changed:
            value = found.tensor.values[place]
            assert value != 0 or math.isnan(value) or math.isclose(old, new)
        else:
            assert found.tensor.values[place] == 0
