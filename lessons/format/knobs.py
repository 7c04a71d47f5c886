"""Knobs: what a learner may change in the code of a lesson, or in the literals of a program of their own.

`Knob` is what the loader, the linter, the screen and the commands ask of any kind. A new kind is a subclass of it, and
a member of the union `AnyKnob`.
"""

from __future__ import annotations

import abc
import ast
import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Protocol

from pydantic import BeforeValidator, Field, model_validator

from attn_tutor.lessons.format import sentence
from attn_tutor.lessons.format.fields import Model, Name, Number, OptionalCode, OptionalName, Slug, Text, Whole, is_text
from attn_tutor.lessons.texts.wording import Wording

say = Wording("change/knob")

Setting = int | float | str
"""A setting of a knob: a number, the words for a choice, a seed, or a sentence with a space between its words."""

Span = tuple[int, int]
"""Start and end of a piece of code, in characters."""

Problem = tuple[str, str, str]
"""A mistake of an author: the field of the knob that it is in, what is wrong, and what to do about it."""


class ChangeError(ValueError):
    """A change that cannot be made; the message is one sentence for people."""


class LessonCode(Protocol):
    """The parts of a lesson that knobs read."""

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words that label token axes."""
        ...

    @property
    def seed(self) -> int:
        """The seed of the lesson."""
        ...

    @property
    def seeds(self) -> Mapping[str, int]:
        """The seed that each part of the lesson starts with, by part: `setup` or the id of a step."""
        ...

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """All code that a knob may change, each piece with its part."""
        ...


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The effect of a setting on the parts of a lesson that its knob reaches.

    Attributes:
        code: the text in place of every span of the knob.
        tokens: the words of the lesson in place of its own; None to keep these.
        seed: the seed of these parts in place of their own; None to keep these.
    """

    code: str = ""
    tokens: tuple[str, ...] | None = None
    seed: int | None = None


class Knob(Model, abc.ABC):
    """Something in the code of a lesson that a learner may change.

    A knob replaces text in the code of a lesson, so that the changed code can be shown. At its initial setting it
    changes nothing.

    Attributes:
        can_turn: whether the arrow keys change it.
        is_endless: whether it has more settings than can be tried one by one.
        replaced_in: the field of the lesson file that holds the text it writes.
    """

    can_turn: ClassVar[bool] = True
    is_endless: ClassVar[bool] = False
    replaced_in: ClassVar[str] = "kind"

    name: Slug
    """Its name on the command line."""
    label: Text
    """What learners read in the panel."""
    within: Annotated[tuple[OptionalName, ...], Field(alias="in")] = ()
    """The ids of the steps in whose code it replaces text, or `setup`. Left out: in all code."""
    kind: OptionalName
    """What it replaces: a number, a choice between pieces of code, the seed, or the words of the lesson."""

    @property
    def unit(self) -> str:
        """The unit of its limits, "" if they have none."""
        return ""

    @property
    def caution(self) -> str:
        """What a learner should know while it is changed, "" if there is nothing."""
        return ""

    # Settings -----------------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def initial(self, lesson: LessonCode) -> Setting | None:
        """Return the setting that the lesson's own code has; None if it has several."""

    @abc.abstractmethod
    def read(self, value: Setting) -> Setting:
        """Convert a value, which may be typed text, to a setting of this knob. Raises `ChangeError`."""

    def turn(self, lesson: LessonCode, current: Setting | None, by: int) -> Setting | None:
        """Return the setting `by` steps after the current one, or the last one; None if the knob cannot turn."""
        return None

    def say(self, setting: Setting) -> str:
        """Return what learners read for a setting."""
        return str(setting)

    @property
    @abc.abstractmethod
    def samples(self) -> tuple[Setting, ...]:
        """The settings that are worth testing."""

    @property
    def choices(self) -> tuple[Setting, ...]:
        """All settings, if the lesson lists them; else none."""
        return ()

    @property
    @abc.abstractmethod
    def accepts(self) -> str:
        """A few words that say what a learner may enter."""

    @abc.abstractmethod
    def limits(self) -> dict[str, Any]:
        """Return the possible settings as JSON: `values`, or `least` and `most`."""

    # Code ---------------------------------------------------------------------------------------------------------

    def reaches(self, part: str) -> bool:
        """Return whether the knob may change a part of the lesson, `setup` or a step."""
        return not self.within or part in self.within

    def spans(self, part: str, code: str) -> tuple[Span, ...]:
        """Find the pieces of the code of a part that the knob replaces."""
        return self.find_spans(code) if self.reaches(part) else ()

    def find_spans(self, code: str) -> tuple[Span, ...]:
        """Find the pieces of any code that the knob replaces."""
        return ()

    def changed_parts(self, lesson: LessonCode) -> tuple[str, ...]:
        """Return the parts of a lesson that the knob changes: `setup` or ids of steps."""
        return tuple(dict.fromkeys(part for part, code in lesson.texts if self.spans(part, code)))

    @abc.abstractmethod
    def rewrite(self, setting: Setting) -> Rewrite:
        """Return what a setting changes in the lesson."""

    # Mistakes of authors ------------------------------------------------------------------------------------------

    def problems(self, lesson: LessonCode, earlier: Sequence[Knob]) -> Iterator[Problem]:
        """Yield what is wrong with the fields of the knob, given the knobs before it in the lesson."""
        yield from ()

    @abc.abstractmethod
    def unused(self, where: str) -> Problem:
        """Describe a knob that changes nothing; `where` says in which parts, as in " of 'setup'"."""


