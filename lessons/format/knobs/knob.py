"""The base class of all knobs: what the loader, the linter, the screen and the commands ask of any kind.

A new kind is a subclass in a module of its own, and a member of the union in `lessons.format.knobs.kinds`.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol

from pydantic import Field

from attn_tutor.lessons.format.fields import Model, OptionalName, Slug, Text
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
