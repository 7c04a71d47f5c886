"""Blocks and rows of a matrix: their definitions, and that the worker computes the same."""

from __future__ import annotations

import math
from collections.abc import Iterator
from math import inf, isnan, log2, nan

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_tutor.lessons.engine import replies
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.results import summaries as definitions
from attn_tutor.lessons.results.summaries import Blocks, How, RowStats, blocks_of, row_stats
from attn_tutor.lessons.results.tensor_questions import BlocksQuestion
from attn_tutor.lessons.worker.jobs import tensor_entries
from tests.lessons import run_questions
from tests.lessons.lesson_builders import code_step, lesson_of

MATRIX = (
    (1.0, 2.0, 3.0, 4.0, 5.0),
    (6.0, 7.0, 8.0, 9.0, 10.0),
    (-1.0, -inf, nan, -inf, -inf),
)


def is_close(one: float, other: float) -> bool:
    """Return whether two numbers are the same apart from the last few bits; NaN equals NaN."""
    return (isnan(one) and isnan(other)) or one == other or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def blocks_from_worker(matrix: torch.Tensor, rows: int, cols: int, how: How) -> Blocks:
    """Compute blocks as the worker does, and read its reply."""
    blocks = replies.result_of(
        BlocksQuestion("x", (), rows, cols, how), tensor_entries.blocks_report(matrix, rows, cols, how)
    )
    assert isinstance(blocks, Blocks)
    return blocks


# Blocks --------------------------------------------------------------------------------------------------------------


def test_maximum_of_each_block() -> None:
    blocks = blocks_of((7,), MATRIX, 2, 2, "max")
    assert blocks.grid[0] == (7.0, 9.0, 10.0)
    assert blocks.grid[1][0] == -1.0
    assert isnan(blocks.grid[1][1])
    assert blocks.grid[1][2] == -inf
    assert blocks.peaks == (((1, 1), (1, 3), (1, 4)), ((2, 0), (2, 2), (2, 4)))
    assert (blocks.lead, blocks.rows, blocks.cols, blocks.how) == ((7,), 2, 2, "max")


def test_mean_ignores_masked_cells() -> None:
    blocks = blocks_of((), MATRIX, 2, 2, "mean")
    assert blocks.grid[0] == (4.0, 6.0, 7.5)
    assert blocks.grid[1][0] == -1.0
    assert isnan(blocks.grid[1][1])
    assert blocks.grid[1][2] == -inf


def test_the_first_of_equal_cells_is_the_peak() -> None:
    assert blocks_of((), [[1.0, 1.0], [1.0, 1.0]], 2, 2, "max").peaks == (((0, 0),),)


numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(width=32), st.just(-inf))


