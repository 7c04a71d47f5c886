"""Positions of operations in source: the code of a call that stands on several lines, and its line."""

from __future__ import annotations

import os

import pytest

from attn_tutor.lessons.results import explanation as x
from attn_tutor.lessons.worker.explaining.source_location import locate
from attn_tutor.lessons.worker.recording.call_sites import PACKAGE
from attn_tutor.lessons.worker.recording.source_positions import SourcePositions
from tests.lessons.recorded_code import Traced

CHAIN = """
a = torch.rand(3, 4)
y = (
    a
    .exp()
    .sum(
        dim=1,
    )
    .log()
)
"""


def test_methods_on_lines_of_their_own_have_their_code() -> None:
    """Python says of `.log()` that it begins at the name of the method and not where the whole expression does."""
    traced = Traced(CHAIN)
    told = traced.explain("y", 1)
    assert (told.code, told.line) == ("a.exp().sum(dim=1).log()", 9)
    summed = traced.follow(told.operands[0])
    assert (summed.label, summed.line) == ("a.exp().sum(dim=1)[1]", 6)
    assert [operand.name for operand in summed.operands] == ["a.exp()"] * 4


def test_what_methods_on_several_lines_give_is_assigned() -> None:
    """In a function, only the source tells a name."""
    code = "def f(t):\n    h = (\n        t\n        .exp()\n    )\n    return h * 2\ny = f(torch.rand(2))"
    assert x.python(Traced(code).explain("y", 1)) == "h[1] * 2.0"


@pytest.mark.parametrize(
    ("source", "line", "code"),
    [
        ("y = a * \\\n    2", 2, "a * 2"),
        ("y = (a\n     * 2)", 2, "a * 2"),
        ("y = torch.add(\n    a,\n    .5,\n)", 2, "torch.add(a, .5)"),
        ("def f(t):\n    return (\n        t\n        * 2\n    )\ny = f(\n    a\n)", 4, "t * 2"),
        ("f = lambda t: (\n    t * 2\n)\ny = f(a)", 3, "t * 2"),
        ("y = torch.stack([\n    row\n    * 2\n    for row in a\n])", 3, "row * 2"),
        ("with torch.no_grad(), \\\n     torch.no_grad():\n    y = a * (\n        2\n    )", 4, "a * (2)"),
        ("y = a.mul(\n    2,\n).mul(\n    3\n)", 4, "a.mul(2).mul(3)"),
        ("y = torch.add(  # a sum\n    a,  # of two\n    2,\n)", 2, "torch.add(a, 2)"),
    ],
)
def test_the_line_is_the_one_where_the_code_of_the_operation_begins(source: str, line: int, code: str) -> None:
    told = Traced(f"a = torch.rand(2, 3)\n{source}").explain("y", 1, 1)
    assert (told.line, told.code) == (line, code)


@pytest.mark.parametrize(("name", "shown"), [("causal.py", "attention/causal.py"), ("../attention_2/mine.py", None)])
def test_only_files_of_the_package_are_named_as_its_modules(name: str, shown: str | None) -> None:
    """A folder or a module whose path only begins like that of the package is the user's."""
    file = os.path.normpath(os.path.join(PACKAGE, name))
    traced = Traced()
    traced.recorder.watch(file, "y = torch.ones(2) * 3")
    with traced.recorder:
        exec(compile("y = torch.ones(2) * 3", file, "exec"), traced.namespace)
    (event,) = (event for event in traced.recorder.record.events if event.op == "mul")
    assert locate(SourcePositions(traced.recorder.record), event).file == (shown or file)
