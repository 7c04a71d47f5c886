"""The tables of fields in the page for authors, made from the models.

`python -m attn_tutor.lessons.authoring.field_tables` writes them.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from attn_tutor.lessons.authoring.format_schema import help_of, summary_of
from attn_tutor.lessons.files import rewrite
from attn_tutor.lessons.format import fields
from attn_tutor.lessons.format.base_steps import BaseStep, Limits, Option, RunningStep, ShownTensor
from attn_tutor.lessons.format.exercises import (
    BaseExercise,
    Check,
    Edit,
    ExerciseStep,
    ExperimentStep,
    MessageCase,
    Mistake,
    Variant,
    Way,
)
from attn_tutor.lessons.format.fields import IS_TEMPLATE, Model
from attn_tutor.lessons.format.knobs import ChoiceKnob, Knob, NumberKnob, SeedKnob, WordsKnob
from attn_tutor.lessons.format.lesson import CourseFile, LessonFile
from attn_tutor.lessons.format.questions import BaseQuestion, Question, Wrong
from attn_tutor.lessons.format.steps import Curve, Level, ReadStep, RunStep, TrainStep
from attn_tutor.lessons.reading.folders import LESSONS
from attn_tutor.lessons.reading.glossary import Reference, Term

PAGE = LESSONS.resolve().parent / "docs" / "authoring.md"
BEGIN, END = "<!-- made by python -m attn_tutor.lessons.authoring.field_tables -->\n", "<!-- end of what is made -->\n"

TOOLS = LESSONS / "worker" / "jobs" / "exercise_tools.py"
"""The functions that the code of an exercise may call. They are read, not imported, since they bring PyTorch along."""

STATEMENTS = [get_args(text)[-1] for text in (fields.Code, fields.OptionalCode)]
EXPRESSIONS = [get_args(text)[-1] for text in (fields.Expression, fields.OptionalExpression)]
"""The validators of texts that have to be Python."""


def _kind(model: type[Model]) -> str:
    (kind,) = get_args(model.model_fields["kind"].annotation)
    return str(kind)


TABLES: tuple[tuple[str, type[Model], tuple[type[Model], ...]], ...] = (
    ("`course.yaml`", CourseFile, ()),
    ("`lesson.yaml`", LessonFile, ()),
    ("Every step", BaseStep, ()),
    ("Every step with code: `run`, `train`, questions and experiments", RunningStep, (BaseStep,)),
    ("A tensor under `show`, `reveal` or `watch`", ShownTensor, ()),
    ("`kind: read`", ReadStep, (BaseStep,)),
    ("`kind: run`", RunStep, (RunningStep,)),
    ("Every exercise, question and experiment", BaseExercise, (BaseStep,)),
    ("Every question", BaseQuestion, (BaseExercise, RunningStep)),
    *((f"`kind: {_kind(model)}`", model, (BaseQuestion,)) for model in get_args(Question)),
    ("An item of `options`", Option, ()),
    ("An item of `wrong`", Wrong, ()),
    ("`kind: exercise`", ExerciseStep, (BaseExercise,)),
    ("An item of `checks`", Check, ()),
    ("A case of `fail`", MessageCase, ()),
    ("An item of `mistakes`, there or in a file of the folder `mistakes`", Mistake, ()),
    ("An item of `edits`", Edit, ()),
    ("An item of `accepted` or `cheats`", Variant, ()),
    ("`kind: experiment`", ExperimentStep, (BaseExercise, RunningStep)),
    ("An item of `ways`", Way, ()),
    ("`kind: train`", TrainStep, (RunningStep,)),
    ("An item of `curves`", Curve, ()),
    ("`level`", Level, ()),
    ("`limits`", Limits, ()),
    ("Every item of `knobs`", Knob, ()),
    ("A knob of `kind: number`", NumberKnob, (Knob,)),
    ("A knob of `kind: choice`", ChoiceKnob, (Knob,)),
    ("A knob of `kind: seed`", SeedKnob, (Knob,)),
    ("A knob of `kind: words`", WordsKnob, (Knob,)),
    ("An item of `terms` in `glossary.yaml`", Term, ()),
    ("An item of `references` in `references.yaml`", Reference, ()),
)
"""The headings of the tables, what each is of, and the models whose fields stand in earlier ones."""


def page() -> str:
    """Return the tables as Markdown."""
    parts = [table(heading, model, without) for heading, model, without in TABLES]
    return "\n".join([*parts, tools_table()])


def table(heading: str, model: type[Model], without: tuple[type[Model], ...] = ()) -> str:
    """Return the table of the fields of a model, but for those that others have too."""
    helps = help_of(model)
    inherited = {name for other in without for name in other.model_fields}
    rows = []
    for name, field in model.model_fields.items():
        changed = any(str(other.model_fields[name]) != str(field) for other in without if name in other.model_fields)
        if name in inherited and not changed:
            continue
        if name == "kind" and get_origin(field.annotation) is Literal and len(get_args(field.annotation)) == 1:
            continue
        key = field.alias or name
        shown = f"**{key}**" if field.is_required() else key
        text = " ".join(helps[key].split("\n\n"))
        rows.append(f"| {shown} | {_value(Annotated[field.annotation, None, *field.metadata])} | {text} |")
    lines = [f"### {heading}", "", summary_of(model)]
    return "\n".join(
        [*lines, *(["", "| field | value | what it is for |", "| --- | --- | --- |"] if rows else []), *rows, ""]
    )


def _value(annotation: Any) -> str:
    """Return what may stand in a field, in a few words."""
    metadata: list[Any] = []
    while get_origin(annotation) is Annotated:
        annotation, *more = get_args(annotation)
        metadata += more
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inside)
    if origin in (Union, types.UnionType):
        return _value(next(each for each in inside if each is not type(None)))
    if origin is tuple:
        return _list_of(inside[0])
    if origin is dict:
        return "names with values"
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return "fields"
    if annotation in (int, float, bool):
        return {int: "whole number", float: "number", bool: "`true` or `false`"}[annotation]
    return _text(metadata)


def _list_of(item: Any) -> str:
    """Return what may stand in a list of these items."""
    inner = _value(item)
    return "list" if inner in ("fields", "list") or get_origin(item) in (Union, types.UnionType) else f"list: {inner}"


def _text(metadata: list[Any]) -> str:
    """Return what kind of text a field has, by what its type carries."""
    if any(each in STATEMENTS for each in metadata):
        return "Python"
    if any(each in EXPRESSIONS for each in metadata):
        return "expression"
    if IS_TEMPLATE in metadata:
        return "text with `{...}`"
    return "id" if any("pattern='" in str(each) for each in metadata) else "text"


def tools_table() -> str:
    """Return the table of the functions that the code of an exercise may call besides torch."""
    tree = ast.parse(TOOLS.read_text(encoding="utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    rows = []
    for name in _names_of_tools(functions["tools"]):
        if (function := functions.get(name)) is not None:
            said = " ".join((ast.get_docstring(function) or "").split("\n\n")[0].split())
            arguments = ", ".join(argument.arg for argument in function.args.args)
            rows.append(f"| `{name}({arguments})` | {said} |")
    lines = ["### What the code of an exercise may call", ""]
    lines.append("`context`, `probe`, the tests of `checks` and the messages know `torch`, `nn`, `random`, and:")
    return "\n".join([*lines, "", "| function | what it does |", "| --- | --- |", *rows, ""])


def _names_of_tools(function: ast.FunctionDef) -> Iterator[str]:
    [returned] = (node.value for node in function.body if isinstance(node, ast.Return))
    assert isinstance(returned, ast.Dict)
    yield from (key.value for key in returned.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


def with_tables(text: str) -> str:
    """Return the text of the page with its tables as they are now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{page()}\n{END}{after}"


def main(file: Path = PAGE) -> int:
    """Write the tables into the page."""
    rewrite(file, with_tables(file.read_text(encoding="utf-8")).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
