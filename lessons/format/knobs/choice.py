"""A knob for a choice between pieces of code."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from attn_tutor.lessons.format.fields import Name, OptionalName, Text, is_text
from attn_tutor.lessons.format.knobs.knob import (
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
from attn_tutor.lessons.texts.wording import Wording

say = Wording("change/choice")


class ChoiceKnob(Knob):
    """A choice between pieces of code."""

    replaced_in: ClassVar[str] = "options"

    kind: Literal["choice"]
    options: Annotated[dict[Annotated[Name, BeforeValidator(is_text)], OptionalName], Field(min_length=2)]
    """The pieces of code by their names. The first piece is the one that the code of the lesson has."""
    words: dict[Name, Text] = {}
    """What learners read in place of these names. Left out: the names."""

    @model_validator(mode="before")
    @classmethod
    def _words_of_options(cls, data: Any) -> Any:
        """Let every option have words to be translated."""
        options = data.get("options") if isinstance(data, dict) else None
        if isinstance(options, dict) and "words" not in data:
            return {**data, "words": {option: option for option in options if isinstance(option, str)}}
        return data

    @property
    def find(self) -> str:
        """The piece of code that the lesson has."""
        return next(iter(self.options.values()))

    def initial(self, lesson: LessonCode) -> Setting:
        """Return the name of the first piece of code."""
        return next(iter(self.options))

    def read(self, value: Setting) -> Setting:
        """Read the name of a piece of code, or the words for it, ignoring case. Raises `ChangeError`."""
        given = str(value).strip().casefold()
        for option in self.options:
            if given in (option.casefold(), self.say(option).casefold()):
                return option
        known = join_with_or(map(self.say, self.options))
        raise ChangeError(
            say(
                "no-choice",
                "'{name}' cannot be '{value}'. It can be {known}.",
                value=value,
                name=self.name,
                known=known,
            )
        )

    def say(self, setting: Setting) -> str:
        """Return the words for a piece of code."""
        return self.words.get(str(setting), str(setting))

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
        """The names of the pieces of code, in order."""
        return tuple(self.options)

    @property
    def accepts(self) -> str:
        """The choices."""
        return " / ".join(map(self.say, self.options))

    def limits(self) -> dict[str, Any]:
        """Return the choices as `values`."""
        return {"values": list(self.options)}

    def find_spans(self, code: str) -> tuple[Span, ...]:
        """Find the first piece of code."""
        return occurrences(self.find, code)

    def rewrite(self, setting: Setting) -> Rewrite:
        """Return the piece of code of that name."""
        return Rewrite(self.options[str(setting)])

    def unused(self, where: str) -> Problem:
        """Describe that the code does not have the first piece of code."""
        return missing_text("options", self.find, where)