def occurrences(text: str, code: str) -> tuple[Span, ...]:
    """Find a text in code, from left to right without overlaps; an empty text occurs nowhere."""
    spans, start = [], code.find(text)
    while text and start >= 0:
        spans.append((start, start + len(text)))
        start = code.find(text, start + len(text))
    return tuple(spans)


def missing_text(field: str, text: str, where: str) -> Problem:
    """Describe that the text that a knob replaces is not in the code."""
    return field, f"the text '{text}' is nowhere in the code{where}", "Copy it from the code, spaces too."


def join_with_or(items: Iterable[object]) -> str:
    """Join alternatives for a sentence: `1, 2 or 3`."""
    *rest, last = map(str, items)
    return say("or", "{others} or {last}", others=", ".join(rest), last=last) if rest else last


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


MOST_SEED = 2**32 - 1


class SeedKnob(Knob):
    """A seed from 0 to 2**32 - 1, which replaces the seed of the lesson and of every step.

    With `in`, it replaces only the seeds of these steps (and, for `setup`, the seed of the setup).
    """

    is_endless: ClassVar[bool] = True

    kind: Literal["seed"]

    def initial(self, lesson: LessonCode) -> Setting | None:
        """Return the seed of the parts that the knob reaches; None if they have several."""
        seeds = {seed for part, seed in lesson.seeds.items() if self.reaches(part)}
        return seeds.pop() if len(seeds) == 1 else None

    def read(self, value: Setting) -> int:
        """Read a seed. Raises `ChangeError`."""
        number = parse_number(value)
        if type(number) is not int or not 0 <= number <= MOST_SEED:
            given = {"value": value, "most": MOST_SEED}
            raise ChangeError(
                say("no-seed", "'{value}' is not a seed. A seed is a whole number from 0 to {most}.", **given)
            )
        return number

    def turn(self, lesson: LessonCode, current: Setting | None, by: int) -> Setting:
        """Return the next seed; if the steps have several, the one after the seed of the lesson."""
        start = current if isinstance(current, int) else lesson.seed
        return max(0, min(start + by, MOST_SEED))

    @property
    def samples(self) -> tuple[Setting, ...]:
        """The least and the greatest seed that are possible."""
        return (0, MOST_SEED)

    @property
    def accepts(self) -> str:
        """The words for any integer; the greatest seed has too many digits to mention."""
        return say("seed-accepts", "a whole number")

    def limits(self) -> dict[str, Any]:
        """Return the least and the greatest seed as `least` and `most`."""
        return {"least": 0, "most": MOST_SEED}

    def changed_parts(self, lesson: LessonCode) -> tuple[str, ...]:
        """Return the parts that start with a seed and that the knob reaches."""
        return tuple(part for part in lesson.seeds if self.reaches(part))

    def rewrite(self, setting: Setting) -> Rewrite:
        """Return a rewrite with this seed."""
        return Rewrite(seed=self.read(setting))

    def unused(self, where: str) -> Problem:
        """Describe that no code runs in the parts that `in` names."""
        return "kind", f"there is no code{where} to seed", "Let 'in' name steps that run code."


