"""Bars for the terms of a sum."""

from __future__ import annotations

from attn_tutor.tui.widgets.explanation_pane import MOST, contribution_lines
from tests.tui.explanations import dot

SUM = dot("score", (0, 1), [1.0, 0.5, -2.0, 0.0], [0.25, 1.0, 1.0, 3.0])
"""Its terms are 0.25, 0.5, -2 and 0."""


def test_the_largest_contribution_comes_first() -> None:
    lines = [line.plain for line in contribution_lines(SUM, 78, 10)]
    assert [line.split()[1] for line in lines] == ["-2", "0.5", "0.25", "0"]
    assert [line.count("▒") for line in lines] == [32, 0, 0, 0]
    assert [line.count("█") for line in lines] == [0, 8, 4, 0]
    assert "queries[0,2]·keys[1,2]" in lines[0]
    assert all(line.plain.isascii() for line in contribution_lines(SUM, 78, 10, unicode=False))


def test_what_does_not_fit_is_added_up() -> None:
    lines = [line.plain for line in contribution_lines(SUM, 78, 3)]
    assert len(lines) == 3
    assert lines[-1].split() == ["2", "more,", "together", "0.25", "████"]
    long = dot("score", (0, 1), [1.0] * 100, [float(number) for number in range(100)])
    assert len(contribution_lines(long, 78, 100)) == MOST
    assert all(line.cell_len <= width for width in range(20, 120) for line in contribution_lines(long, width, 100))


def test_no_bars_where_they_would_say_nothing() -> None:
    assert contribution_lines(SUM, 78, 2) == []
    assert contribution_lines(dot("score", (0, 1), [1.0, 2.0], [3.0, 4.0]), 78, 10) == []
    assert contribution_lines(dot("score", (0, 1), [0.0] * 3, [3.0] * 3), 78, 10) == []
    assert contribution_lines(dot("score", (0, 1), [1e38] * 3, [1e300] * 3), 78, 10) == []