@given(st.data(), st.integers(1, 7), st.integers(1, 7), st.integers(1, 8), st.integers(1, 8))
def test_the_worker_computes_the_same(data: st.DataObject, height: int, width: int, rows: int, cols: int) -> None:
    matrix = data.draw(st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=height, max_size=height))
    how: How = data.draw(st.sampled_from(["max", "mean"]))
    got = blocks_from_worker(torch.tensor(matrix, dtype=torch.float64), rows, cols, how)
    want = blocks_of((), matrix, rows, cols, how)
    assert got.peaks == want.peaks
    for ours, theirs in zip(want.grid, got.grid, strict=True):
        assert all(map(is_close, ours, theirs)), (ours, theirs)


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (3, 8), (5, 6), (64, 48), (100, 7)])
def test_blocks_of_a_very_large_matrix_are_those_of_a_sample(
    monkeypatch: pytest.MonkeyPatch, rows: int, cols: int
) -> None:
    monkeypatch.setattr(definitions, "LOOKED_AT", 500)
    matrix = torch.arange(67 * 51).view(67, 51)
    down, across = definitions.sampling((67, 51), rows, cols)
    assert 1 <= down <= rows
    assert cols % across == 0
    found = blocks_from_worker(matrix, rows, cols, "max")
    assert (len(found.grid), len(found.grid[0])) == (-(-67 // rows), -(-51 // cols))
    for top, (line, peaks) in enumerate(zip(found.grid, found.peaks, strict=True)):
        for left, (value, (row, col)) in enumerate(zip(line, peaks, strict=True)):
            assert (row // rows, col // cols) == (top, left)
            assert matrix[row, col] == value
    assert definitions.sampling((20, 25), rows, cols) == (1, 1)


@pytest.mark.parametrize(
    ("matrix", "how", "grid"),
    [
        (torch.tensor([[True, False], [False, False]]), "max", ((1.0,), (0.0,))),
        (torch.tensor([[True, False], [False, False]]), "mean", ((0.5,), (0.0,))),
        (torch.tensor([[1, 4], [2**53, 0]]), "max", ((4.0,), (2.0**53,))),
        (torch.tensor([[1.5, 2.5]], dtype=torch.bfloat16), "mean", ((2.0,),)),
        (torch.empty(0, 2), "max", ()),
    ],
)
def test_blocks_of_any_dtype(matrix: torch.Tensor, how: How, grid: tuple[tuple[float, ...], ...]) -> None:
    assert blocks_from_worker(matrix, 1, 2, how).grid == grid


# Rows ----------------------------------------------------------------------------------------------------------------


def test_statistics_of_a_row_of_weights() -> None:
    stats = row_stats((1,), 5, [0.5, 0.0, 0.25, 0.25], 3)
    assert stats == RowStats((1,), 5, 1.0, 0.0, 0.5, 3, 1.5, ((0, 0.5), (2, 0.25), (3, 0.25)))
    assert stats.equal_shares == 2**1.5


def test_even_shares() -> None:
    stats = row_stats((), 0, [1 / 6] * 6, 1)
    assert stats.bits == pytest.approx(log2(6))
    assert stats.equal_shares == pytest.approx(6)
    assert row_stats((), 0, [1.0, 0.0], 1).bits == 0.0


@pytest.mark.parametrize("values", [[0.5, 0.4], [1.5, -0.5], [nan, 1.0], [inf], []])
def test_a_row_that_is_no_distribution_has_no_entropy(values: list[float]) -> None:
    stats = row_stats((), 0, values, 2)
    assert (stats.bits, stats.equal_shares) == (None, None)


def test_statistics_of_masked_scores() -> None:
    stats = row_stats((), 0, [0.5, nan, -inf, -2.0, -inf], 5)
    assert stats.top == ((0, 0.5), (3, -2.0))
    assert (stats.low, stats.high, stats.support) == (-2.0, 0.5, 1)
    assert isnan(stats.total)
    assert row_stats((), 0, [-inf, 1.0], 5).total == -inf
    assert row_stats((), 0, [-inf], 5) == RowStats((), 0, -inf, None, None, 0, None, ())


# A run ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large(worker: Session, course: Course) -> Iterator[Run]:
    """Return a run of the lesson at the size of GPT-2 up to the weights of a thousand tokens."""
    run = worker.run(course.lesson("gpt2-size"), "weights")
    yield run
    run.close()


class TestLarge:
    """Tests that share one run."""

    def test_blocks_of_every_head(self, large: Run) -> None:
        for head in (0, 11):
            blocks = run_questions.blocks(large, "weights", "weights", (0, head), 96, 128, "max")
            assert blocks is not None
            assert blocks.lead == (0, head)
            assert (len(blocks.grid), len(blocks.grid[0])) == (11, 8)
            # The first token attends only to itself, and no token looks ahead.
            assert (blocks.grid[0][0], blocks.peaks[0][0]) == (1.0, (0, 0))
            assert blocks.grid[0][7] == 0.0
            row, col = blocks.peaks[5][2]
            window = run_questions.window(large, "weights", "weights", (0, head), row, col, 1, 1)
            assert window is not None
            assert window.rows == ((blocks.grid[5][2],),)

    def test_means_of_blocks(self, large: Run) -> None:
        blocks = run_questions.blocks(large, "weights", "weights", (0, 3), 1024, 1024, "mean")
        assert blocks is not None
        # Each row sums to 1.
        assert blocks.grid[0][0] == pytest.approx(1 / 1024, rel=1e-5)

    def test_statistics_of_a_row(self, large: Run) -> None:
        stats = run_questions.row(large, "weights", "weights", (0, 3), 100, 5)
        assert stats is not None
        window = run_questions.window(large, "weights", "weights", (0, 3), 100, 0, 1, 256)
        assert window is not None
        want = row_stats((0, 3), 100, window.rows[0], 5)
        assert stats.top == want.top
        assert stats.support == 101
        assert stats.bits is not None
        assert want.bits is not None
        assert stats.bits == pytest.approx(want.bits)
        assert 50 < (stats.equal_shares or 0) <= 101

    @pytest.mark.parametrize(
        ("lead", "rows", "cols"), [((0,), 9, 9), ((0, 0), 0, 9), ((0, 0), 9, -1), ((0, 0), 1, 1), ((), 9, 9)]
    )
    def test_invalid_blocks_are_refused(self, large: Run, lead: tuple[int, ...], rows: int, cols: int) -> None:
        assert run_questions.blocks(large, "weights", "weights", lead, rows, cols, "max") is None
        assert run_questions.row(large, "weights", "weights", (0, 0), 0, 1) is not None

    @pytest.mark.parametrize(("name", "row"), [("scores", 0), ("weights", 1024), ("weights", -1)])
    def test_invalid_row_is_refused(self, large: Run, name: str, row: int) -> None:
        assert run_questions.row(large, "weights", name, (0, 0), row, 5) is None
        assert run_questions.row(large, "weights", "weights", (0, 0), 0, 1) is not None


def test_a_vector_is_one_row(worker: Session) -> None:
    run = worker.run(lesson_of(code_step("one", "x = torch.arange(5000.0)", "x"), setup="import torch"))
    try:
        blocks = run_questions.blocks(run, "one", "x", (), 1, 1000, "max")
        assert blocks is not None
        assert blocks.grid == ((999.0, 1999.0, 2999.0, 3999.0, 4999.0),)
        stats = run_questions.row(run, "one", "x", (), 0, 1)
        assert stats is not None
        assert stats.top == ((4999, 4999.0),)
    finally:
        run.close()
    assert run_questions.blocks(run, "one", "x", (), 1, 1000, "max") is None
    assert run_questions.row(run, "one", "x", (), 0, 1) is None
