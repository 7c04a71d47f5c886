"""Statements are compared as text, with the names exchanged that two programs have for the same."""

from __future__ import annotations

from attn_tutor.lessons.reading.code_differences import aligned, argument_names, more_names, renamed, statements_of

CODE = """\
import torch


class A(nn.Module):
    '''Words.'''

    def __init__(
        self, width,
    ):
        super().__init__()
        if width:
            x = 1
        else:
            y = 2

    @torch.no_grad()
    def forward(self, x):
        for i in range(3):
            x = f(x,
                  2)
        return x
"""


def test_statements_are_in_the_order_of_their_lines() -> None:
    assert [(item.line, item.end, item.text, item.owner) for item in statements_of(CODE)] == [
        (4, 4, "class A(nn.Module):", ""),
        (7, 9, "def __init__(self, width):", "__init__"),
        (10, 10, "super().__init__()", "__init__"),
        (11, 11, "if width:", "__init__"),
        (12, 12, "x = 1", "__init__"),
        (14, 14, "y = 2", "__init__"),
        (17, 17, "@torch.no_grad()\ndef forward(self, x):", "forward"),
        (18, 18, "for i in range(3):", "forward"),
        (19, 20, "x = f(x, 2)", "forward"),
        (21, 21, "return x", "forward"),
    ]


def test_what_is_no_python_has_no_statements() -> None:
    assert statements_of("x = (") == ()
    assert statements_of("match x:\n    case 1:\n        y = 2\n")[-1].text == "y = 2"
    assert [item.line for item in statements_of("try:\n    x = 1\nexcept E:\n    y = 1\n")] == [1, 2, 4]


def test_names_are_exchanged_but_not_attributes_nor_words_in_calls() -> None:
    names = {"w": "weights", "dim": "axis"}
    assert renamed("w = f(w, dim=-1).w + w[dim == 3]", names) == "weights = f(weights, dim=-1).w + weights[axis == 3]"


def test_statements_are_aligned_with_other_names() -> None:
    theirs = statements_of("def f(a, b):\n    c = a @ b\n    extra = 1\n    return c\n")
    ours = statements_of("def f(x, y):\n    z = x @ y\n    return z\n")
    names = more_names(theirs, ours, argument_names(theirs, ours))
    assert names == {"a": "x", "b": "y", "c": "z"}
    assert aligned(theirs, ours, names) == {0: 0, 1: 1, 3: 2}
