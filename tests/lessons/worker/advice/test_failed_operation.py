"""The operation that failed has one description, however the code that called it is written."""

from __future__ import annotations

import linecache

import pytest

from attn_tutor.lessons.worker.advice.scene import failed_operation, may_be_same_operation

FILE = "<operation>"
START = "import torch\nfrom torch import nn\nq, k = torch.ones(6, 3), torch.ones(5, 4)\nlayer = nn.Linear(7, 2)\n"


def operation(line: str) -> str:
    source = START + line
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    with pytest.raises(Exception, match=r".") as caught:
        exec(compile(source, FILE, "exec"), {})
    return failed_operation(caught.value, FILE, source)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("q @ k", "@ 6x3 5x4"),
        ("torch.matmul(q, k)", "@ 6x3 5x4"),
        ("q.mm(k)", "@ 6x3 5x4"),
        ("q + k", "add 6x3 5x4"),
        ("q *= k", "mul 6x3 5x4"),
        ("q.T.view(9, 3)", "view 3x6"),
        ("layer(q)", "Linear 6x3"),
        ("torch.softmax(q, dim=5)", "softmax 6x3"),
        ("q @ [k][0]", "@ 6x3 5x4"),
        ("q @ (lambda: k)()", "@ 6x3 ?"),
        ("int('x')", ""),
        ("missing", ""),
    ],
)
def test_an_operation_is_told_by_name_and_shapes(line: str, told: str) -> None:
    assert operation(line) == told


def test_what_is_unknown_may_be_anything() -> None:
    assert may_be_same_operation("@ 6x3 5x4", "@ 6x3 ?")
    assert may_be_same_operation("", "@ 6x3 5x4")
    assert not may_be_same_operation("@ 6x3 5x4", "@ 6x3 5x3")
    assert not may_be_same_operation("@ 6x3 5x4", "add 6x3 5x4")
    assert not may_be_same_operation("view 6x3", "view 6x3 5x4")
