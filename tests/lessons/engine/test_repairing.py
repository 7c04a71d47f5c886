"""A wrong answer whose mistake is found by undoing it."""

from __future__ import annotations

from typing import Any

import pytest

from attn_tutor.lessons.engine import repairing
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.exercises import Variant
from attn_tutor.lessons.reading.repairs import Repair
from tests.exam.answer_exam import answers, exercise_of
from tests.lessons.lesson_builders import ATTENTION, DOUBLED, attention_exercise, doubling_exercise

TIMES = ATTENTION.replace("weights @ values", "weights * values")
COUNTED = "def double(x):\n    i, step = 0, 1\n    while i < 2:\n        i += step\n    return i * x\n"
"""An answer of which a part can be replaced so that it does not end."""

NEVER = {
    "id": "never",
    "name": "never made",
    "why": "It is not.",
    "edits": [{"find": "weights @ values", "replace": "weights @ values * 99"}],
}


def test_a_mistake_that_the_exercise_does_not_list_is_named_with_its_line(worker: Session) -> None:
    judgement = worker.check(attention_exercise(), TIMES, seed=1)
    [named] = judgement.mistakes
    assert (named.id, named.line, judgement.line) == ("place-by-place", 7, 7)
    assert "With a matrix product in `weights * values`, every check passes." in named.text


def test_an_exception_has_the_line_where_it_was_raised(worker: Session) -> None:
    source = ATTENTION.replace("queries @ keys.T", "(queries @ keys.T)[:, :2]")
    judgement = worker.check(attention_exercise(), source, seed=1)
    assert judgement.verdict == "error"
    [named] = judgement.mistakes
    assert (named.line, judgement.line) == (5, 7)


def test_an_accepted_answer_is_a_model_as_well(worker: Session) -> None:
    exercise = doubling_exercise()
    assert not worker.check(exercise, COUNTED.replace("i * x", "i - x"), seed=1).mistakes
    exercise = exercise.model_copy(update={"accepted": (Variant(name="counted", code=COUNTED),)})
    [named] = worker.check(exercise, COUNTED.replace("i * x", "i - x"), seed=1).mistakes
    assert (named.id, named.line) == ("operator", 5)


LOOPS = """\
import torch


def attention(q, k, v):
    rows, out = [], []
    for one in q:
        s = torch.stack([(one * other).sum() for other in k])
        w = torch.softmax(s * len(one) ** -0.5, dim=0)
        rows.append(w)
        out.append(torch.stack([part * row for part, row in zip(w, v)]).sum(dim=0))
    return torch.stack(rows), torch.stack(out)
"""
"""An answer in which no line is one of the model answer."""


@pytest.mark.parametrize(
    ("find", "replacement", "kind", "line"),
    [
        (".sum(dim=0)", ".mean(dim=0)", "other-function", 10),
        (".sum(dim=0)", ".sum(dim=1)", "axis", 10),
        ("part * row", "part + row", "operator", 10),
        ("        rows.append(w)", "        w = w.softmax(0)\n        rows.append(w)", "too-much", 9),
        ("rows), torch.stack(out)", "out), torch.stack(rows)", "order", 11),
        ("len(one) ** -0.5", "len(q) ** -0.5", "other-value", 8),
    ],
)
def test_an_answer_in_a_style_of_its_own_is_repaired(
    worker: Session, find: str, replacement: str, kind: str, line: int
) -> None:
    judgement = worker.check(attention_exercise(mistakes=[NEVER]), LOOPS.replace(find, replacement), seed=1)
    [named] = judgement.mistakes
    assert (named.id, named.line, judgement.line) == (kind, line, line)
    assert "every check passes" in named.text


def test_two_edits_that_only_help_together_are_two_mistakes_with_their_lines(worker: Session) -> None:
    source = LOOPS.replace(".sum(dim=0)", ".mean(dim=0)").replace("one * other", "one + other")
    judgement = worker.check(attention_exercise(mistakes=[NEVER]), source, seed=1)
    assert [(item.id, item.line) for item in judgement.mistakes] == [("operator", 7), ("other-function", 10)]
    assert all("every check passes once the other mistake is put right" in item.text for item in judgement.mistakes)


