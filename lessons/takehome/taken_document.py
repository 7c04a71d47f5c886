"""The document that a learner takes home, as plain data: what each of its formats is written from."""

from __future__ import annotations

from dataclasses import dataclass, field

from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.play.step_document import Block


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
