"""Answers of kinds that once passed are refused, and what is said of cold answers is counted by what a reader said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.results.result import Judgement, NamedMistake
from tests.exam import cold_answers
from tests.exam.cold_answers import Answer, Marks, Totals

ONCE_PASSED = list(cold_answers.answers(cold_answers.FOLDER / "once_passed.yaml"))


@pytest.mark.parametrize("answer", ONCE_PASSED, ids=[f"{item.label} {item.step.exercise}" for item in ONCE_PASSED])
def test_an_answer_of_a_kind_that_once_passed_is_refused(worker: Session, answer: Answer) -> None:
    """Right answers that look like it still pass."""
    judgement = worker.check(answer.step, answer.code, cold_answers.SEED, diagnosis="none")
    assert judgement.passed is answer.right, judgement.message


def test_every_cold_answer_says_what_is_wrong_with_it() -> None:
    found = [answer for file in sorted(cold_answers.FOLDER.glob("*.yaml")) for answer in cold_answers.answers(file)]
    assert len({answer.label for answer in found}) == len(found) > 300
    for answer in found:
        assert answer.right is not bool(answer.mistakes)
        assert all(0 < line <= answer.code.count("\n") for line in answer.lines), answer.label


def named(*ids: str, line: int | None = 3) -> Judgement:
    mistakes = tuple(NamedMistake(each, f"the name of {each}", "Why.", line) for each in ids)
    return Judgement("some", "failed", "It is wrong.", line, mistakes=mistakes)


WRONG = replace(ONCE_PASSED[0], mistakes=(("one", (3,)), ("another", ())), true=("b+a",), general=("part",), fair=(5,))


@pytest.mark.parametrize(
    ("judgement", "name", "line"),
    [
        (named("a", "b"), "true", "right"),
        (named("part", line=5), "general", "right"),
        (named("a", line=4), "unread (a)", "wrong"),
        (named(line=None), "none", "none"),
        (replace(named("part"), mistakes=(NamedMistake("part", "", "Why.", 4),)), "none", "wrong"),
    ],
)
def test_a_verdict_is_worth_what_a_reader_said(judgement: Judgement, name: str, line: str) -> None:
    assert cold_answers.mark(WRONG, judgement) == Marks(False, name, line)


def test_totals_count_right_and_wrong_answers_apart() -> None:
    totals = Totals()
    for answer, marks in (
        (WRONG, Marks(False, "true", "right")),
        (WRONG, Marks(True, "none", "none")),
        (replace(WRONG, right=True), Marks(False, "none", "none")),
    ):
        totals.add(answer, marks)
    assert totals.text() == (
        "right answers: 1 refused\nwrong answers: 1 passed, 1 refused\nnames: 1 true\nlines: 1 right"
    )
