"""Known mistakes, made in a right answer: alone and two at once."""

from __future__ import annotations

import json

import pytest

from attn_tutor.lessons.format.exercises import Edit, Mistake, Variant
from attn_tutor.lessons.reading import mistake_edits
from attn_tutor.lessons.reading.mistake_edits import KnownMistake
from attn_tutor.lessons.worker import plain_codec
from tests.lessons.lesson_builders import ATTENTION, SQUARED, attention_exercise, doubling_exercise


def test_an_edit_changes_every_occurrence() -> None:
    assert mistake_edits.apply_edits("a b a", [("a", "c")]) == "c b c"


def test_edits_are_made_together_or_not_at_all() -> None:
    both = [("a", "c"), ("b", "d")]
    assert mistake_edits.apply_edits("a b", both) == "c d"
    assert mistake_edits.apply_edits("a", both) is None


def test_an_edit_that_changes_nothing_is_impossible() -> None:
    assert mistake_edits.apply_edits("a", [("a", "a")]) is None


def test_the_first_edits_that_fit_are_made() -> None:
    edits = [{"find": "x", "replace": "1"}, {"find": "y", "replace": "2"}, {"find": "z", "replace": "3"}]
    mistake = Mistake.model_validate({"id": "m", "name": "m", "why": "w", "edits": edits})
    assert KnownMistake.of(mistake).apply_to("y z") == "2 z"
    assert KnownMistake.of(mistake).apply_to("w") is None


def test_a_mistake_may_be_a_whole_answer() -> None:
    exercise = doubling_exercise()
    assert mistake_edits.with_mistake(exercise, exercise.mistakes[0]) == SQUARED


def test_two_mistakes_are_made_at_once() -> None:
    mistakes = [KnownMistake.of(mistake) for mistake in attention_exercise().mistakes]
    found = {
        (first.id, second.id): code for first, second, code in mistake_edits.with_two_mistakes(ATTENTION, mistakes)
    }
    assert [*found] == [("columns", "no-scale"), ("columns", "no-transpose"), ("no-scale", "no-transpose")]
    assert "softmax(scores, dim=0)" in found["columns", "no-scale"]


OVERLAPPING = [
    ([("a", "b")], [("b", "a"), ("c", "c")]),
    ([("a", "b")], [("a c", "d")]),
    # Nothing is subtracted any more where the other one subtracts the largest size.
    ([("a - max(c)", "a / max(c)")], [("max(c)", "max(abs(c))")]),
    ([("a - max(c)", "max(c) - a")], [("a - max", "a + max"), ("a", "b")]),
]


@pytest.mark.parametrize(("one", "other"), OVERLAPPING)
def test_mistakes_of_which_one_replaces_what_the_other_is_about_are_no_pair(
    one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    mistakes = [KnownMistake("one", (tuple(one),)), KnownMistake("other", (tuple(other),))]
    for solution in ("a c", "a - max(c)"):
        assert list(mistake_edits.with_two_mistakes(solution, mistakes)) == []


def test_a_pair_may_need_another_alternative_of_one_of_the_two() -> None:
    mistakes = [KnownMistake("one", ((("x", "y"),),)), KnownMistake("two", ((("x w", "z w"),), (("w", "v"),)))]
    assert [code for _, _, code in mistake_edits.with_two_mistakes("w x", mistakes)] == ["v y"]


def test_a_known_mistake_can_be_sent_to_the_judge() -> None:
    known_one = KnownMistake.of(attention_exercise().mistakes[0])
    assert plain_codec.decode(KnownMistake, json.loads(json.dumps(plain_codec.encode(known_one)))) == known_one


def test_a_variant_is_code_or_edits() -> None:
    exercise = attention_exercise()
    assert mistake_edits.variant_code(exercise, Variant(name="v", code="x = 1\n")) == "x = 1\n"
    renamed = Variant(name="v", edits=(Edit(find="scores", replace="s"),))
    assert mistake_edits.variant_code(exercise, renamed) == ATTENTION.replace("scores", "s")
    assert mistake_edits.variant_code(exercise, Variant(name="v", edits=(Edit(find="nowhere", replace="s"),))) is None
