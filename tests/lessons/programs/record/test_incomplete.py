"""What a trace does not know: no answer takes it for something good, and no number stands for it."""

from __future__ import annotations

import pytest
import torch

from attn_tutor.lessons.programs.record import Incomplete, Trace, record
from attn_tutor.lessons.worker.recording import recorder


def stopped(factor: float) -> Trace:
    """Return the trace of a block that computes more than the record may keep."""
    with record(keep=1 << 16) as trace:
        large = [torch.full((1 << 14,), float(count)) for count in range(8)]
        _last = large[-1] * factor
    assert trace.stopped
    return trace


def test_a_search_that_came_to_no_end_is_neither_true_nor_false() -> None:
    found = stopped(2.0).first_nan()
    with pytest.raises(Incomplete, match="Recording stopped at line"):
        bool(found)
    assert "Everything that was looked at is finite" in repr(found)
    assert "all numbers are finite" not in repr(found)


def test_a_nan_after_the_end_of_the_record_is_seen_in_a_variable() -> None:
    with record(keep=1 << 20) as trace:
        _large = [torch.zeros(1 << 15) + count for count in range(9)]
        root = torch.tensor([-1.0]).sqrt()
    assert trace.stopped
    assert trace.first_nan()
    assert root.isnan()
    assert "root is not finite" in str(trace.first_nan())


def test_a_comparison_that_came_to_no_end_is_neither_true_nor_false() -> None:
    compared = stopped(1.0).compare(stopped(2.0))
    with pytest.raises(Incomplete, match="No difference was found, but not everything was compared"):
        bool(compared)
    assert "agree." not in str(compared)


def test_a_difference_counts_also_where_a_record_has_stopped() -> None:
    def trace_of(start: float) -> Trace:
        with record(keep=1 << 16) as trace:
            first = torch.rand(3, generator=torch.Generator().manual_seed(3)) + start
            _large = [torch.full((1 << 14,), float(count)) + first[0] for count in range(8)]
        assert trace.stopped
        return trace

    assert not trace_of(1.0).compare(trace_of(2.0))


def test_what_was_forgotten_was_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_tutor.lessons.programs.record.recording.FEW_EVENTS", 20)
    assert recorder.FEW_EVENTS > 20
    with record() as trace:
        for count in range(30):
            x = torch.ones(2) * count
        y = x + 1
    assert y is not None
    assert not trace.stopped
    with pytest.raises(Incomplete, match=r"Not looked at: .* operations"):
        bool(trace.first_nan())
    with pytest.raises(Incomplete, match="not compared"):
        bool(trace.compare(trace))


def test_nothing_is_no_evidence() -> None:
    with record() as trace:
        pass
    with pytest.raises(Incomplete, match="nothing was looked at"):
        bool(trace.first_nan())
    with pytest.raises(Incomplete, match="nothing to compare"):
        bool(trace.compare(trace))


def test_numbers_in_sparse_tensors_are_looked_at_or_missed() -> None:
    with record() as trace:
        x = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
        sparse = x.to_sparse()
    assert not trace.first_nan()
    with record() as trace:
        wrong = (sparse * float("nan")).coalesce()
        y = x + 1
    assert wrong.is_sparse
    assert y is not None
    with pytest.raises(Incomplete, match="may hold numbers that are not finite"):
        bool(trace.first_nan())
    with pytest.raises(Incomplete, match="not compared"):
        bool(trace.compare(trace))


def test_a_number_that_nobody_knows_is_unknown() -> None:
    wide = torch.zeros(1 << 9)
    with record(keep=1 << 8) as trace:
        wide += 1
    number = trace.explain("wide", 3)
    assert number.value is None
    assert number.formula == ""
    assert str(number).startswith("wide[3] = unknown")
    assert "nan" not in str(number) + repr(number) + number._repr_html_()
