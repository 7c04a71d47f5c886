"""A knob for a literal in a program of one's own: a number, a truth value or a text at one position in the source."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from attn_tutor.lessons.format.fields import Name, OptionalCode, Whole
from attn_tutor.lessons.format.knobs.knob import ChangeError, Knob, LessonCode, Problem, Rewrite, Setting, Span
from attn_tutor.lessons.format.knobs.number import DECIMALS, parse_number
from attn_tutor.lessons.texts.wording import Wording

say = Wording("change/literal")

TRUTH = ("True", "False")


class LiteralKnob(Knob):
    """A literal: the characters from `start` to `end` of the source, which say `value`.

    No lesson file has such a knob: `lessons.what_if.literals` makes them from a source.

    Attributes:
        file: the file of the source, as people call it.
        near: the pages of the function, or of the functions of the class, that it is in.
        everywhere: whether all pages list it, not only those that are near.
        aside: whether it is a text that only names or describes something: an option, its help, what is printed.
    """

    replaced_in: ClassVar[str] = "value"

    kind: Literal["literal"]
    start: Whole
    end: Whole
    value: bool | int | float | OptionalCode
    file: OptionalCode = ""
    near: tuple[Name, ...] = ()
    everywhere: bool = True
    aside: bool = False

    @property
    def called(self) -> str:
        """What the code calls it, or what it is given to: the label without its line; "" if it has only that."""
        return self.label.rpartition(", ")[0]

    def initial(self, lesson: LessonCode) -> Setting:
        """Return what the source says."""
        return str(self.value) if isinstance(self.value, bool) else self.value

    def read(self, value: Setting) -> Setting:
        """Read a value of the same kind. Raises `ChangeError`."""
        if isinstance(self.value, bool):
            found = next((word for word in TRUTH if word.casefold() == str(value).strip().casefold()), None)
            if found is None:
                raise ChangeError(say("no-truth-value", "'{value}' is neither True nor False.", value=value))
            return found
        if isinstance(self.value, str):
            return str(value)
        number = parse_number(value)
        if number is None:
            raise ChangeError(say("no-number", "'{value}' is not a number.", value=value))
        # Where the source has a float, a whole number is one too: 1 / 2 and 1.0 / 2 are the same, 1 // 2 is not.
        return float(number) if isinstance(self.value, float) else number

    def turn(self, lesson: LessonCode, current: Setting | None, by: int) -> Setting | None:
        """Return the next whole number, the next value of the first digit, or the other truth value; None for texts."""
        if isinstance(self.value, bool):
            return TRUTH[current == TRUTH[0]]
        if isinstance(self.value, str) or not isinstance(current, int | float):
            return None
        if isinstance(current, int):
            return current + by
        size = math.floor(math.log10(abs(current))) if current and math.isfinite(current) else -1
        # From 0.01 down comes 0.009, not 0.
        smaller = abs(current) == 10.0**size and current * by < 0
        return round(current + by * 10.0 ** (size - smaller), max(DECIMALS, 2 - size))

    @property
    def samples(self) -> tuple[Setting, ...]:
        """None: any value may be worth a try."""
        return ()

    @property
    def accepts(self) -> str:
        """What may be entered."""
        if isinstance(self.value, bool):
            return " / ".join(TRUTH)
        return say("a-text", "a text") if isinstance(self.value, str) else say("a-number", "a number")

    def limits(self) -> dict[str, Any]:
        """Return the truth values; nothing else is limited."""
        return {"values": list(TRUTH)} if isinstance(self.value, bool) else {}

    def find_spans(self, code: str) -> tuple[Span, ...]:
        """Return the characters of the literal."""
        return ((self.start, self.end),)

    def rewrite(self, setting: Setting) -> Rewrite:
        """Write the value as Python does."""
        return Rewrite(str(setting) if isinstance(self.value, bool) else repr(setting))

    def unused(self, where: str) -> Problem:
        """Describe a literal that is nowhere, which no source has."""
        return "value", f"the literal is nowhere in the code{where}", "Read the source again."
