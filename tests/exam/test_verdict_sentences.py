"""A short form of the exam of the sentences in verdicts, and proof that a false sentence is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.results.result import Judgement, NamedMistake
from tests.exam.verdict_sentences import TwoMistakes, answers_with_two_mistakes, false_sentences, take

LONG = 7
"""The largest line number of an answer that is examined here has fewer digits."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["scaled-attention", "causal-weights", "dropout-by-hand", "all-queries", "masked-mean", "cut-heads"]
)
def test_no_sentence_about_two_mistakes_is_false(worker: Session, name: str) -> None:
    for answer in answers_with_two_mistakes(name, 2):
        judgement, false = take(worker, answer)
        assert not judgement.passed
        assert false == [], answer.name


@pytest.fixture(scope="module")
def answer() -> TwoMistakes:
    return next(answers_with_two_mistakes("scaled-attention", 1))


def with_mistakes(*mistakes: NamedMistake) -> Callable[[Judgement], Judgement]:
    return lambda judgement: replace(judgement, mistakes=mistakes)


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (with_mistakes(NamedMistake("no-such", "x", "x")), "named no-such"),
        (with_mistakes(NamedMistake("axis", "x", "x", 10**LONG)), f"axis on line {10**LONG}"),
        (with_mistakes(NamedMistake("axis", "wrong axis", "Every check passes.")), "axis does not help"),
        (with_mistakes(*2 * [NamedMistake("axis", "wrong axis", "Both.")]), "the edits do not help"),
    ],
)
def test_a_false_sentence_is_found(
    worker: Session, answer: TwoMistakes, forge: Callable[[Judgement], Judgement], said: str
) -> None:
    forged = forge(Judgement(answer.exercise.exercise, "failed", "no"))
    assert any(item.startswith(said) for item in false_sentences(worker, answer, forged))


def test_a_false_difference_is_found(worker: Session, answer: TwoMistakes) -> None:
    code = answer.exercise.solution.replace("weights @ values", "weights @ values * 2")
    shown = worker.check(answer.exercise, code, 7).difference
    assert shown is not None
    forged = replace(shown, name="nowhere", line=1, expected=shown.yours, agreed=("nowhere",))
    assert false_sentences(worker, answer, Judgement("x", "failed", "no", difference=forged)) == [
        "nowhere does not differ",
        "nowhere is not on line 1",
        "nowhere agrees and differs",
        "nowhere is not as expected",
    ]