def test_three_mistakes_are_told_if_each_edit_comes_nearer(worker: Session) -> None:
    source = LOOPS.replace(".sum(dim=0)", ".mean(dim=0)").replace("one * other", "one + other")
    source = source.replace("rows), torch.stack(out)", "out), torch.stack(rows)")
    judgement = worker.check(attention_exercise(mistakes=[NEVER]), source, seed=1)
    assert sorted((item.id, item.line) for item in judgement.mistakes) == [
        ("operator", 7),
        ("order", 11),
        ("other-function", 10),
    ]
    assert all("every check passes once the other mistakes are put right" in item.text for item in judgement.mistakes)


def test_a_mistake_is_told_beside_one_that_no_edit_undoes(worker: Session) -> None:
    source = LOOPS.replace("torch.stack(out)", "torch.stack(out).sin().cos() / 7").replace("len(one) **", "len(q) **")
    judgement = worker.check(attention_exercise(mistakes=[NEVER]), source, seed=1)
    [named] = judgement.mistakes
    assert (named.id, named.line, judgement.line) == ("other-value", 8, 8)
    assert '"weights" passes, and something else is still wrong' in named.text


def test_a_mistake_is_told_without_which_an_answer_runs(worker: Session) -> None:
    squeezed = ATTENTION.replace("weights @ values", "(weights @ values).sin().cos() / 7")
    exercise = attention_exercise(mistakes=[NEVER])
    [named] = worker.check(exercise, squeezed.replace("keys.T", "keys"), seed=1).mistakes
    assert (named.id, named.line) == ("transpose-missing", 5)
    assert '"weights" passes, and something else is still wrong' in named.text
    # To leave out what fails is no way to put it right.
    failing = squeezed.replace("    context", "    scores = scores + torch.ones(99, 99)\n    context").replace(
        "dim=-1", "dim=0"
    )
    assert not worker.check(exercise, failing, seed=1).mistakes


def test_each_mistake_beside_one_that_no_edit_undoes_is_told_with_its_check(worker: Session) -> None:
    source = LOOPS.replace("torch.stack(out)", "torch.stack(out), torch.full((1,), 0.3).sin().cos() + 7")
    source = source.replace("len(one) **", "len(q) **").replace(".sum(dim=0)", ".mean(dim=0)")
    exercise = attention_exercise(mistakes=[NEVER])
    right = {"solution": f"{ATTENTION.rstrip()}, torch.zeros(1)\n", "probe": exercise.probe.replace("_ =", "_, zero =")}
    right["probe"] = right["probe"].replace("context_}", "context_, 'zero': zero}")
    zero = exercise.checks[0].model_copy(update={"name": "zero", "test": "close(got.zero, want.zero)"})
    exercise = exercise.model_copy(update={**right, "checks": (*exercise.checks, zero)})
    judgement = worker.check(exercise, source, seed=1)
    assert sorted((item.id, item.line) for item in judgement.mistakes) == [("other-function", 10), ("other-value", 8)]
    texts = " ".join(item.text for item in judgement.mistakes)
    assert texts.count("once the other mistakes named here are put right, and something else is still wrong") == 2
    assert '"weights" passes' in texts
    assert '"context" passes' in texts


def test_a_known_mistake_is_told_that_is_left_after_an_edit(worker: Session) -> None:
    source = LOOPS.replace("torch.stack(out)", "torch.stack(out).sin().cos() / 7").replace("len(one) **", "len(q) **")
    squeezed = NEVER | {"edits": [{"find": "weights @ values", "replace": "(weights @ values).sin().cos() / 7"}]}
    judgement = worker.check(attention_exercise(mistakes=[squeezed]), source, seed=1)
    assert [(item.id, item.line) for item in judgement.mistakes] == [("other-value", 8), ("never", None)]
    assert "your answer gives what the other mistake named here gives by itself" in judgement.mistakes[0].text


def test_no_known_mistake_is_left_where_an_edit_makes_no_check_pass(worker: Session) -> None:
    """Whatever is wrong with an answer, it gives what a mistake gives if it no longer uses what it has computed."""
    squeezed = ".sin().cos() / 7"
    source = LOOPS.replace("return torch.stack(rows)", f"x = torch.stack(rows){squeezed}\n    return x")
    source = source.replace("torch.stack(out)", f"torch.stack(out){squeezed}")
    wrong = f"return queries, (weights @ values){squeezed}"
    unused = NEVER | {"edits": [{"find": "return weights, context", "replace": wrong}]}
    assert not worker.check(attention_exercise(mistakes=[unused]), source, seed=1).mistakes


