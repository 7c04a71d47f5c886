"""A wrong answer whose mistake is found by undoing it."""

from __future__ import annotations

from lessons.engine.repairing import choose
from lessons.engine.session import Session
from lessons.reading.repairs import Repair
from tests.lessons.lesson_builders import ATTENTION, attention_exercise


def repair(kind: str, line: int) -> Repair:
    return Repair(kind, line, "")


def test_a_mistake_that_the_exercise_does_not_list_is_named_with_its_line(worker: Session) -> None:
    wrong = ATTENTION.replace("weights @ values", "weights * values")
    for code in (wrong, ATTENTION.replace("return weights, context", "return context, weights")):
        judgement = worker.check(attention_exercise(), code, seed=1)
        [named] = judgement.mistakes
        expected = ("returned-in-order", 8) if code is not wrong else ("times-for-product", 7)
        assert (named.id, named.line) == expected
        assert judgement.line == expected[1]


def test_a_proof_tries_no_repairs(worker: Session) -> None:
    wrong = ATTENTION.replace("weights @ values", "values @ weights")
    assert not worker.check(attention_exercise(), wrong, seed=1, diagnosis="mistakes").mistakes


def test_an_endless_copy_ends(worker: Session) -> None:
    code = ATTENTION.replace("    context =", "    i = 1\n    while i < 2:\n        i = i + 1\n    context =")
    assert not worker.check(attention_exercise(), code.replace("weights @ values", "weights @ values * 2 + 1")).mistakes


def test_the_repair_on_the_blamed_line_is_chosen() -> None:
    assert choose([repair("axis", 3), repair("operator", 5)], 5) == repair("operator", 5)


def test_of_two_kinds_on_a_line_none_is_chosen() -> None:
    assert choose([repair("axis", 3), repair("operator", 3)], 3) is None
    assert choose([repair("axis", 2), repair("axis", 3)], None) is None
    assert choose([], 3) is None


def test_what_leaves_code_out_is_chosen_before_what_makes_it_harmless() -> None:
    assert choose([repair("number", 3), repair("call-extra", 3)], 3) == repair("call-extra", 3)
