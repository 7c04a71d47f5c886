"""YAML files that hold a model, and what pydantic says of their data as findings: where, what, and what to do."""

from __future__ import annotations

import difflib
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from attn_tutor.lessons.format.fields import Model
from attn_tutor.lessons.format.knobs import AnyKnob
from attn_tutor.lessons.format.lesson import LANGUAGE, Step
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.yaml_nodes import data_of, locate, parse, read, repeated_keys

FieldPath = tuple[int | str, ...]

LONGEST_SHOWN = 40
"""The most characters of a value that a finding quotes."""

AS_LIST = "Write it as [one, two], or each item on a line of its own after '- '."
AS_FIELDS = "Write each of them on a line of its own, as 'name: value'."
AS_TEXT = "Put it in quotes, or write it as a block after '|'."


def finding_of(root: yaml.Node, error: Any, model: type[BaseModel], within: FieldPath = ()) -> Finding:
    """Convert an error of pydantic to a finding.

    Args:
        root: the nodes of the file.
        error: the error.
        model: what was read.
        within: the path to it in the file.
    """
    path: FieldPath = error["loc"]
    # The kind of a step or knob is part of the path, but not of the file.
    in_file = path[:2] + path[3:] if path[:1] in (("steps",), ("knobs",)) else path
    key, node = locate(root, (*within, *in_file))
    name = str(path[-1]) if path else "file"
    kind, context = error["type"], error.get("ctx", {})
    mark, offset = node.start_mark, 0
    if kind in ("extra_forbidden", "missing"):
        mark = key.start_mark
    elif kind == "python" and isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        # The line within a block of code: the text of a block starts one line below its mark. Something missing at the
        # end is reported for the last line of the block.
        offset = min(context["line"], node.value.rstrip("\n").count("\n") + 1)
    problem, remedy = (
        _unknown(name, known_keys(model, path))
        if kind == "extra_forbidden"
        else _of_kind(kind, path, context) or _of_value(kind, path, context, error.get("input")) or _other(name, error)
    )
    return Finding(mark.name, mark.line + 1 + offset, 1 if offset else mark.column + 1, problem, remedy)


def root_causes(errors: Sequence[Any], model: type[BaseModel]) -> Iterator[Any]:
    """Yield the errors of pydantic that are no consequence of others.

    A list with invalid items is also reported as too short, and a field with a misspelled name also as missing: only
    what is said of the items and of the name helps.
    """
    paths: list[FieldPath] = [error["loc"] for error in errors]
    unknown = [error["loc"] for error in errors if error["type"] == "extra_forbidden"]
    meant = {(*path[:-1], _meant(str(path[-1]), known_keys(model, path))) for path in unknown}
    for error in errors:
        path: FieldPath = error["loc"]
        has_items = any(len(other) > len(path) and other[: len(path)] == path for other in paths)
        if not (error["type"] == "too_short" and has_items) and not (error["type"] == "missing" and path in meant):
            yield error


def _meant(name: str, known: list[str]) -> str:
    """Return the known name that an unknown one may be meant for, "" if none is like it."""
    return next(iter(difflib.get_close_matches(name, known, n=1)), "")


def _unknown(name: str, known: list[str]) -> tuple[str, str]:
    close = _meant(name, known)
    return f"'{name}' is not known here", f"Did you mean '{close}'?" if close else f"Known are: {', '.join(known)}."