class WordsKnob(Knob):
    """The learner's own sentence, which replaces the `tokens` of the lesson, and in its code the statement `inputs =
    torch.tensor(...)` by three toy numbers for each word.

    These are drawn from the letters of the word (`lessons.format.knobs.sentence`).
    """

    can_turn: ClassVar[bool] = False
    is_endless: ClassVar[bool] = True
    kind: Literal["words"]
    least: Annotated[Whole, Field(ge=1)] = 2
    """The least number of words."""
    most: Annotated[Whole, Field(le=64)] = 12
    """The greatest number of words."""

    @property
    def unit(self) -> str:
        """The unit of its limits."""
        return say("unit", "words")

    @property
    def caution(self) -> str:
        """A warning that the numbers of the words mean nothing."""
        return say("caution", "toy numbers, drawn from the letters: they mean nothing")

    def initial(self, lesson: LessonCode) -> Setting:
        """Return the words of the lesson."""
        return " ".join(lesson.tokens)

    def read(self, value: Setting) -> Setting:
        """Split a sentence into words and join these with spaces. Raises `ChangeError`."""
        try:
            return " ".join(sentence.split(str(value), self.least, self.most))
        except sentence.WordsError as error:
            raise ChangeError(str(error)) from None

    @property
    def samples(self) -> tuple[Setting, ...]:
        """A sentence of the least length and one of the greatest."""
        return tuple(" ".join(map(str, range(count))) for count in (self.least, self.most))

    @property
    def accepts(self) -> str:
        """The word for any sentence."""
        return say("words-accepts", "your words")

    def limits(self) -> dict[str, Any]:
        """Return the least and the greatest number of words as `least` and `most`."""
        return {"least": self.least, "most": self.most}

    def find_spans(self, code: str) -> tuple[Span, ...]:
        """Find the statements `inputs = torch.tensor(...)`, each with the comment behind it."""
        return _inputs_statements(code)

    def rewrite(self, setting: Setting) -> Rewrite:
        """Return the words, and the statement that makes `inputs` from them."""
        words = tuple(str(setting).split(" "))
        return Rewrite(sentence.statement(words), tokens=words)

    def problems(self, lesson: LessonCode, earlier: Sequence[Knob]) -> Iterator[Problem]:
        """Yield what is wrong with the reach of the knob and with its limits."""
        if self.within:
            yield "in", "words are the same in the whole lesson", "Leave out 'in'."
        if any(isinstance(other, WordsKnob) for other in earlier):
            yield "kind", "a second knob for words", "Keep one of them."
        if not self.least <= len(lesson.tokens) <= self.most:
            yield (
                "kind",
                f"the lesson's own {len(lesson.tokens)} tokens are not from {self.least} to {self.most}",
                "Let 'least' and 'most' allow them.",
            )

    def unused(self, where: str) -> Problem:
        """Describe that no code of the lesson defines `inputs`."""
        return (
            "kind",
            "no code has 'inputs = torch.tensor(...)', where this knob puts a row of numbers for each word",
            "Write it at the top level of some code, or leave the knob out.",
        )


@functools.lru_cache(64)
def _inputs_statements(code: str) -> tuple[Span, ...]:
    lines = code.split("\n")
    starts = [0, *itertools.accumulate(len(line) + 1 for line in lines)]
    spans = []
    for node in ast.parse(code).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="inputs")], value=ast.Call(func=ast.Attribute(attr="tensor"))):
                assert node.end_lineno is not None
                # Columns of the syntax tree count bytes.
                column = len(lines[node.lineno - 1].encode()[: node.col_offset].decode())
                spans.append((starts[node.lineno - 1] + column, starts[node.end_lineno] - 1))
    return tuple(spans)


TRUTH_VALUES = ("True", "False")


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
            found = next((word for word in TRUTH_VALUES if word.casefold() == str(value).strip().casefold()), None)
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
            return TRUTH_VALUES[current == TRUTH_VALUES[0]]
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
            return " / ".join(TRUTH_VALUES)
        return say("a-text", "a text") if isinstance(self.value, str) else say("a-number", "a number")

    def limits(self) -> dict[str, Any]:
        """Return the truth values; nothing else is limited."""
        return {"values": list(TRUTH_VALUES)} if isinstance(self.value, bool) else {}

    def find_spans(self, code: str) -> tuple[Span, ...]:
        """Return the characters of the literal."""
        return ((self.start, self.end),)

    def rewrite(self, setting: Setting) -> Rewrite:
        """Write the value as Python does."""
        return Rewrite(str(setting) if isinstance(self.value, bool) else repr(setting))

    def unused(self, where: str) -> Problem:
        """Describe a literal that is nowhere, which no source has."""
        return "value", f"the literal is nowhere in the code{where}", "Read the source again."


AnyKnob = Annotated[NumberKnob | ChoiceKnob | SeedKnob | WordsKnob, Field(discriminator="kind")]
