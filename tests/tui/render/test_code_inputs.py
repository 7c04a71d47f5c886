"""Which tensors code reads, and in what order they are drawn."""

from __future__ import annotations

import pytest

from attn_tutor.tui.state.shown_tensors import names_read, ranks


def test_names_that_code_reads() -> None:
    assert names_read("context = weights @ values") == {"weights", "values"}
    assert names_read("def f(") == frozenset()


@pytest.mark.parametrize(
    ("code", "names", "expected"),
    [
        ("context = weights @ values", ("context", "values"), (1, 0)),
        ("context = weights @ values", ("context", "values", "weights"), (2, 0, 0)),
        ("a = x + 1\nb = a * 2", ("b", "x"), (1, 0)),
        ("for row in x:\n    total += row", ("total", "x"), (1, 0)),
        ("a = 1\nb = 2", ("b", "a"), (0, 0)),
        ("not python", ("b", "a"), (0, 0)),
    ],
)
def test_inputs_rank_before_results(code: str, names: tuple[str, ...], expected: tuple[int, ...]) -> None:
    assert ranks(code, names) == expected
