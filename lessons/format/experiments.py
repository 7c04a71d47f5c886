"""Experiments: tasks that are solved by changing a run, and judged by what was changed and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.base_steps import Complaint, RunningStep
from attn_tutor.lessons.format.exercises import BaseExercise
from attn_tutor.lessons.format.fields import Model, Name, OptionalExpression, Slug, Template, Text
from attn_tutor.lessons.format.learner_texts import LearnerText


class Way(Model):
    """A way in which an experiment may go: right if it reaches the goal, else a known wrong turn."""

    id: Slug
    """Its id in the step."""
    name: Text
    """A few words for what was done: "the score was lowered"."""
    right: bool = False
    """Whether it reaches what the experiment asks for."""
    changed: tuple[Name, ...] = ()
    """The knobs and variables that may be changed: it is this way only if nothing else is. Left out: any."""
    when: Annotated[OptionalExpression, Field(alias="if")] = ""
    """An expression over the variables of the changed run that has to be true. A right way needs one."""
    why: Template
    """What happened and why, which the changed run fills in."""
    proof: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Changes that go this way, for lint: `NAME = VALUE` or `NAME[I,J] = VALUE`; a semicolon joins several."""


class ExperimentStep(BaseExercise, RunningStep):
    """A task that is solved by changing a run: by knobs, words, or numbers of its tensors.

    All texts but the task are filled in by the changed run.
    """

    noun: ClassVar[str] = "experiment"

    kind: Literal["experiment"]
    ways: Annotated[tuple[Way, ...], Field(min_length=1)]
    """What may happen. Every change runs the step again, and the first way that matches it and its effect decides."""
    otherwise: Template
    """What learners read if no way matches."""

    @property
    def templates(self) -> tuple[str, ...]:
        """The texts that every run fills in."""
        return (self.prose, *self.hints)

    @property
    def fields(self) -> tuple[template.Field, ...]:
        """Everything that a run fills in; only the fields of the task can be computed in every run."""
        texts = (self.why, self.otherwise, *(way.why for way in self.ways))
        needed = [*(field for text in texts for field in template.fields(text)), *map(self.condition, self.ways)]
        return (*super().fields, *(replace(field, optional=True) for field in dict.fromkeys(needed)))

    @staticmethod
    def condition(way: Way) -> template.Field:
        """Return the field that says whether the condition of a way holds."""
        return template.fact(f"bool({way.when or True})")

    def complaints(self) -> Iterator[Complaint]:
        """Yield what is wrong in the ways, and in the tensors that are shown."""
        yield from super().complaints()
        if not any(way.right for way in self.ways):
            yield ("ways",), "no way is right", "Give one of them 'right: true'."
        if not self.show:
            yield ("prose",), "an experiment shows nothing", "Add 'show': the learner watches its effect."
        ids = [way.id for way in self.ways]
        for number, way in enumerate(self.ways):
            if way.id in ids[:number]:
                yield ("ways", number, "id"), f"the id '{way.id}' is used by two ways", "Give one of them another id."
            if way.right and not way.when:
                yield ("ways", number), "a right way needs an effect", "Add 'if', which is true when it is reached."

    @property
    def learner_texts(self) -> tuple[LearnerText, ...]:
        """All texts that a learner reads here, in order: also what is said of each way."""
        names = (
            LearnerText(("ways", number, "name"), way.name, is_sentence=False) for number, way in enumerate(self.ways)
        )
        whys = (LearnerText(("ways", number, "why"), way.why) for number, way in enumerate(self.ways))
        return (*super().learner_texts, *names, *whys, LearnerText(("otherwise",), self.otherwise))
