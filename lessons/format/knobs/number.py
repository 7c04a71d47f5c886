"""A knob for a number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

from attn_tutor.lessons.format.fields import Name, Number
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

say = Wording("change/number")

VALUE = "{value}"
DECIMALS = 9
"""Decimals to which a number is rounded when it is turned, so that steps of 0.1 stay exact on the screen."""


class NumberKnob(Knob):
    """A number in the code, from a list or from a range."""

    replaced_in: ClassVar[str] = "replace"

    kind: Literal["number"]
    find: Name
    """The text in the code that is replaced, such as `num_heads=2`."""
    replace: Name
    """The text that replaces it, with the number for `{value}`: `num_heads={value}`."""
    default: Number
    """The number that the code of the lesson has."""
    values: tuple[Number, ...] = ()
    """The numbers to choose from, in place of a range."""
    least: Number | None = None
    """The least number of a range."""
    most: Number | None = None
    """The greatest number of a range."""
    step: Number | None = None
    """How far an arrow key turns it in a range."""
    refused: tuple[Number, ...] = ()
    """The numbers of `values` that the code refuses with a message of its own, which is worth seeing."""

    def initial(self, lesson: LessonCode) -> Setting:
        """Return the default number."""
        return self.default

    def read(self, value: Setting) -> Setting:
        """Read a number that is listed or in the range. Raises `ChangeError`."""
        number = parse_number(value)
        if self.values:
            for candidate in self.values:
                if number == candidate:
                    return candidate
            raise ChangeError(
                say(
                    "not-listed",
                    "'{name}' cannot be {value}. It can be {values}.",
                    name=self.name,
                    value=value,
                    values=join_with_or(self.values),
                )
            )
        least, most, step = self._range
        whole = all(isinstance(item, int) for item in (least, most, step))
        if number is None or not least <= number <= most or (whole and number != int(number)):
            limits = {"name": self.name, "value": value, "least": least, "most": most}
            if whole:
                raise ChangeError(
                    say(
                        "beyond-whole-numbers",
                        "'{name}' cannot be {value}. It can be a whole number from {least} to {most}.",
                        **limits,
                    )
                )
            raise ChangeError(
                say("beyond", "'{name}' cannot be {value}. It can be a number from {least} to {most}.", **limits)
            )
        return int(number) if whole else number

    def turn(self, lesson: LessonCode, current: Setting | None, by: int) -> Setting:
        """Return the next number of the list, or the number one `step` further; never beyond the ends."""
        if self.values:
            position = self.values.index(current) if current in self.values else 0
            return self.values[max(0, min(position + by, len(self.values) - 1))]
        least, most, step = self._range
        number = float(current if isinstance(current, int | float) else self.default) + by * float(step)
        number = max(float(least), min(round(number, DECIMALS), float(most)))
        return int(number) if number.is_integer() else number

    @property
    def _range(self) -> tuple[Number, Number, Number]:
        assert self.least is not None
        assert self.most is not None
        assert self.step is not None
        return self.least, self.most, self.step

    @property
    def samples(self) -> tuple[Setting, ...]:
        """All listed numbers, or the ends of the range and the default."""
        ends = (self.least, self.default, self.most)
        return self.values or tuple(number for number in ends if number is not None)

    @property
    def choices(self) -> tuple[Setting, ...]:
        """The listed numbers; none if the knob has a range."""
        return self.values

    @property
    def accepts(self) -> str:
        """The listed numbers, or the range."""
        if self.values:
            return ", ".join(map(str, self.values))
        return say("accepts", "a number from {least} to {most}", least=self.least, most=self.most)

    def limits(self) -> dict[str, Any]:
        """Return the listed numbers as `values`, or the ends of the range as `least` and `most`."""
        return {"values": list(self.values)} if self.values else {"least": self.least, "most": self.most}

    def find_spans(self, code: str) -> tuple[Span, ...]:
        """Find the occurrences of the text `find`."""
        return occurrences(self.find, code)

    def rewrite(self, setting: Setting) -> Rewrite:
        """Write the number into `replace`."""
        return Rewrite(self.replace.replace(VALUE, repr(setting)))

    def problems(self, lesson: LessonCode, earlier: Sequence[Knob]) -> Iterator[Problem]:
        """Yield what is wrong with the text to write and with the values or the range."""
        if VALUE not in self.replace:
            yield "replace", f"there is no {VALUE} in it", f"Write {VALUE} where the number belongs."
        ends = (self.least, self.most, self.step)
        if bool(self.values) == any(end is not None for end in ends):
            yield "name", "its numbers are not told in one way", "Give either 'values' or 'least', 'most' and 'step'."
        elif self.values:
            if self.default not in self.values:
                yield "default", f"the default {self.default} is not among the values", "Add it, or choose another."
            for number in self.refused:
                if number not in self.values:
                    yield "refused", f"{number} is not among the values", "List values that the code refuses."
        elif self.least is None or self.most is None or self.step is None:
            yield "name", "a range needs 'least', 'most' and 'step'", "Add what is missing."
        elif not (self.least < self.most and self.step > 0):
            yield "least", "the range is empty", "Let 'least' be below 'most', and 'step' above 0."
        elif not self.least <= self.default <= self.most:
            yield "default", f"the default {self.default} is outside the range", "Choose one from 'least' to 'most'."

    def unused(self, where: str) -> Problem:
        """Describe that the code does not contain the text `find`."""
        return missing_text("find", self.find, where)


def parse_number(value: Setting) -> int | float | None:
    """Convert a number or a text to a number; None if it is not one, or not finite."""
    if isinstance(value, int | float):
        return value
    for kind in (int, float):
        try:
            number = kind(value)
        except ValueError:
            continue
        return number if math.isfinite(number) else None
    return None
