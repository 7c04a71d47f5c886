"""Repairs of a wrong answer with pieces of a right one."""

from __future__ import annotations

import ast

import pytest

from attn_tutor.lessons.reading.repairs import Repair, choose, repairs

MODEL = """\
def f(x, k, v):
    scores = x @ k.T
    weights = torch.softmax(scores, dim=-1)
    for row in weights:
        out.append(row @ v)
    return torch.stack(out)
"""


def found(wrong: str, *models: str) -> list[Repair]:
    return [item for group in repairs(wrong, models or (MODEL,), 99) for item in group]


def kinds(wrong: str) -> set[tuple[str, tuple[int, ...]]]:
    return {(item.kind, item.lines) for item in found(wrong)}


def test_a_repair_has_the_learners_names_and_layout_in_its_code() -> None:
    wrong = MODEL.replace("scores", "s").replace("weights", "w").replace("v", "values").replace("dim=-1", "dim=0")
    [repair] = found(wrong)
    assert (repair.kind, repair.lines) == ("axis", (3,))
    assert repair.code == ast.unparse(ast.parse(wrong.replace("dim=0", "dim=-1")))
    assert repair.mistake().text.startswith("With a different axis in `torch.softmax(s, dim=0)`, every check passes.")


def test_the_model_that_an_answer_is_most_like_comes_first() -> None:
    other = "def f(x, k, v):\n    return torch.softmax(x @ k.T, dim=-1) @ v\n"
    assert found(other.replace("k.T", "k"), MODEL, other)[0].kind == "transpose-missing"


def test_a_statement_is_moved() -> None:
    assert ("return-in-loop", (6,)) in kinds(MODEL.replace("    return", "        return"))
    lines = MODEL.splitlines(keepends=True)
    assert ("statement-moved", (3,)) in kinds("".join([*lines[:1], lines[2], lines[1], *lines[3:]]))


def test_the_same_mistake_on_several_lines_is_one() -> None:
    wrong = "def f(a, b):\n    a = g(a, 1)\n    b = g(b, 1)\n    return a + b\n"
    several = next(item for item in found(wrong, wrong.replace("1", "2")) if len(item.lines) > 1)
    assert (several.kind, several.lines) == ("other-value", (2, 3))
    assert several.mistake().text.endswith("This is said of lines 2 and 3 together.")


def test_an_edit_that_computes_anew_what_may_be_wrong_is_no_repair() -> None:
    model = "def f(m):\n    return m / m.sum(dim=-1, keepdim=True)\n"
    wrong = "def f(m):\n    totals = m.sum(dim=0)\n    return m / totals\n"
    assert [item.lines for item in found(wrong, model)] == [(2,)]
    lines = "def f(m):\n", "    t = g(m)\n", "    t = m / m.sum()\n", "    return t\n"
    assert found("".join([*lines[:2], lines[3]]), "".join(lines)) == []


def test_what_a_module_has_counts_as_computed_before() -> None:
    model = "class M:\n    def forward(self, x):\n        n = len(x)\n        return f(x, torch.ones(n, n))\n"
    wrong = model.replace("torch.ones(n, n)", "self.mask[:n, :n]").replace("n = len(x)", "n = x.shape[0]")
    assert not any(item.lines == (4,) for item in found(wrong, model))
    assert ("expression", (4,)) in {(item.kind, item.lines) for item in found(wrong.replace("self.", ""), model)}


def test_that_the_only_line_is_wrong_says_nothing() -> None:
    assert found("def f(m):\n    return g(m) + 1\n", "def f(m):\n    return m / m.sum()\n") == []


def test_that_all_of_a_gap_is_wrong_says_nothing() -> None:
    model = "def f(m):\n    t = g(m)\n    x = t / t.sum()\n    return x\n"
    for wrong, said in (("h(t)", False), ("t / h(t)", True)):
        [[item]] = repairs(model.replace("t / t.sum()", wrong), [model], 9, gap=True)
        assert (item.kind, item.mistake().line) == ("expression", 3)
        assert bool(item.mistake().name and item.mistake().text) == said
    assert {item.kind for item in found(model.replace("t / t.sum()", "h(t)"), model)} == {"expression"}


def test_there_are_no_more_repairs_than_asked_for_and_none_of_what_is_not_python() -> None:
    wrong = MODEL.replace("k.T", "k").replace("dim=-1", "dim=0").replace("row @ v", "v @ row")
    assert len(found(wrong)) > 2
    assert sum(map(len, repairs(wrong, [MODEL], 2))) == 2
    assert repairs("def f(:", [MODEL], 9) == []
    assert repairs(MODEL, [MODEL], 9) == [[]]


def repair(statement: int | None, *, whole: bool = True) -> Repair:
    return Repair("axis", "", (1,), statement, whole, "")


@pytest.mark.parametrize(
    ("passing", "chosen"),
    [
        ([], None),
        ([repair(1)], repair(1)),
        ([repair(1), repair(2)], None),
        ([repair(1), repair(1, whole=False)], repair(1, whole=False)),
        ([repair(1, whole=False), repair(1, whole=False)], None),
        ([repair(1), repair(1, whole=False), repair(1, whole=False)], repair(1)),
        ([repair(None)], repair(None)),
        ([repair(None), repair(1)], repair(1)),
    ],
)
def test_the_least_edit_is_chosen_and_none_if_two_statements_could_be_to_blame(
    passing: list[Repair], chosen: Repair | None
) -> None:
    assert choose(passing) == chosen
