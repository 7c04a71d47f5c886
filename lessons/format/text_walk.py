"""All texts of a part of a course that learners read, each with a stable id.

The types of the fields say which these are (`lessons.format.fields.ReadBy`), so a new field cannot be forgotten.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.fields import IS_TEMPLATE, Model, ReadBy

SEPARATOR = "/"
UNNAMED = frozenset({"steps", "terms", "references"})
"""Fields of which the ids say nothing, because their items have ids that tell them from all other fields."""

KEYS = ("id", "name")
"""The fields that tell the items of a list from each other, if the tutor reads them, in order of preference."""


@dataclass(frozen=True, slots=True)
class CourseText:
    """A text that learners read.

    Attributes:
        id: stable, and unique in the course: `causal-mask/scale/prose`.
        text: the text as the author wrote it, each paragraph in one line.
        is_template: whether it has fields that are filled in.
        plural: what it says of several things, if it says how many there are; else "".
    """

    id: str
    text: str
    is_template: bool = False
    plural: str = ""


M = TypeVar("M", bound=Model)
Change = Callable[[CourseText, str], str]
"""Returns what to show in place of a text, given the text with its id, and as the author wrote it."""


def texts_of(part: Model, prefix: Iterable[str]) -> list[CourseText]:
    """Return all texts of a part of a course, in the order of its fields; `prefix` begins their ids."""
    found: list[CourseText] = []

    def note(text: CourseText, written: str) -> str:
        found.append(text)
        return written

    change_texts(part, prefix, note)
    return found


def change_texts(part: M, prefix: Iterable[str], change: Change) -> M:
    """Return a part of a course with each of its texts replaced by what `change` returns for it."""
    update = {}
    prefix = tuple(prefix)
    for name, field in type(part).model_fields.items():
        before = getattr(part, name)
        inner = prefix if name in UNNAMED else (*prefix, field.alias or name)
        after = _changed(before, Annotated[field.annotation, None, *field.metadata], inner, change)
        if after is not before:
            update[name] = after
    return part.model_copy(update=update) if update else part


def key_of(part: Model) -> str:
    """Return what tells a part of a course from others in its list, "" if it has nothing but its position."""
    own = getattr(part, "text_key", "")
    if own:
        return str(own)
    for name in KEYS:
        field = type(part).model_fields.get(name)
        if field is not None and ReadBy.TUTOR in field.metadata:
            return str(getattr(part, name))
    return ""


def in_lines(text: str) -> str:
    """Return a text with each paragraph in one line, since where the lines of an author end does not matter."""
    return "\n\n".join(" ".join(block.split()) for block in text.strip().split("\n\n") if block.strip())


def _changed(value: Any, annotation: Any, path: tuple[str, ...], change: Change) -> Any:
    """Return a value of a field with its texts changed; the same object if none of them is."""
    if isinstance(value, Model):
        return change_texts(value, path, change)
    inner, metadata = _member(annotation, type(value))
    if isinstance(value, str):
        # Numbers are the same in all languages.
        if ReadBy.LEARNERS in metadata and any(map(str.isalpha, value)):
            after = change(CourseText(SEPARATOR.join(path), in_lines(value), IS_TEMPLATE in metadata), value)
            return value if after == value else after
    elif isinstance(value, tuple):
        of_items = get_args(inner)[0]
        items = [
            _changed(item, of_items, (*path, _name_of_item(item, position)), change)
            for position, item in enumerate(value)
        ]
        return tuple(items) if any(new is not old for new, old in zip(items, value, strict=True)) else value
    elif isinstance(value, dict):
        of_values = get_args(inner)[1]
        changed = {key: _changed(item, of_values, (*path, str(key)), change) for key, item in value.items()}
        return changed if any(changed[key] is not value[key] for key in value) else value
    return value


def _name_of_item(item: Any, position: int) -> str:
    return (key_of(item) if isinstance(item, Model) else "") or str(position)


def _member(annotation: Any, kind: type) -> tuple[Any, list[Any]]:
    """Return the part of a type that values of a kind have, with what is annotated to it."""
    metadata: list[Any] = []
    while get_origin(annotation) is Annotated:
        annotation, *more = get_args(annotation)
        metadata += more
    if get_origin(annotation) in (Union, types.UnionType):
        for member in get_args(annotation):
            inner, more = _member(member, kind)
            if inner is kind or get_origin(inner) is kind:
                return inner, metadata + more
    return annotation, metadata


# Fields --------------------------------------------------------------------------------------------------------------


def names_of_fields(text: str) -> set[str]:
    """Return what stands between the braces of a template, regardless of white space. Raises `TemplateError`."""
    return {_plain(piece.key) for piece in template.placeholders(text)}


def with_fields_of(original: str, translated: str) -> str | None:
    """Return a translated template with its fields exactly as the original has them; None if they are not the same.

    A translation may give the fields in another order, or one of them twice.
    """
    try:
        keys = {_plain(piece.key): piece.key for piece in template.placeholders(original)}
        pieces = template.parse(translated)
    except template.TemplateError:
        return None
    found = {_plain(piece.key) for piece in pieces if not isinstance(piece, str)}
    if found != set(keys):
        return None
    return "".join(
        piece.replace("{", "{{").replace("}", "}}") if isinstance(piece, str) else f"{{{keys[_plain(piece.key)]}}}"
        for piece in pieces
    )


def _plain(key: str) -> str:
    return " ".join(key.split())
