"""Every number of a lesson file is one: to Python, `true` is 1, and a model alone would take it for that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from attn_tutor.lessons.authoring import coverage, format_schema
from attn_tutor.lessons.format import knobs, lesson
from attn_tutor.lessons.format.fields import Model
from attn_tutor.lessons.reading import glossary, mistake_library

MODULES = (lesson, lesson, knobs, knobs, mistake_library, glossary, coverage, format_schema)
"""The modules that have the models, so that all of them are there."""
FILES = ("attn_tutor.lessons.format.", *(module.__name__ for module in MODULES))


def models(of: type[Model] = Model) -> Iterator[type[Model]]:
    for kind in of.__subclasses__():
        yield kind
        yield from models(kind)


def number_fields() -> list[tuple[type[Model], str, bool]]:
    """List the fields that are numbers, and whether they are whole ones, as the JSON Schema has them."""
    found = []
    # Other modules, which other tests import, make models of their own that no file has.
    for kind in {kind for kind in models() if kind.__module__.startswith(FILES)}:
        for name, about in kind.model_json_schema().get("properties", {}).items():
            types = {each.get("type") for each in about.get("anyOf", [about])}
            if types & {"integer", "number"} and types <= {"integer", "number", "null"}:
                found.append((kind, name, "number" not in types))
    return sorted(found, key=lambda item: (item[0].__name__, item[1]))


def complaints(kind: type[Model], field: str, value: Any) -> list[str]:
    try:
        kind.model_validate({field: value})
    except ValidationError as error:
        return [str(each["msg"]) for each in error.errors() if each["loc"] == (field,)]
    return []


def test_there_are_such_fields() -> None:
    names = {f"{kind.__name__}.{field}" for kind, field, _ in number_fields()}
    assert {"CourseFile.format", "Lesson.seed", "Limits.memory", "Limits.wall", "NumberKnob.step"} <= names


@pytest.mark.parametrize("value", [True, False, "x", float("nan"), float("inf"), [1], {}], ids=repr)
def test_what_is_no_number_is_refused(value: object) -> None:
    for kind, field, _ in number_fields():
        assert complaints(kind, field, value), (kind, field)


def test_fraction_is_no_whole_number() -> None:
    for kind, field, is_whole in number_fields():
        refused = [each for each in complaints(kind, field, 1.0) if "integer" in each]
        assert bool(refused) is is_whole, (kind, field)
