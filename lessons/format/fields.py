"""The types of the fields of a lesson file, and the base class of its models."""

from __future__ import annotations

import math
from enum import Enum
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
)
from pydantic_core import PydanticCustomError

from attn_tutor.lessons.format import template

CHECKED = object()
"""The context of a validation of what was validated before: code and templates are not parsed again."""


class ReadBy(Enum):
    """Who reads a text of a lesson file. Every type of a text carries one of them."""

    LEARNERS = "learners"
    """It is shown as it stands here or in translation, so no code may compare it with anything."""

    TUTOR = "the tutor"
    """It is code or a name, the same in all languages."""


DEEP = "it is nested too deeply"


def python_code(mode: Literal["exec", "eval"]) -> AfterValidator:
    """Return a validator for text that must be Python, statements or an expression; empty text is allowed."""

    def compiles(text: str, info: ValidationInfo) -> str:
        # An optional field may be missing; the types of required fields forbid it.
        if not text or info.context is CHECKED:
            return text
        source = text.strip() if mode == "eval" else text
        try:
            compile(source, "lesson", mode)
            deep = template.line_too_deep(source, mode)
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            what = {
                "message": getattr(error, "msg", str(error) or DEEP),
                "line": getattr(error, "lineno", None) or 1,
            }
            raise PydanticCustomError("python", "this is not Python: {message}", what) from None
        if deep is not None:
            raise PydanticCustomError("python", "this is not Python: {message}", {"message": DEEP, "line": deep})
        return text

    return AfterValidator(compiles)


def _template(text: str, info: ValidationInfo) -> str:
    if info.context is not CHECKED:
        template.parse(text)
    return text


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"'{value}' is not a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"'{value}' is not a number")
    return value


def _real(value: object) -> object:
    """Refuse a truth value, which is 0 or 1 to Python. Raises what a model raises for anything else."""
    if isinstance(value, bool):
        raise PydanticCustomError("float_type", "Input should be a valid number")
    return value


def _whole(value: object) -> object:
    """Refuse truth values and fractions, also whole ones. Raises what a model raises for anything else."""
    if isinstance(value, bool | float):
        raise PydanticCustomError("int_type", "Input should be a valid integer")
    return value


def is_text(value: object) -> object:
    """Refuse the words that YAML reads as truth values. Raises `ValueError`."""
    if isinstance(value, bool):
        raise ValueError("on, off, yes and no mean true and false in YAML: put quotes around them")
    return value


IS_TEMPLATE = AfterValidator(_template)
"""What the types of templates carry, and no others."""

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$"), ReadBy.TUTOR]
Alias = Annotated[str, StringConstraints(pattern=r"^([a-z0-9]+(-[a-z0-9]+)*/)?[a-z0-9]+(-[a-z0-9]+)*$"), ReadBy.TUTOR]
"""The id that a step had in its lesson, or in another one: `lesson/step`."""
Name = Annotated[str, StringConstraints(min_length=1), ReadBy.TUTOR]
OptionalName = Annotated[str, ReadBy.TUTOR]
Code = Annotated[Name, python_code("exec")]
Expression = Annotated[Name, python_code("eval")]
OptionalCode = Annotated[OptionalName, python_code("exec")]
OptionalExpression = Annotated[OptionalName, python_code("eval")]
Text = Annotated[str, StringConstraints(min_length=1), ReadBy.LEARNERS]
Template = Annotated[Text, IS_TEMPLATE]
OptionalTemplate = Annotated[str, IS_TEMPLATE, ReadBy.LEARNERS]
Number = Annotated[int | float, BeforeValidator(_number)]
Real = Annotated[float, BeforeValidator(_real), Field(allow_inf_nan=False)]
"""A number. What YAML takes for a text, such as `5e-05`, may be one."""
Whole = Annotated[int, BeforeValidator(_whole)]


_GIVEN: dict[frozenset[str], set[str]] = {}


class Model(BaseModel):
    """A part of a lesson file: unknown fields are errors, and nothing changes after it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=False)

    def model_post_init(self, _: object) -> None:
        """Share the set of the names that were given with all parts that were given the same ones.

        A course has thousands of parts, and their sets would take as much memory as its text. They never change.
        """
        given = self.__pydantic_fields_set__
        object.__setattr__(self, "__pydantic_fields_set__", _GIVEN.setdefault(frozenset(given), given))
