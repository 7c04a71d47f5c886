"""A knob for a choice between pieces of code."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from lessons.format.fields import Text, is_text
from lessons.format.knobs.knob import (
    ChangeError,
    Knob,
    LessonCode,
    Problem,
    Rewrite,
    Setting,
    Span,
    join_with_or,
    missing_text,
    occurrences,
)


class ChoiceKnob(Knob):
    """A choice between pieces of code, named by words. The first piece is in the code of the lesson."""

    replaced_in: ClassVar[str] = "options"

    kind: Literal["choice"]
    options: Annotated[dict[Annotated[Text, BeforeValidator(is_text)], str], Field(min_length=2)]

    @property
    def find(self) -> str:
        """The piece of code that the lesson has."""
        return next(iter(self.options.values()))

    def initial(self, lesson: LessonCode) -> Setting:
        """Return the words for the first piece of code."""
        return next(iter(self.options))

    def read(self, value: Setting) -> Setting:
        """Read the words for a piece of code, ignoring case. Raises `ChangeError`."""
        for option in self.options:
            if option.casefold() == str(value).strip().casefold():
                return option
        raise ChangeError(f"'{value}' is none of the choices of '{self.name}': {join_with_or(self.options)}.")

    def turn(self, lesson: LessonCode, current: Setting | None, by: int) -> Setting:
        """Return the next choice; the first one follows the last, so that either key turns a switch of two."""
        position = self.choices.index(current) if current in self.choices else 0
        return self.choices[(position + by) % len(self.choices)]

    @property
    def samples(self) -> tuple[Setting, ...]:
        """All choices."""
        return self.choices

    @property
    def choices(self) -> tuple[Setting, ...]:
        """The words for the pieces of code, in order."""
        return tuple(self.options)

    @property
    def accepts(self) -> str:
        """The choices."""
        return " / ".join(self.options)

    def limits(self) -> dict[str, Any]:
        """Return the choices as `values`."""
        return {"values": list(self.options)}

    def find_spans(self, code: str) -> tuple[Span, ...]:
        """Find the first piece of code."""
        return occurrences(self.find, code)

    def rewrite(self, setting: Setting) -> Rewrite:
        """Return the piece of code for the words."""
        return Rewrite(self.options[str(setting)])

    def unused(self, where: str) -> Problem:
        """Describe that the code does not have the first piece of code."""
        return missing_text("options", self.find, where)
