"""Every text of a course that learners read has an id; the types of the fields say which texts these are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

import pytest

from attn_tutor.lessons.format.base_steps import Path
from attn_tutor.lessons.format.fields import IS_TEMPLATE, Model, ReadBy
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.format.text_walk import change_texts, in_lines, names_of_fields, texts_of, with_fields_of
from attn_tutor.lessons.reading import glossary
from tests.course import LESSONS
from tests.lessons.lesson_builders import code_step, lesson_of

assert glossary  # its models count as well


def all_models(model: type[Model] = Model) -> Iterator[type[Model]]:
    for child in model.__subclasses__():
        if child.__module__.startswith("lessons."):
            yield child
            yield from all_models(child)


def strings(annotation: Any, metadata: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield what is annotated to each `str` in a type."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        yield from strings(inner, (*metadata, *more))
    elif annotation is str:
        yield metadata
    elif "Literal" not in str(get_origin(annotation)):
        for part in get_args(annotation):
            yield from strings(part)


FIELDS = [
    pytest.param(field.annotation, tuple(field.metadata), id=f"{model.__name__}.{name}")
    for model in sorted(set(all_models()), key=lambda model: model.__name__)
    for name, field in model.model_fields.items()
]


@pytest.mark.parametrize(("annotation", "metadata"), FIELDS)
def test_every_string_says_who_reads_it(annotation: Any, metadata: tuple[Any, ...]) -> None:
    for found in strings(Annotated[annotation, None, *metadata]):
        readers = {item for item in found if isinstance(item, ReadBy)}
        assert len(readers) == 1, "write Text, Template, Name, Code or Expression in place of str"
        assert not (IS_TEMPLATE in found and readers != {ReadBy.LEARNERS})


def test_strings_are_found_in_any_type() -> None:
    tutor = Annotated[str, ReadBy.TUTOR]
    assert list(strings(dict[tutor, tuple[str, ...] | int])) == [(ReadBy.TUTOR,), ()]


def value_at(lesson: Lesson, step: int, path: Path) -> object:
    found: Any = lesson.steps[step]
    for part in path:
        found = found[part] if isinstance(part, int) else getattr(found, part)
    return found


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_all_texts_that_the_rules_of_writing_know_have_ids(lesson: Lesson) -> None:
    known = {text.text for text in texts_of(lesson, (lesson.id,))}
    for step in lesson.steps:
        texts = {in_lines(text.text) for text in step.learner_texts}
        assert {text for text in texts if any(map(str.isalpha, text))} <= known


TENSORS = [{"name": "x", "kind": "vector", "labels": {"index": ["one", "two"]}}]
SCALING = {"name": "scaling", "kind": "choice", "label": "Scaling", "options": {"by half": "/ 2", "none": "/ 1"}}


def small_lesson() -> Lesson:
    step = code_step("only", "x = torch.ones(2) / 2", *TENSORS, prose="Look at\n`{x[0]:.1f}`.\n\nAnd on.\n")
    return lesson_of(step, tokens=["a", "b"], knobs=[SCALING])


def test_ids_are_made_of_ids_and_names_and_else_of_positions() -> None:
    assert [(text.id, text.text, text.is_template) for text in texts_of(small_lesson(), ("made",))] == [
        ("made/title", "Made", False),
        ("made/goal", "To be tested.", False),
        ("made/tokens/0", "a", False),
        ("made/tokens/1", "b", False),
        ("made/knobs/scaling/label", "Scaling", False),
        ("made/knobs/scaling/words/by half", "by half", False),
        ("made/knobs/scaling/words/none", "none", False),
        ("made/only/title", "A step", False),
        ("made/only/prose", "Look at `{x[0]:.1f}`.\n\nAnd on.", True),
        ("made/only/show/x/labels/index/0", "one", False),
        ("made/only/show/x/labels/index/1", "two", False),
    ]


def test_changed_texts_leave_everything_else_as_it_was() -> None:
    before = small_lesson()
    after = change_texts(before, ("made",), lambda text, written: f"<{written}>")
    assert after.steps[0].prose == "<Look at\n`{x[0]:.1f}`.\n\nAnd on.\n>"
    assert after.knobs[0].label == "<Scaling>"
    assert [after.knobs[0].say(setting) for setting in after.knobs[0].choices] == ["<by half>", "<none>"]
    assert after.parts == before.parts
    assert after.knobs[0].read("<none>") == after.knobs[0].read("None") == "none"
    assert change_texts(before, (), lambda text, written: written) is before


def test_fields_of_a_template_are_compared_without_their_white_space() -> None:
    assert names_of_fields("{(a +\n  b):.2f} {c}") == {"(a + b):.2f", "c"}
    assert with_fields_of("{(a +\n  b):.2f} of {c}", "{{}} {c} {(a + b):.2f} {c}") == "{{}} {c} {(a +\n  b):.2f} {c}"
    assert with_fields_of("{a} of {c}", "{a}") is None
    assert with_fields_of("{a}", "{a:.1f}") is None
    assert with_fields_of("{a}", "{a} {") is None
    assert with_fields_of("{key:run} {a}", "{a} {key:run}") == "{a} {key:run}"
    assert with_fields_of("{key:run}", "{key:check}") is None
