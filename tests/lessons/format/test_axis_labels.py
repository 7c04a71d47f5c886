"""Names and labels of the axes of a tensor that a step shows."""

from __future__ import annotations

from attn_tutor.lessons.format.axis_labels import names_and_labels
from attn_tutor.lessons.format.lesson import ShownTensor
from tests.lessons.lesson_builders import code_step, lesson_of


def test_an_axis_may_have_a_name_of_the_authors_own() -> None:
    shown = ShownTensor(name="x", kind="vector", axes=("week", "school_day"), labels={"week": ("first", "second")})
    names, labels = names_and_labels(lesson_of(code_step("one", "x = 1")), shown, (2, 3))
    assert names == ("week", "school_day")
    assert labels == (("first", "second"), ("school day 0", "school day 1", "school day 2"))


def test_places_on_an_axis_without_a_name_are_numbered() -> None:
    names, labels = names_and_labels(lesson_of(code_step("one", "x = 1")), ShownTensor(name="x", kind="vector"), (1, 2))
    assert names == ("index", "index")
    assert labels == (("0",), ("0", "1"))


def test_an_axis_of_size_1_is_not_the_first_of_several_labels() -> None:
    shown = ShownTensor(name="x", kind="vector", axes=("good", "shop"), labels={"good": ("apple", "bread")})
    _, labels = names_and_labels(lesson_of(code_step("one", "x = 1")), shown, (1, 2))
    assert labels == (("good 0",), ("shop 0", "shop 1"))
