"""The steps of a lesson that are read or run, and what a step shows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lessons import template
from lessons.fields import Code, Model, OptionalCode, OptionalExpression, Slug, Template, Text

Kind = Literal["score", "weight", "mask", "vector"]
"""What the numbers of a tensor are: it decides how they are coloured, not what they say."""

AxisName = Literal["batch", "head", "token", "query", "key", "dim", "head_dim", "index"]
"""What an axis of a tensor runs over. `token`, `query` and `key` are labelled with the words of the lesson."""


class Shown(Model):
    """One tensor that a step shows, as a matrix with labelled rows and columns.

    `expr` is the Python expression that gives it (default: the name itself). `axes` names every axis, outermost
    first; `labels` replaces the usual labels of an axis.
    """

    name: Text
    kind: Kind
    axes: tuple[AxisName, ...] = ()
    expr: OptionalExpression = ""
    labels: dict[AxisName, tuple[str, ...]] = {}

    @property
    def expression(self) -> str:
        """The Python expression whose value is shown."""
        return self.expr or self.name


class Limits(Model):
    """What a learner's program may use: processor seconds, wall seconds, memory in MiB."""

    cpu: Annotated[float, Field(gt=0, le=60)] = 5
    wall: Annotated[float, Field(gt=0, le=120)] = 20
    memory: Annotated[int, Field(ge=64, le=8192)] = 1024


class BaseStep(Model):
    """What every step has."""

    id: Slug
    title: Text
    prose: Template

    @property
    def templates(self) -> tuple[str, ...]:
        """All texts that are filled with values of the run."""
        return (self.prose,)

    @property
    def facts(self) -> tuple[str, ...]:
        """Expressions whose values the run gives beside those in the templates."""
        return ()

    @property
    def fields(self) -> tuple[template.Field, ...]:
        """All that a run fills in: the fields of the templates, then the facts."""
        found = [field for text in self.templates for field in template.fields(text)]
        return tuple(dict.fromkeys([*found, *map(template.fact, self.facts)]))


class ReadStep(BaseStep):
    """A piece of text. `source` (`module:Class`) shows the code of the `attention` package itself."""

    kind: Literal["read"]
    source: str = ""


class RunningStep(BaseStep):
    """A piece of text and code that runs live; `show` names the tensors to draw.

    `seed` seeds the generator right before the step (default: the lesson's seed). `varies` marks a step whose
    random numbers differ between processors for one seed (dropout), so that its recorded output is no reference.
    """

    code: OptionalCode = ""
    source: str = ""
    show: tuple[Shown, ...] = ()
    seed: int | None = None
    varies: bool = False

    @property
    def tensors(self) -> tuple[Shown, ...]:
        """All tensors that the run gives, in order."""
        return self.show


class RunStep(RunningStep):
    """A step whose code is the point of it."""

    kind: Literal["run"]
    code: Code
