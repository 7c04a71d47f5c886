"""Where two programs differ, and a program with what the other has in place of its own."""

from __future__ import annotations

import ast

import pytest

from attn_tutor.lessons.reading.code_differences import differences, parse, replaced

RIGHT = """\
def f(x, y):
    scores = x @ y.T
    for row in scores:
        total = row.sum()
        out.append(row / total)
    return torch.stack(out)
"""


@pytest.mark.parametrize(
    ("find", "replacement", "lines", "parts"),
    [
        ("x @ y.T", "x @ y", [2], 1),
        ("row / total", "total / row", [5], 2),
        ("in scores", "in scores.T", [3], 1),
        ("    total = row.sum()\n", "    ", [3], 0),
        ("    return torch.stack(out)\n", "", [5], 0),
        ("    return", "    out = out[1:]\n    return", [6], 0),
        ("out.append(row / total)", "out = row / total", [5], 0),
        ("(x, y)", "(x, y=1)", [1], 0),
        ("y.T", "y # .T", [2], 1),
    ],
)
def test_a_difference_is_found_where_it_is(find: str, replacement: str, lines: list[int], parts: int) -> None:
    theirs, ours = parse(RIGHT.replace(find, replacement)), parse(RIGHT)
    found = differences(theirs, ours)
    assert [item.line for item in found] == lines
    assert [len(item.parts) for item in found] == [parts]
    assert replaced(theirs, found) == ast.unparse(ours)


def test_of_several_differences_each_can_be_replaced_alone() -> None:
    wrong = RIGHT.replace("y.T", "y").replace("row / total", "row")
    theirs = parse(wrong)
    first, second = differences(theirs, parse(RIGHT))
    assert replaced(theirs, [first]) == ast.unparse(ast.parse(RIGHT.replace("row / total", "row")))
    assert replaced(theirs, [second]) == ast.unparse(ast.parse(RIGHT.replace("y.T", "y")))
    assert replaced(theirs, [first, second]) == ast.unparse(ast.parse(RIGHT))
    assert ast.unparse(theirs) == ast.unparse(ast.parse(wrong))


def test_the_head_of_a_loop_is_replaced_together_with_what_is_in_it() -> None:
    theirs = parse(RIGHT.replace("in scores", "in scores.T").replace("row.sum()", "row.mean()"))
    assert replaced(theirs, differences(theirs, parse(RIGHT))) == ast.unparse(ast.parse(RIGHT))


def test_docstrings_and_comments_are_no_differences() -> None:
    documented = RIGHT.replace("    scores", '    """Divide rows."""\n    # First:\n    scores')
    assert differences(parse(documented), parse(RIGHT)) == []
