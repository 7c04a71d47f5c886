"""The document that a learner takes home, as plain data: what each of its formats is written from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import Tensor

CodeRole = Literal["setup", "step", "training", "source", "starter", "answer", "draft", "solution", "changes"]
"""What a piece of code is: code that the lesson runs, or text of the course, or the learner's own."""


@dataclass(frozen=True, slots=True)
class Prose:
    """A text in the markup of lesson prose, with all values filled in."""

    text: str


@dataclass(frozen=True, slots=True)
class Remark:
    """A plain sentence, without markup; an `alarm` says what went wrong."""

    text: str
    alarm: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """A piece of code, with the line above it, which may be empty."""

    text: str
    role: CodeRole
    title: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """What a program printed."""

    text: str


@dataclass(frozen=True, slots=True)
class Explained:
    """The explanation of one number of a matrix."""

    index: tuple[int, ...]
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Matrix:
    """A tensor as the learner saw it, with the explanations of some of its numbers."""

    tensor: Tensor
    explained: tuple[Explained, ...] = ()


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of a question: letters and texts in the markup of prose."""

    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the learner answered to a question, and whether that was right."""

    title: str
    text: str
    verdict: str
    passed: bool


Block = Prose | Remark | Code | Output | Matrix | Choices | Answer


@dataclass(frozen=True, slots=True)
class Section:
    """A step of a lesson.

    Attributes:
        step: the step; its code runs wherever the document runs.
        title: its heading.
        blocks: what it has to read, in order.
        was_read: whether the learner has read it; if not, later steps may still need what its code computes.
    """

    step: Step
    title: str
    blocks: tuple[Block, ...] = ()
    was_read: bool = True


@dataclass(frozen=True, slots=True)
class Chapter:
    """A lesson, with the steps of it up to the last one that the learner has read.

    `opening` is what stands before its first step: the goal, and the code that runs before all others.
    """

    lesson: Lesson
    title: str
    opening: tuple[Block, ...]
    sections: tuple[Section, ...]

    @property
    def read_sections(self) -> tuple[Section, ...]:
        """The steps that the learner has read."""
        return tuple(section for section in self.sections if section.was_read)


@dataclass(frozen=True, slots=True)
class Document:
    """The whole: a title, a line or two about it, and the lessons."""

    title: str
    about: str
    chapters: tuple[Chapter, ...] = field(default=())
