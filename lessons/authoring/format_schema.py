"""JSON Schemas of the files of a course, made from the models, so that an editor completes and checks what is typed.

A schema accepts whatever the loader accepts, as far as a schema can tell: it knows no Python, and no other file. What
its fields are for is said by the docstrings that stand below them in the models. They are read from the source when an
author asks, so that opening the tutor does not wait for it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, TypeAdapter

from attn_tutor.lessons.format.base_steps import KNOWN_AXES
from attn_tutor.lessons.format.exercises import Mistake
from attn_tutor.lessons.format.fields import Model
from attn_tutor.lessons.format.knobs import AnyKnob
from attn_tutor.lessons.format.lesson import CourseFile, LessonFile, Step
from attn_tutor.lessons.reading.glossary import ReferencesFile, TermsFile


@functools.cache
def help_of(model: type[Model]) -> dict[str, str]:
    """Return what each field of a model is for, by the name that it has in a file; a model inherits help with a field.

    The field that tells the kinds of a model apart says what this kind is.
    """
    found: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if owner is not Model and issubclass(owner, Model):
            found |= _docstrings(owner)
    if "kind" in model.model_fields and "kind" not in _docstrings(model):
        found["kind"] = summary_of(model)
    named = {name: field.alias or name for name, field in model.model_fields.items()}
    return {named[name]: text for name, text in found.items() if name in named}


def summary_of(model: type[Model]) -> str:
    """Return what a model is: the first paragraph of its docstring."""
    return _in_line((inspect.getdoc(model) or "").split("\n\n")[0])


@functools.cache
def _docstrings(owner: type[Model]) -> dict[str, str]:
    """Return the docstrings below the fields that a class itself has, by the names that they have in the code."""
    [found] = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(found, ast.ClassDef)
    texts: dict[str, str] = {}
    for field, below in zip(found.body, found.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match below:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    texts[field.target.id] = "\n\n".join(map(_in_line, inspect.cleandoc(text).split("\n\n")))
    return texts


def _in_line(paragraph: str) -> str:
    return " ".join(paragraph.split())


Schema = dict[str, Any]

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The version of JSON Schema that all editors know."""

FILES: Mapping[str, Any] = {
    "course": CourseFile,
    "lesson": LessonFile,
    "exercise": Step,
    "mistakes": tuple[Mistake, ...],
    "glossary": TermsFile,
    "references": ReferencesFile,
}
"""What each kind of file contains, by the name that `attn-tutor schema` knows it by."""

INCLUDED = {
    "type": "string",
    "description": "A file of the lesson's folder with the step in it, such as `exercises/ID.yaml`. Nothing else is "
    "given beside it.",
}


def schema_of(kind: str) -> Schema:
    """Return the JSON Schema of a kind of file, one of `FILES`. Raises `KeyError`."""
    made = TypeAdapter(FILES[kind]).json_schema(by_alias=True)
    definitions: Schema = made.pop("$defs", {})
    models = {model.__name__: model for model in models_below(Model)}
    for name, definition in definitions.items():
        _describe(definition, models[name])
    contents = FILES[kind]
    if isinstance(contents, type) and issubclass(contents, Model):
        _describe(made, contents)
    elif contents is Step:
        made = _by_kind(Step)
    return {"$schema": DRAFT, **made, "$defs": definitions}


def models_below(base: type[Model]) -> Iterator[type[Model]]:
    """Yield all models that derive from one."""
    for model in base.__subclasses__():
        yield model
        yield from models_below(model)


def _describe(definition: Schema, model: type[Model]) -> None:
    """Add help to the schema of a model, and whatever else may stand in a file in place of what the model has."""
    definition["description"] = summary_of(model)
    definition.pop("title", None)
    helps = help_of(model)
    for name, field in definition["properties"].items():
        field.pop("title", None)
        if name == "axes":
            _suggest_axes(field)
        field["description"] = helps[name]
    if (also := ALSO.get(model.__name__)) is not None:
        also(definition, definition["properties"])


def _by_kind(union: Any) -> Schema:
    """Return a schema that tells the members of a union by their `kind`, so that a finding is about the one meant."""
    members: tuple[type[BaseModel], ...] = get_args(get_args(union)[0])
    kinds = {get_args(member.model_fields["kind"].annotation)[0]: member for member in members}
    return {
        "type": "object",
        "required": ["kind"],
        "properties": {
            "kind": {
                "description": "What a learner does here.",
                "anyOf": [
                    {"const": kind, "description": help_of(member)["kind"]}
                    for kind, member in kinds.items()
                    if issubclass(member, Model)
                ],
            }
        },
        "allOf": [
            {
                "if": {"required": ["kind"], "properties": {"kind": {"const": kind}}},
                "then": {"$ref": f"#/$defs/{member.__name__}"},
            }
            for kind, member in kinds.items()
        ],
    }


def _suggest_axes(field: Schema) -> None:
    """Have an editor offer the names of axes that have a meaning, besides words of an author's own."""
    lists = field if "items" in field else field["additionalProperties"]
    lists["items"] = {"anyOf": [{"enum": list(KNOWN_AXES)}, lists["items"]]}


# What a file may have in place of what a model has -------------------------------------------------------------------


def _one_or_more(field: Schema) -> Schema:
    """Accept a single item for a list of one."""
    return {"anyOf": [field["items"], field]}


def _in_lesson(definition: Schema, fields: Schema) -> None:
    step = _by_kind(Step)
    fields["steps"]["items"] = {
        "type": "object",
        "properties": {"include": INCLUDED},
        "if": {"required": ["include"]},
        "then": {"additionalProperties": False, "properties": {"include": INCLUDED}},
        "else": step,
    }
    fields["knobs"]["items"] = _by_kind(AnyKnob)


def _in_exercise(definition: Schema, fields: Schema) -> None:
    judged = ["probe", "checks"]
    definition["required"] = [name for name in definition["required"] if name not in judged]
    definition["if"] = {"not": {"required": ["form"], "properties": {"form": {"const": "line"}}}}
    definition["then"] = {"required": judged}
    definition["else"] = {"dependencies": {"probe": ["checks"], "checks": ["probe"]}}
    entry = {
        "type": "object",
        "required": ["id"],
        "additionalProperties": False,
        "properties": {name: {"$ref": f"#/$defs/Mistake/properties/{name}"} for name in help_of(Mistake)},
        "description": "A mistake of the library with fields of its own, or a whole one.",
    }
    known = {"type": "string", "description": "The id of a mistake in the library."}
    fields["mistakes"]["items"] = {"anyOf": [known, entry]}


def _in_mistake(definition: Schema, fields: Schema) -> None:
    fields["edits"]["items"] = _one_or_more(fields["edits"]["items"])


def _in_variant(definition: Schema, fields: Schema) -> None:
    help_text = fields["edits"].pop("description")
    fields["edits"] = {"description": help_text, **_one_or_more(fields["edits"])}


def _in_check(definition: Schema, fields: Schema) -> None:
    needs = fields["needs"]
    fields["needs"] = {"description": needs.pop("description"), **_one_or_more(needs)}
    cases = fields["fail"]
    fields["fail"] = {"description": cases.pop("description"), "anyOf": [{"type": "string", "minLength": 1}, cases]}


ALSO: Mapping[str, Callable[[Schema, Schema], None]] = {
    "LessonFile": _in_lesson,
    "ExerciseStep": _in_exercise,
    "Mistake": _in_mistake,
    "Variant": _in_variant,
    "Check": _in_check,
}
"""What the reader of a file accepts beyond a model, by the name of the model."""
