"""The kinds of steps that a lesson may have: those that are read or run, and the union of all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from attn_tutor.lessons.format.base_steps import (
    CodeRole,
    Complaint,
    FilledStep,
    Limits,
    Path,
    RunningStep,
    ShownTensor,
    tensor_complaints,
    with_paths,
)
from attn_tutor.lessons.format.exercises import ExerciseStep, ExperimentStep
from attn_tutor.lessons.format.fields import Code, Expression, Model, Name, Text
from attn_tutor.lessons.format.questions import Question


class ReadStep(FilledStep):
    """A piece of text."""

    is_text: ClassVar[bool] = True

    kind: Literal["read"]


class RunStep(RunningStep):
    """A step that runs and shows code."""

    shows_results: ClassVar[bool] = True
    shows_own_flow: ClassVar[bool] = True

    kind: Literal["run"]
    code: Code
    """Python that runs when the step is opened, after that of the setup and of the steps before it."""


class Level(Model):
    """A level to compare a curve with, drawn as a dotted line: what chance would give."""

    label: Text
    """The text beside the line."""
    expr: Expression
    """An expression for the level, evaluated for every snapshot."""


class Curve(Model):
    """A number that is plotted over a training."""

    name: Name
    """Its name, by which prose and code know it."""
    label: Text
    """The text above the curve."""
    expr: Expression
    """An expression for the number, evaluated for every snapshot."""
    level: Level | None = None
    """A level to compare it with."""

    @property
    def measured(self) -> tuple[tuple[str, str], ...]:
        """What a snapshot measures for this curve: names and expressions, the curve itself first."""
        own = ((self.name, self.expr),)
        return own if self.level is None else (*own, (self.level_name, self.level.expr))

    @property
    def level_name(self) -> str:
        """The name of the level among the numbers of a snapshot."""
        return f"{self.name} level"


class TrainStep(RunningStep):
    """A training that the learner starts, watches, pauses and looks back through."""

    kind: Literal["train"]
    code: Code
    """Code that runs in place of the training: it builds from `trained`, the trained state, what the loop would build.
    """
    training: Code
    """The loop. It calls `frame(done, total)` to take a snapshot: steps done, steps in all."""
    curves: Annotated[tuple[Curve, ...], Field(min_length=1)]
    """The numbers of a snapshot."""
    watch: tuple[ShownTensor, ...] = ()
    """The tensors of a snapshot."""
    keep: Expression
    """An expression for the trained state, a dict of tensors such as `model.state_dict()`."""
    limits: Limits = Limits()
    """What the training may take."""

    def complaints(self) -> Iterator[Complaint]:
        """Yield what is wrong in the training before it is run, and in what is shown of it."""
        yield from super().complaints()
        calls = (node for node in ast.walk(ast.parse(self.training)) if isinstance(node, ast.Call))
        if not any(isinstance(call.func, ast.Name) and call.func.id == "frame" for call in calls):
            yield ("training",), "the training takes no picture", "Call 'frame(done, total)' in its loop."
        names: set[str] = set()
        for number, curve in enumerate(self.curves):
            if curve.name in names:
                problem = f"'{curve.name}' is drawn twice in one step"
                yield ("curves", number, "name"), problem, "Give one of them another name."
            names.add(curve.name)
        yield from tensor_complaints(with_paths("watch", self.watch))

    @property
    def own_limits(self) -> Limits:
        """What the training may take."""
        return self.limits

    @property
    def own_code(self) -> tuple[tuple[CodeRole, str], ...]:
        """The code that a reader sees before doing anything: the training, and what runs in its place."""
        return (("training", self.training), ("trained", self.code))

    @property
    def expressions(self) -> list[tuple[Path, str]]:
        """All expressions that the run or the training evaluates for the step, each with its path in it."""
        found = super().expressions
        for number, curve in enumerate(self.curves):
            found.append((("curves", number, "expr"), curve.expr))
            if curve.level is not None:
                found.append((("curves", number, "level", "expr"), curve.level.expr))
        found += [(path, shown.expression) for path, shown in with_paths("watch", self.watch)]
        return [*found, (("keep",), self.keep)]

    @property
    def tensor_fields(self) -> dict[str, tuple[ShownTensor, ...]]:
        """All tensors that the step shows at any time, by the name of the field in the file."""
        return {**super().tensor_fields, "watch": self.watch}

    def own_data(self, trained: str | None) -> dict[str, object]:
        """Return what a document has of this kind of step alone."""
        return {"training": self.training, "trained": trained}

    @property
    def measured(self) -> tuple[tuple[str, str], ...]:
        """All numbers of a snapshot: names and expressions."""
        return tuple(each for curve in self.curves for each in curve.measured)

    @property
    def programs(self) -> tuple[tuple[str, str], ...]:
        """All code of the step that runs and that a knob may change: the name of the field, and the code."""
        return (("code", self.code), ("training", self.training))


Exercise = ExerciseStep | Question | ExperimentStep
"""A step that asks the learner to do something: write code, answer a question, or change what runs."""

Step = Annotated[ReadStep | RunStep | TrainStep | Exercise, Field(discriminator="kind")]
"""A step of any kind: what stands in a lesson file under `steps`, told by its `kind`."""
