"""Repairs of a wrong answer: edits of its syntax tree, each with its kind and line."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from lessons.reading import mistake_library, repair_rules
from lessons.reading.repairs import kind_texts, repairs


def found(source: str) -> set[tuple[str, int, str]]:
    return {(repair.kind, repair.line, ast.unparse(ast.parse(repair.code))) for repair in repairs(source, None, 1000)}


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("axis", "w = torch.softmax(s, dim=0)", "w = torch.softmax(s, dim=-1)"),
        ("axis", "w = s.softmax(0)", "w = s.softmax(-1)"),
        ("axes-exchanged", "k = x.transpose(0, 1)", "k = x.transpose(1, 2)"),
        ("sizes-in-order", "k = x.view(b, n, h)", "k = x.view(b, h, n)"),
        ("other-size", "d = k.shape[0]", "d = k.shape[-1]"),
        ("transpose-extra", "s = q @ k.T", "s = q @ k"),
        ("transpose-missing", "s = q @ k", "s = q @ k.mT"),
        ("operands-exchanged", "s = q / k", "s = k / q"),
        ("times-for-product", "s = q * k", "s = q @ k"),
        ("whole-division", "s = q // k", "s = q / k"),
        ("root-missing", "s = q / d", "s = q / d ** 0.5"),
        ("power-extra", "s = d ** 0.5", "s = d"),
        ("without-gradients", "s = q.detach()", "s = q"),
        ("rounded", "s = round(q)", "s = q"),
        ("other-triangle", "m = torch.tril(x)", "m = torch.triu(x)"),
        ("diagonal", "m = torch.triu(x, diagonal=0)", "m = torch.triu(x, diagonal=1)"),
        ("keepdim-missing", "t = x.sum(1)", "t = x.sum(1, keepdim=True)"),
        ("negated", "m = ~mask", "m = mask"),
        ("not-negated", "m = s.masked_fill(m, 0)", "m = s.masked_fill(~m.bool(), 0)"),
        ("fill", "m = s.masked_fill(m, 0)", "m = s.masked_fill(m, float('-inf'))"),
        ("comparison", "m = i < j", "m = i <= j"),
        ("flag", "l = nn.Linear(2, 3, bias=True)", "l = nn.Linear(2, 3, bias=False)"),
        ("number", "m = range(3)", "m = range(4)"),
        ("slice", "m = x[:n]", "m = x[:n + 1]"),
    ],
)
def test_an_edit_undoes_a_kind_of_mistake(kind: str, before: str, after: str) -> None:
    assert (kind, 1, after) in found(before)


@pytest.mark.parametrize(
    ("kind", "line", "before", "after"),
    [
        ("other-name", 3, "def f(q, k):\n    s = q\n    return s", "def f(q, k):\n    s = q\n    return k"),
        ("result-dropped", 2, "def f(x):\n    x.add(1)", "def f(x):\n    x = x.add(1)"),
        ("original-changed", 2, "def f(x):\n    x += 1", "def f(x):\n    x = x + 1"),
        ("returned-in-order", 2, "def f(x, y):\n    return x, y", "def f(x, y):\n    return (y, x)"),
        ("returned-too-much", 2, "def f(x, y):\n    return x, y", "def f(x, y):\n    return x"),
        ("return-in-loop", 4, "def f(x):\n    for i in x:\n        y = i\n        return y", None),
        ("statement-extra", 2, "def f(x):\n    x = x[1:]\n    return x", "def f(x):\n    return x"),
    ],
)
def test_an_edit_of_statements_undoes_a_kind_of_mistake(kind: str, line: int, before: str, after: str | None) -> None:
    if after is None:
        after = "def f(x):\n    for i in x:\n        y = i\n    return y"
    assert (kind, line, after) in found(before)


def test_repairs_of_the_blamed_line_come_first_and_all_are_python() -> None:
    source = "def f(q, k):\n    s = q @ k\n    w = s.softmax(0)\n    return w\n"
    ordered = repairs(source, 3, 1000)
    lines = [repair.line for repair in ordered]
    assert lines == sorted(lines, key=lambda line: abs(line - 3))
    assert len({repair.code for repair in ordered}) == len(ordered)
    for repair in ordered:
        ast.parse(repair.code)


def test_there_are_no_more_repairs_than_asked_for_and_none_of_what_is_not_python() -> None:
    assert len(repairs("s = q @ k / d ** 0.5", None, 3)) == 3
    assert repairs("s = = q", None, 3) == []


def test_each_kind_has_a_text_of_its_own() -> None:
    rules = Path(repair_rules.__file__).read_text(encoding="utf-8")
    kinds = set(kind_texts())
    assert kinds <= set(re.findall(r'"([a-z]+(?:-[a-z]+)*)"', rules))
    assert set(re.findall(r'yield "([a-z-]+)"', rules)) <= kinds
    assert not kinds & set(mistake_library.load_library())
