"""Two pieces of code compared as `diff` compares two programs."""

from __future__ import annotations

from attn_tutor.lessons.programs.results.comparison import ComparedResult, RunComparison
from attn_tutor.lessons.programs.worker.diff import comparison, traced_result
from attn_tutor.lessons.programs.worker.diff.traced_result import ResultTrace
from attn_tutor.lessons.worker.jobs import values
from tests.lessons.recorded_code import Traced


def compare(one: str, other: str, rtol: float | None = None, atol: float | None = None) -> RunComparison:
    """Compare what two pieces of code compute."""
    traces = []
    for source in (one, other):
        trace = comparison.trace(Traced(source).explainer)
        # As between two processes.
        encoded = [values.encode(traced_result.plain(part)) for part in traced_result.parts(trace)]
        traces.append(ResultTrace(traced_result.joined(values.decode(*part) for part in encoded), trace.gaps))
    return comparison.compare(traces[0], traces[1], rtol, atol)


def different(one: str, other: str) -> tuple[ComparedResult, ComparedResult]:
    """Compare two pieces of code, and return the results that differ first, of which each has one."""
    difference = compare(one, other).difference
    assert difference is not None
    assert difference.one is not None
    assert difference.other is not None
    return difference.one, difference.other