def _of_kind(kind: str, path: FieldPath, context: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return what is wrong with a step or knob without a kind, or with one that there is not; None for other errors."""
    is_knob = path[:1] == ("knobs",)
    if kind == "union_tag_not_found":
        *rest, last = (f"'kind: {each}'" for each in kinds_of(AnyKnob if is_knob else Step))
        return f"the {'knob' if is_knob else 'step'} has no 'kind'", f"Add {', '.join(rest)} or {last}."
    if kind == "union_tag_invalid":
        problem = f"'{context.get('tag')}' is not a kind of {'knob' if is_knob else 'step'}"
        return problem, f"Use {context.get('expected_tags')}."
    return None


def _of_value(kind: str, path: FieldPath, context: Mapping[str, Any], value: object) -> tuple[str, str] | None:
    """Return what is wrong with a value, and the remedy; None for what has no words of its own."""
    # An item of a list goes by the name of the list.
    name = str(path[-2] if len(path) > 1 and isinstance(path[-1], int) else path[-1]) if path else "file"
    match kind:
        case "missing":
            return f"'{name}' is missing", f"Add '{name}: ...' here."
        case "string_type":
            return _no_text(name, value)
        case "string_too_short":
            return f"'{name}' is empty", "Write something there."
        case "string_pattern_mismatch" if context.get("pattern") == LANGUAGE:
            return f"'{value}' is not the code of a language", "Use one such as 'en' or 'pt_BR'."
        case "string_pattern_mismatch":
            return f"'{value}' is not an id", "Use small letters, digits and single hyphens, like 'all-queries'."
        case "literal_error":
            return f"'{value}' is not allowed for '{name}'", f"Use {context.get('expected')}."
        case "tuple_type":
            return f"'{name}' is not a list", AS_LIST
        case "dict_type" | "model_type" | "model_attributes_type":
            return _no_fields(path)
        case "too_short" | "too_long":
            least = kind == "too_short"
            bound = f"needs at least {context['min_length']}" if least else f"may have at most {context['max_length']}"
            has = f"'{name}' has {context['actual_length']} item{'' if context['actual_length'] == 1 else 's'}"
            return f"{has} and {bound}", "Add what is missing." if least else "Take some away."
        case "int_type" | "int_parsing" | "int_from_float":
            return f"'{name}' is {quoted(value)}, and not a whole number", "Give it a whole number."
        case "float_type" | "float_parsing" | "finite_number":
            return f"'{name}' is {quoted(value)}, and not a number", "Give it a number."
        case "bool_type" | "bool_parsing":
            return f"'{name}' is {quoted(value)}, and neither true nor false", "Write true or false."
        case "axis":
            return f"'{context['name']}' does not name an axis", context["remedy"]
        case "python":
            return f"'{name}' is not Python: {context['message']}", "Mend the code."
        case "value_error":
            return str(context["error"]), "Mend the text at this place."
    return None


def _no_text(name: str, value: object) -> tuple[str, str]:
    if value is None:
        return f"'{name}' is empty", "Write something after its colon."
    if isinstance(value, dict | list):
        return f"'{name}' is not a text", AS_TEXT
    what = "true or false" if isinstance(value, bool) else "a number or a date"
    return f"'{name}' is not a text: YAML takes {quoted(value)} for {what}", "Put it in quotes."


def _no_fields(path: FieldPath) -> tuple[str, str]:
    """Return what is wrong with something else where fields belong: an item of a list, or a field with fields."""
    if path and isinstance(path[-1], int):
        of = next((part for part in reversed(path) if isinstance(part, str)), "")
        return f"this item of '{of}' has no fields", AS_FIELDS
    return (f"'{path[-1]}' has no fields" if path else "the file has no fields"), AS_FIELDS


def _other(name: str, error: Any) -> tuple[str, str]:
    message = str(error["msg"])
    return f"'{name}': {message[0].lower()}{message[1:]}", f"Give '{name}' a value of the right form."


def quoted(value: object) -> str:
    """Return a value as a finding quotes it."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"'{text}'" if len(text) <= LONGEST_SHOWN else f"'{text[:LONGEST_SHOWN]}...'"


# Where an error is in the models -------------------------------------------------------------------------------------


def known_keys(model: type[BaseModel], path: FieldPath) -> list[str]:
    """Return the keys that are known at the end of a path in a model; the last part of the path is an unknown key."""
    current: Any = model
    for part in path[:-1]:
        current = _inside(current, part)
    current = _plain(current)
    if get_origin(current) in (Union, types.UnionType):
        # A field that may be left out.
        current = get_args(current)[0]
    fields = current.model_fields if isinstance(current, type) and issubclass(current, BaseModel) else {}
    return [field.alias or name for name, field in fields.items()]


def kinds_of(union: Any) -> dict[str, type[BaseModel]]:
    """Map each `kind` of a discriminated union to its model."""
    members: tuple[type[BaseModel], ...] = get_args(get_args(union)[0])
    return {get_args(member.model_fields["kind"].annotation)[0]: member for member in members}


def _plain(annotation: Any) -> Any:
    """Return a type without what is annotated to it."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def _inside(annotation: Any, part: int | str) -> Any:
    """Return the type of a part of a value: a field, an item of a list, or the member of a union of that kind."""
    annotation = _plain(annotation)
    inner = get_args(annotation)
    match get_origin(annotation):
        case origin if origin in (Union, types.UnionType):
            for member in inner:
                if isinstance(member, type) and issubclass(member, BaseModel) and _kind_of(member) == part:
                    return member
            return next((found for member in inner if (found := _inside(member, part)) is not None), None)
        case origin if origin is tuple:
            return inner[0]
        case origin if origin is dict:
            return inner[1]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields.items()
        return next((field.annotation for name, field in fields if part in (name, field.alias)), None)
    return None


def _kind_of(member: type[BaseModel]) -> str | None:
    """Return the `kind` that tells a model from others, None if it has none."""
    field = member.model_fields.get("kind")
    kinds = get_args(field.annotation) if field is not None and get_origin(field.annotation) is Literal else ()
    return kinds[0] if len(kinds) == 1 else None


M = TypeVar("M", bound=Model)

Prepare = Callable[[object, yaml.Node], None]
"""Changes the data of a file before it is checked, given its nodes too. It may raise `LessonError`."""


def read_model(file: Path, model: type[M], prepare: Prepare = lambda data, root: None) -> M:
    """Read a file into a model. Raises `LessonError` with all its findings."""
    root = parse(read(file), str(file))
    problems = list(repeated_keys(root, set()))
    data = data_of(root)
    prepare(data, root)
    try:
        contents = model.model_validate(data)
    except ValidationError as error:
        problems += (finding_of(root, item, model) for item in root_causes(error.errors(), model))
        raise LessonError(problems) from None
    if problems:
        raise LessonError(problems)
    return contents
