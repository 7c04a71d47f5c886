"""A short form of the exam of the judge: of each exercise a right answer in another spelling, and a wrong one."""

from __future__ import annotations

import ast
import random

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.reading.repair_kinds import kind_texts
from tests.exam import variations
from tests.exam.answer_exam import Answer, answers, changed_lines, exercise_ids, exercise_of

SEED = 7


def chosen(name: str, *, right: bool) -> Answer:
    """Choose an answer to an exercise; a wrong one makes a known mistake if there is one."""
    found = [answer for answer in answers(name) if answer.right == right]
    named = [
        answer for answer in found if not kind_texts().keys() >= {id for ids in answer.names for id in ids.split("+")}
    ]
    return random.Random(name).choice(named or found)


@pytest.mark.parametrize("name", exercise_ids())
def test_a_right_answer_passes_in_another_spelling(worker: Session, name: str) -> None:
    answer = chosen(name, right=True)
    [(how, code)] = variations.of(answer.code, 1)
    judgement = worker.check(exercise_of(name), code, SEED, 1, diagnosis="none")
    assert judgement.passed, f"{answer.name}, {how}: {judgement.message}"


@pytest.mark.parametrize("name", exercise_ids())
def test_a_wrong_answer_fails_and_has_the_name_of_its_mistake(worker: Session, name: str) -> None:
    answer = chosen(name, right=False)
    judgement = worker.check(exercise_of(name), answer.code, SEED, diagnosis="mistakes")
    assert not judgement.passed, answer.name
    assert "+".join(item.id for item in judgement.mistakes) in answer.names, f"{answer.name}: {judgement.message}"


def test_every_exercise_has_enough_answers() -> None:
    for name in exercise_ids():
        found = list(answers(name))
        assert len({(answer.name, answer.right) for answer in found}) == len(found)
        assert sum(answer.right for answer in found) >= 10, name
        assert sum(not answer.right for answer in found) >= 15, name
        known = {mistake.id for mistake in exercise_of(name).mistakes} | kind_texts().keys()
        assert {part for answer in found for id in answer.names for part in id.split("+")} <= known, name


def test_variations_change_the_text_and_stay_python() -> None:
    code = "import torch\n\n\ndef f(x):\n    y = x @ x.T\n    return y.masked_fill(y > 0, 0.0).view(-1)\n"
    found = dict(variations.of(code, 8))
    assert len(found) > 2
    assert found == dict(variations.of(code, 8))
    for changed in found.values():
        ast.parse(changed)
        assert changed != code


def test_changed_lines_are_those_of_the_whole_statement() -> None:
    before = "def f(x):\n    y = g(\n        x,\n        1,\n    )\n    z = y\n    return z\n"
    assert changed_lines(before, before.replace("1,", "2,")) == (2, 3, 4, 5)
    assert changed_lines(before, before.replace("    z = y\n", "")) == (2, 3, 4, 5, 6)
