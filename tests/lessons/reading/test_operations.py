"""Names of mistakes are checked against the words of the code."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.reading.operations import are_akin, made_in, may_make, words_of

SOFTMAX = "def f(s):\n    e = torch.exp(s - s.max())\n    return e / e.sum()\n"
DROPOUT = """\
class M:
    def __init__(self, p):
        self.drop = nn.Dropout(p)

    def f(self, w):
        return self.drop(w)
"""


@pytest.mark.parametrize(
    ("answer", "mistake", "made"),
    [
        # The largest size subtracted.
        ("torch.exp(s) / torch.exp(s).sum()", ("s.max()", "s.abs().max()"), False),
        ("(s - s.abs().amax()).exp()", ("s.max()", "s.abs().max()"), True),
        # The smallest subtracted.
        ("torch.softmax(s - min(s), 0)", ("s.max()", "s.min()"), True),
        ("torch.softmax(s - s[0], 0)", ("s.max()", "s.min()"), False),
        # Nothing subtracted.
        ("torch.exp(s)", (" - s.max()", ""), True),
        ("torch.exp(s - s.max())", (" - s.max()", ""), False),
        # Turned round.
        ("s / s.sum(dim=-1)", ("e / e.sum()", "(e / e.sum()).T"), False),
        ("(s / s.sum(dim=-1)).t()", ("e / e.sum()", "(e / e.sum()).T"), True),
        ("torch.stack([row for row in s])", ("e / e.sum()", "(e / e.sum()).T"), True),
    ],
)
def test_a_mistake_is_made_only_by_code_that_does_what_it_says(
    answer: str, mistake: tuple[str, str], made: bool
) -> None:
    assert may_make(words_of(answer), SOFTMAX.replace(*mistake), SOFTMAX) == made


@pytest.mark.parametrize(
    ("answer", "made"),
    [
        ("w = w", True),
        ("if self.training: w = self.drop(w)", False),
        ("w = F.dropout(w, 0.1, training=False)", False),
        ("w = nn.Dropout(0.1)(w)", False),
    ],
)
def test_dropout_is_not_left_out_where_it_is_called(answer: str, made: bool) -> None:
    code = (
        "class M:\n    def __init__(self, p):\n        self.drop = nn.Dropout(p)\n    def f(self, w):\n        "
        + answer
    )
    assert may_make(words_of(code), DROPOUT.replace("self.drop(w)", "w"), DROPOUT) == made


def test_a_factor_that_a_mistake_lacks_is_not_in_the_code() -> None:
    solution = "def f(n, d):\n    return 2 * n * d\n"
    mistaken = solution.replace("2 * ", "")
    assert may_make(words_of("def f(n, d): return d * n"), mistaken, solution)
    assert not may_make(words_of("def f(n, d): return 2 * n * (d // 2)"), mistaken, solution)
    assert may_make(words_of("def f(n, d): return n[2] * d"), mistaken, solution)


def test_softmax_is_taken_along_no_axis_where_there_is_none() -> None:
    solution = "def f(s):\n    w = torch.softmax(s, dim=-1)\n    return w\n"
    mistaken = solution.replace("-1", "0")
    assert may_make(words_of("e = s.exp()\nw = e / e.sum(0)"), mistaken, solution)
    assert not may_make(words_of("w = s / s.sum(0)"), mistaken, solution)


def test_code_that_is_not_python_may_make_any_mistake() -> None:
    assert words_of("def f(:") == frozenset()
    assert may_make((), SOFTMAX.replace("s.max()", "s.min()"), SOFTMAX)


def test_a_sign_of_a_number_takes_nothing_away() -> None:
    assert "-" not in words_of("x.sum(dim=-1)")
    assert "-" in words_of("-x")


@pytest.mark.parametrize(
    ("one", "other", "akin"),
    [
        ("return torch.einsum('id,jd->ij', q, k)", "scores = q @ k.T", True),
        ("w = torch.softmax(s, dim=-1)", "w = F.softmax(s / d, dim=0)", True),
        ("return matrix", "w = m / m.max(dim=-1)", False),
        ("s = s.masked_fill(mask, 0)", "w = torch.softmax(s / d ** 0.5, dim=-1)", False),
        ("for i in range(n):", "for j in range(m):", True),
    ],
)
def test_lines_are_akin_if_they_do_the_same(one: str, other: str, akin: bool) -> None:
    assert are_akin(one, other) == akin


SOLUTION = "def f(x, W):\n    q = x @ W\n    k = x.clone()\n    k = k @ W\n    return torch.softmax(q @ k.T, dim=-1)\n"
NOT_TURNED, NOT_COPIED, OTHER_AXIS, ONCE = (
    SOLUTION.replace(find, replacement)
    for find, replacement in ((".T", ""), (".clone()", ""), ("-1", "0"), ("    k = k @ W\n", ""))
)


@pytest.mark.parametrize(
    ("code", "made"),
    [
        (SOLUTION, []),
        (NOT_TURNED, [NOT_TURNED]),
        ("def f(a, b):\n    s = torch.mm(a.matmul(b), a.clone() @ b)\n    return s.softmax(-1)\n", [NOT_TURNED]),
        # Both are turned in this one, and both factors are the same in that one.
        ("def f(x, W):\n    q = x @ W\n    return torch.softmax(q.T @ (x.clone() @ W).T, dim=-1)\n", []),
        ("def f(x, W):\n    q = x @ W\n    return torch.softmax(q @ q, dim=-1)\n", []),
        ("def f(x, W):\n    q = k = x\n    q @= W\n    k @= W\n    return F.softmax(q @ k.t(), dim=1)\n", [NOT_COPIED]),
        (OTHER_AXIS, [OTHER_AXIS]),
        ("def f(x, W):\n    for k in x:\n        q = k @ W\n    return torch.softmax(q @ x.T, dim=0)\n", []),
        (ONCE, [ONCE]),
        ("def f(:", []),
    ],
)
def test_a_mistake_is_in_the_code_if_all_that_it_changes_is_there(code: str, made: list[str]) -> None:
    every = [NOT_TURNED, NOT_COPIED, OTHER_AXIS, ONCE]
    assert [wrong for wrong in every if made_in(code, wrong, SOLUTION)] == made


def test_what_is_left_out_of_an_attribute_of_a_module_is_seen() -> None:
    """A method of an attribute takes the attribute, which is not so of a layer."""
    solution = "class M:\n    def f(self, x, n):\n        return x.masked_fill(self.mask[:n, :n].bool(), 0)\n"
    whole = solution.replace("[:n, :n]", "")
    assert made_in(whole, whole, solution)
    assert not made_in(solution, whole, solution)