def test_code_that_fails_is_not_skipped_to_leave_a_mistake(worker: Session) -> None:
    """If nothing is assigned, the weights are those that the layers were made with; but the answer does assign."""
    found = next(item for item in answers("same-numbers") if item.name == "tensors assigned")
    judgement = worker.check(exercise_of("same-numbers"), found.code, 7)
    assert judgement.verdict == "error"
    assert {"opposite", "nothing-carried"}.isdisjoint(item.id for item in judgement.mistakes)


def test_each_of_two_known_mistakes_has_the_line_whose_edit_leaves_the_other(worker: Session) -> None:
    source = ATTENTION.replace("queries @ keys.T", "torch.mm(queries, keys.t())").replace(
        " / keys.shape[-1] ** 0.5", ""
    )
    source = source.replace("context = ", "pair = weights.T, ").replace("return weights, context", "return pair")
    transposed = {
        "id": "transposed",
        "name": "the weights turned round",
        "why": "Rows belong to queries.",
        "edits": [{"find": "return weights,", "replace": "return weights.T,"}],
    }
    exercise = attention_exercise()
    exercise = attention_exercise(mistakes=[exercise.mistakes[1].model_dump(), transposed])
    judgement = worker.check(exercise, source, seed=1)
    assert {item.id: item.line for item in judgement.mistakes} == {"no-scale": 5, "transposed": 7}


def test_a_mistake_that_no_edit_undoes_has_no_line_without_a_reason(worker: Session) -> None:
    source = LOOPS.replace("torch.stack(out)", "torch.stack(out).sin().cos() / 7")
    judgement = worker.check(attention_exercise(mistakes=[NEVER]), source, seed=1)
    assert (judgement.mistakes, judgement.line) == ((), None)


def test_a_copy_that_does_not_end_is_left_out(worker: Session) -> None:
    exercise = doubling_exercise().model_copy(update={"solution": COUNTED})
    wrong = COUNTED.replace("i += step", "i = i + step").replace("return i * x", "return i - x")
    [named] = worker.check(exercise, wrong, seed=1).mistakes
    assert (named.id, named.line) == ("operator", 5)


def test_copies_that_do_not_end_give_no_name(worker: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairing, "WALL", 0.3)
    exercise = doubling_exercise().model_copy(update={"solution": COUNTED})
    wrong = COUNTED.replace("i, step = 0, 1", "i, step = 0, -1").replace("while i < 2", "while i > -2")
    assert not worker.check(exercise, wrong, seed=1).mistakes


@pytest.mark.parametrize("source", ["import os\nos._exit(0)", "x = 1"])
def test_nothing_is_tried_for_a_program_that_does_not_give_numbers(
    worker: Session, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    def find(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(repairing, "find", find)
    assert not worker.check(doubling_exercise(), source, seed=1).passed


def test_a_proof_tries_no_repairs(worker: Session) -> None:
    assert not worker.check(attention_exercise(), TIMES, seed=1, diagnosis="mistakes").mistakes
    assert worker.check(doubling_exercise(), DOUBLED, seed=1).passed


def test_an_edit_that_only_makes_up_for_another_is_no_mistake() -> None:
    source = "size = k.shape[-1]\nscores = q @ k.T / size\nmask = ones(size, size)\n"
    index = Repair("index", "k.shape[-1]", (1,), None, False, "")
    assert repairing.makes_up(source, (index, Repair("other-value", "size", (2,), None, False, "")))
    extra = Repair("too-much", "….shape[-1]", (1,), None, False, "")
    assert repairing.makes_up(source, (extra, Repair("too-little", "size", (2,), None, False, "")))
    # Something more may be missing there, whatever the variable is.
    assert not repairing.makes_up(source, (index, Repair("too-little", "size", (2,), None, False, "")))
    assert not repairing.makes_up(source, (index, Repair("other-value", "0.5", (2,), None, False, "")))
