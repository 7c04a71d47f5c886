"""The schemas for editors accept what the reader accepts, refuse what it refuses, and help with every field."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from attn_tutor.lessons.authoring import format_schema
from attn_tutor.lessons.authoring.format_schema import FILES, schema_of
from attn_tutor.lessons.format.exercises import ExerciseStep, Mistake
from attn_tutor.lessons.format.fields import Model
from attn_tutor.lessons.format.knobs import ChoiceKnob
from attn_tutor.lessons.format.lesson import LessonFile, RunStep, ShownTensor
from attn_tutor.lessons.reading.folders import LESSONS
from tests import small_course

SCHEMAS = {kind: Draft7Validator(schema_of(kind)) for kind in FILES}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads the bare words on, off, yes and no as texts, as the YAML of today does, and our reader where it matters."""


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in found if not (tag.endswith(":bool") and letter in "oOyYnN")]
    for letter, found in _Loader.yaml_implicit_resolvers.items()
}


def kind_of(file: Path) -> str:
    if file.parent.name == "mistakes":
        return "mistakes"
    return file.stem if file.stem in FILES else "exercise"


def problems(kind: str, text: str) -> list[str]:
    return [error.message for error in SCHEMAS[kind].iter_errors(yaml.load(text, _Loader))]


def shipped() -> Iterator[Path]:
    for folder in ("course", "tensors", "mistakes"):
        yield from sorted((LESSONS / folder).glob("*.yaml"))
        yield from sorted((LESSONS / folder).glob("mistakes/*.yaml"))
        yield from sorted((LESSONS / folder).glob("[0-9]*/**/*.yaml"))


def test_files_that_ship_fit() -> None:
    files = [file for file in shipped() if file.name != "coverage.yaml"]
    assert len(files) > 100
    assert {kind_of(file) for file in files} == set(FILES)
    found = {file: problems(kind_of(file), file.read_text(encoding="utf-8")) for file in files}
    assert {file: wrong for file, wrong in found.items() if wrong} == {}


def test_a_schema_is_one() -> None:
    for validator in SCHEMAS.values():
        Draft7Validator.check_schema(validator.schema)


@pytest.mark.parametrize(
    ("kind", "file", "before", "after"),
    [
        ("course", "course.yaml", "id: rows", "id: Rows"),
        ("course", "course.yaml", "format: 1", "format: one"),
        ("lesson", "01-first-row/lesson.yaml", "title: The first row", "titel: The first row"),
        ("lesson", "01-first-row/lesson.yaml", "kind: run", "kind: runs"),
        ("lesson", "01-first-row/lesson.yaml", "kind: run\n    id", "id"),
        ("lesson", "01-first-row/lesson.yaml", "kind: vector", "kind: vektor"),
        ("lesson", "01-first-row/lesson.yaml", "    code: table", "    kode: table"),
        ("lesson", "01-first-row/lesson.yaml", "doubling.yaml", "doubling.yaml\n    id: more"),
        ("exercise", "01-first-row/exercises/doubling.yaml", "probe:", "prob:"),
        ("exercise", "01-first-row/exercises/doubling.yaml", "hints: [Multiply., By how much?", "hints: [Multiply."),
        ("exercise", "01-first-row/exercises/doubling.yaml", "fail: ", "fails: "),
        ("exercise", "01-first-row/exercises/doubling.yaml", "[squared]", "[{name: squared}]"),
        ("mistakes", "mistakes/rows.yaml", "why:", "what:"),
        ("glossary", "glossary.yaml", "means:", "is:"),
    ],
)
def test_what_does_not_fit_is_found(kind: str, file: str, before: str, after: str) -> None:
    text = small_course.FILES[file]
    assert before in text
    assert problems(kind, text) == []
    assert problems(kind, text.replace(before, after)) != []


def test_only_an_exercise_in_one_line_needs_no_probe() -> None:
    without = small_course.EXERCISE.partition("probe:")[0] + "mistakes: [squared]\n"
    assert len(problems("exercise", without)) == 2
    assert problems("exercise", without + "form: line\n") == []
    assert problems("exercise", without + 'form: line\nprobe: "got = {}"\n') != []


def test_every_field_has_help() -> None:
    found = {model.__name__: format_schema.help_of(model) for model in _described()}
    assert len(found) > 25
    for model in _described():
        helps = format_schema.help_of(model)
        assert {field.alias or name for name, field in model.model_fields.items()} == set(helps), model
        assert all(text.rstrip('`"')[-1] in ".?:}" for text in helps.values()), helps


def _described() -> list[Any]:
    names = {name for kind in FILES for name in schema_of(kind)["$defs"]}
    models = {model.__name__: model for model in format_schema.models_below(Model)}
    return [LessonFile, *(models[name] for name in sorted(names))]


def test_help_is_what_stands_below_a_field_or_above_what_it_replaces() -> None:
    assert format_schema.help_of(ShownTensor)["kind"].startswith("What the numbers mean")
    assert format_schema.help_of(RunStep)["kind"] == "A step that runs and shows code."
    assert format_schema.help_of(RunStep)["title"].startswith("A heading")
    assert "in" in format_schema.help_of(ChoiceKnob)
    assert "\n\n" in format_schema.help_of(ExerciseStep)["form"]
    assert set(schema_of("mistakes")["$defs"]["Mistake"]["properties"]) == set(format_schema.help_of(Mistake))
